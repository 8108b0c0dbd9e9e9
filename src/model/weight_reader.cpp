// Weights as the kernels take them: rows put in order, quantized where the model says so.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "src/base/pulse.h"
#include "src/base/thread_pool.h"
#include "src/model/model.h"
#include "src/model/quantize.h"

namespace inlay {
namespace {

constexpr int64_t kRowsAtOnce = 16;           // of a thread that quantizes
constexpr int64_t kElementsAtOnce = 4 << 20;  // between two calls of progress

// Which row of a head of interleaved pairs is row `i` of two halves.
int64_t unpermuted_row(int64_t i, const ModelSpec& spec) {
  const int64_t half = spec.n_rot() / 2;
  return i < half ? 2 * i : i < 2 * half ? 2 * (i - half) + 1 : i;
}

// Copies the rows of every head from the order of interleaved pairs to that of two halves.
void unpermute_rows(const std::byte* from, std::byte* to, int64_t n_heads, const ModelSpec& spec, size_t bytes_per_row) {
  for (int64_t head = 0; head < n_heads; ++head) {
    for (int64_t i = 0; i < spec.d_head; ++i) {
      const int64_t source = unpermuted_row(i, spec);
      std::memcpy(to + static_cast<size_t>(head * spec.d_head + i) * bytes_per_row,
                  from + static_cast<size_t>(head * spec.d_head + source) * bytes_per_row, bytes_per_row);
    }
  }
}

// A vector has an element where a matrix has a row.
int64_t rows_of(const Weight& w) { return w.n_rows == 1 ? w.n_cols : w.n_rows; }
uint64_t stored_row_bytes(const Weight& w) {
  return row_bytes(w.file_dtype, static_cast<uint64_t>(w.n_rows == 1 ? 1 : w.n_cols));
}

void grow(std::vector<std::byte>& bytes, uint64_t n) {
  if (bytes.size() < n) bytes.resize(static_cast<size_t>(n));
}

}  // namespace

Result<const std::byte*> WeightReader::read(const Weight& weight, ThreadPool* pool, const ReadProgress& progress) {
  INLAY_ASSIGN(const std::byte* stored, read_stored(weight, pool));
  if (weight.file_dtype == weight.dtype) return stored;
  const uint64_t stored_row = stored_row_bytes(weight), row = weight.n_bytes() / static_cast<uint64_t>(weight.n_rows);
  grow(converted_, weight.n_bytes());
  const int64_t n_at_once = std::max<int64_t>(1, kElementsAtOnce / weight.n_cols);
  std::vector<ConversionLoss> losses(pool ? static_cast<size_t>(pool->size()) : 1);  // of each thread
  for (int64_t first = 0; first < weight.n_rows; first += n_at_once) {
    const int64_t n_rows = std::min(n_at_once, weight.n_rows - first);
    const auto convert_rows = [&](int64_t begin, int64_t end, int thread) {
      const auto at = static_cast<uint64_t>(first + begin);
      losses[static_cast<size_t>(thread)].add(convert(weight.file_dtype, stored + at * stored_row, weight.dtype,
                                                      (end - begin) * weight.n_cols, converted_.data() + at * row));
    };
    if (pool) {
      pool->parallel_for(n_rows, kRowsAtOnce, convert_rows);
    } else {
      convert_rows(0, n_rows, 0);
    }
    INLAY_TRY(Pulse::beat());
    if (progress && first + n_rows < weight.n_rows && !progress(static_cast<uint64_t>(first + n_rows) * row)) {
      return error(Code::cancelled, "loading was cancelled");
    }
  }
  ConversionLoss loss;
  for (const ConversionLoss& of_thread : losses) loss.add(of_thread);
  if (loss.is_too_much(weight.dtype)) return cannot_hold(weight.name, weight.dtype, loss);
  return converted_.data();
}

Status read_rows(const Checkpoint& checkpoint, const TensorEntry& tensor, int64_t first_row, uint64_t row_bytes,
                 std::span<std::byte> into, ThreadPool* pool) {
  const uint64_t first = row_bytes * static_cast<uint64_t>(first_row);
  if (!pool || !checkpoint.is_concurrent()) return checkpoint.read(tensor, first, into);
  std::atomic<bool> failed{false};
  pool->parallel_for(static_cast<int64_t>(into.size() / row_bytes), kRowsAtOnce, [&](int64_t begin, int64_t end, int) {
    const uint64_t at = row_bytes * static_cast<uint64_t>(begin);
    const uint64_t n = row_bytes * static_cast<uint64_t>(end - begin);
    if (!checkpoint.read(tensor, first + at, into.subspan(at, n)).ok()) failed = true;
  });
  return failed ? checkpoint.read(tensor, first, into) : Status{};  // once more, for its message
}

Result<const std::byte*> WeightReader::read_stored(const Weight& weight, ThreadPool* pool) {
  const TensorEntry& tensor = checkpoint_.tensors()[weight.tensor];
  const uint64_t row = stored_row_bytes(weight), n_bytes = row * static_cast<uint64_t>(rows_of(weight));
  const std::byte* bytes = checkpoint_.view(tensor);
  if (bytes) {
    bytes += row * static_cast<uint64_t>(weight.first_row);
  } else {
    grow(scratch_, n_bytes);
    INLAY_TRY(read_rows(checkpoint_, tensor, weight.first_row, row, std::span(scratch_).first(n_bytes), pool));
    bytes = scratch_.data();
  }
  if (!weight.unpermute) return bytes;
  grow(reordered_, row * static_cast<uint64_t>(rows_of(weight)));
  unpermute_rows(bytes, reordered_.data(), rows_of(weight) / model_.spec().d_head, model_.spec(), static_cast<size_t>(row));
  return reordered_.data();
}

Result<std::vector<float>> WeightReader::read_vector(const Weight& weight) {
  INLAY_ASSIGN(const std::byte* bytes, read(weight));
  std::vector<float> out(static_cast<size_t>(weight.n_cols));
  widen(weight.dtype, bytes, weight.n_cols, out.data());
  for (float& v : out) v += weight.added;
  return out;
}

Status WeightReader::read_range(const Weight& weight, uint64_t at, std::span<std::byte> into, ReadScratch& scratch) const {
  if (weight.file_dtype == weight.dtype) return read_stored_range(weight, at, into, scratch);
  const uint64_t row = weight.n_bytes() / static_cast<uint64_t>(weight.n_rows), stored_row = stored_row_bytes(weight);
  if (at % row != 0 || into.size() % row != 0) {
    return error(Code::invalid_argument, "%zu bytes at %llu of %s are not whole rows of %llu", into.size(),
                 static_cast<unsigned long long>(at), weight.name.c_str(), static_cast<unsigned long long>(row));
  }
  const uint64_t n_rows = into.size() / row;
  grow(scratch.rows, n_rows * stored_row);
  const std::span stored(scratch.rows.data(), static_cast<size_t>(n_rows * stored_row));
  INLAY_TRY(read_stored_range(weight, at / row * stored_row, stored, scratch));
  const ConversionLoss loss =
      convert(weight.file_dtype, stored.data(), weight.dtype, static_cast<int64_t>(n_rows) * weight.n_cols, into.data());
  if (loss.is_beyond() || (loss.largest > 1 && loss.is_too_much(weight.dtype))) return cannot_hold(weight.name, weight.dtype, loss);
  const Lock lock(mutex_);
  losses_[{static_cast<int64_t>(weight.tensor), weight.first_row}].add(loss);
  return {};
}

Status WeightReader::read_stored_range(const Weight& weight, uint64_t at, std::span<std::byte> into, ReadScratch& scratch) const {
  const TensorEntry& tensor = checkpoint_.tensors()[weight.tensor];
  const uint64_t row = stored_row_bytes(weight);
  const uint64_t n_bytes = row * static_cast<uint64_t>(rows_of(weight)), start = row * static_cast<uint64_t>(weight.first_row);
  if (at > n_bytes || into.size() > n_bytes - at) {
    return error(Code::invalid_argument, "%zu bytes at %llu are not part of %s", into.size(), static_cast<unsigned long long>(at),
                 weight.name.c_str());
  }
  if (!weight.unpermute || into.empty()) return checkpoint_.read(tensor, start + at, into);
  // The heads that the range touches, then from each row the part that lies in it.
  const ModelSpec& spec = model_.spec();
  const uint64_t head = row * static_cast<uint64_t>(spec.d_head), first = at / head * head;
  const uint64_t end = std::min((at + into.size() + head - 1) / head * head, n_bytes);
  grow(scratch.heads, end - first);
  INLAY_TRY(checkpoint_.read(tensor, start + first, std::span(scratch.heads).first(end - first)));
  for (uint64_t done = 0; done < into.size();) {
    const uint64_t place = at + done, in_head = place % head / row, in_row = place % row;
    const uint64_t n = std::min(row - in_row, into.size() - done);
    const auto source = static_cast<uint64_t>(unpermuted_row(static_cast<int64_t>(in_head), spec));
    std::memcpy(into.data() + done, scratch.heads.data() + (place / head * head - first) + source * row + in_row, n);
    done += n;
  }
  return {};
}

Status WeightReader::finish(const Weight& weight) const {
  const TensorEntry& tensor = checkpoint_.tensors()[weight.tensor];
  const uint64_t row = stored_row_bytes(weight);
  checkpoint_.discard(tensor, row * static_cast<uint64_t>(weight.first_row), row * static_cast<uint64_t>(rows_of(weight)));
  const Lock lock(mutex_);
  const auto loss = losses_.find({static_cast<int64_t>(weight.tensor), weight.first_row});
  return loss != losses_.end() && loss->second.is_too_much(weight.dtype) ? cannot_hold(weight.name, weight.dtype, loss->second) : Status{};
}

}  // namespace inlay
