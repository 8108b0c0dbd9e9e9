#include "src/backend/cuda/logit_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace inlay {

void LogitReader::forget(std::span<const LogitRow> rows) {
  for (const LogitRow& row : rows) forget(row.slot);
}

void LogitReader::forget(int32_t slot) {
  Entry& e = entry(slot);
  e.place = Entry::Place::device;
  e.has_mirror = false;
}

void LogitReader::mirror(std::span<const LogitRow> rows, StepBlock& step) {
  for (size_t i = 0; i < rows.size(); ++i) {
    Entry& e = entry(rows[i].slot);
    e.has_mirror = e.was_read;
    if (!e.has_mirror) continue;
    e.row[-1] = 0.0f;
    step.mirror(i, e.mapped);
  }
}

Status LogitReader::send(std::span<const LogitRow> rows, cudaStream_t stream) {
  for (const LogitRow& row : rows) {
    Entry& e = entry(row.slot);
    const bool was_read = std::exchange(e.was_read, false);
    if (std::exchange(e.has_mirror, false)) {
      e.place = Entry::Place::mirrored;
    } else if (was_read) {
      INLAY_TRY(send(e, row.slot, stream));
    }
  }
  return {};
}

Status LogitReader::send(Entry& e, int32_t slot, cudaStream_t stream) {
  INLAY_CUDA_TRY(cudaMemcpyAsync(e.row, slots_ + static_cast<size_t>(slot) * n_vocab_,
                                 n_vocab_ * sizeof(float), cudaMemcpyDeviceToHost, stream),
                 "reading logits");
  INLAY_CUDA_TRY(cudaEventRecord(e.arrived.get(), stream), "reading logits");
  e.place = Entry::Place::sent;
  return {};
}

Status LogitReader::take_memory(Entry& e) {
  INLAY_ASSIGN(e.arrived, make_event());
  INLAY_ASSIGN(PinnedBuffer memory,
               PinnedBuffer::allocate((kBefore + n_vocab_) * sizeof(float), "logits on their way to the host"));
  void* mapped = nullptr;
  INLAY_CUDA_TRY(cudaHostGetDevicePointer(&mapped, memory.data(), 0), "mapping logits");
  e.memory = std::move(memory);
  e.row = reinterpret_cast<float*>(e.memory.data()) + kBefore;
  e.mapped = static_cast<float*>(mapped) + kBefore;
  return {};
}

Result<Backend::Logits> LogitReader::read(int32_t slot, cudaStream_t stream) {
  Entry& e = entry(slot);
  if (e.memory.size() == 0) INLAY_TRY(take_memory(e));
  if (e.place == Entry::Place::device) INLAY_TRY(send(e, slot, stream));
  if (e.place == Entry::Place::sent) INLAY_TRY(wait_for(e.arrived.get(), "reading logits"));
  e.was_read = true;
  const std::span<const float> row(e.row, n_vocab_);
  const bool fine = e.place == Entry::Place::mirrored && e.row[-1] == 0.0f && std::ranges::any_of(row, [](float l) {
    return l > -std::numeric_limits<float>::infinity();  // mostly the first
  });
  return Backend::Logits{row, fine};
}

}  // namespace inlay
