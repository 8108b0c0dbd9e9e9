#include "src/backend/cuda/step_arrays.h"

#include <algorithm>
#include <cstring>

#include "src/backend/cuda/step_parts.h"

namespace inlay {
namespace {

constexpr uint64_t kArrayAlignment = 64;
uint64_t align_array(uint64_t n) { return (n + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment; }

struct Layout {
  StepArrays arrays{};
  uint64_t bytes = 0;

  template <class T>
  void place(T*& pointer, std::byte* base, int64_t n) {
    pointer = reinterpret_cast<T*>(base + bytes);
    bytes = align_array(bytes + static_cast<uint64_t>(n) * sizeof(T));
  }
};

// Lays the fixed part out from `base` (null: only sizes).
Layout lay_out_fixed(const BlockShape& shape, const StepLimits& limits, std::byte* base) {
  Layout out;
  StepArrays& a = out.arrays;
  out.place(a.tokens, base, shape.rows);
  out.place(a.positions, base, shape.rows);
  out.place(a.row_sequence, base, shape.rows);
  out.place(a.logit_rows, base, shape.logit_rows);
  out.place(a.logit_slots, base, shape.logit_rows);
  out.place(a.logit_mirrors, base, shape.logit_rows);
  out.place(a.samples, base, shape.logit_rows);
  out.place(a.block_tables, base, int64_t{limits.n_kv_groups} * shape.sequences * limits.max_blocks);
  out.place(a.prompt_tiles, base, max_prompt_tiles(shape.rows, shape.sequences));
  return out;
}

void fill_steps(const SamplerParams& p, const SamplerState& state, cuda::SampleRowParams& out) {
  out.general = 1;
  out.typical_p = p.typical_p;
  out.top_n_sigma = p.top_n_sigma;
  out.dynatemp_range = p.dynatemp_range;
  out.dynatemp_exponent = p.dynatemp_exponent;
  out.xtc_probability = p.xtc_probability;
  out.xtc_threshold = p.xtc_threshold;
  out.chooser = p.mirostat_tau > 0      ? cuda::Chooser::mirostat
                : p.adaptive_target > 0 ? cuda::Chooser::adaptive
                                        : cuda::Chooser::plain;
  out.mirostat_mu = mirostat_mu(p, state);
  out.adaptive_aim = adaptive_aim(p, state);
}

BlockShape largest(const StepLimits& l) {
  return {.rows = l.max_rows, .logit_rows = l.max_logit_rows, .sequences = l.max_sequences};
}

// The lists stand behind the largest fixed part, so that no shape moves them.
Layout lay_out(const StepLimits& l, const BlockShape& shape, std::byte* base) {
  Layout out = lay_out_fixed(shape, l, base);
  out.bytes = lay_out_fixed(largest(l), l, nullptr).bytes;
  out.place(out.arrays.bias_tokens, base, l.max_list);
  out.place(out.arrays.bias_values, base, l.max_list);
  out.place(out.arrays.count_tokens, base, l.max_list);
  out.place(out.arrays.count_values, base, l.max_list);
  return out;
}

}  // namespace

uint64_t StepBlock::bytes(const StepLimits& limits) { return lay_out(limits, largest(limits), nullptr).bytes; }

Result<StepBlock> StepBlock::allocate(const StepLimits& limits) {
  StepBlock block;
  block.limits_ = limits;
  block.single_rows_.reserve(static_cast<size_t>(limits.max_sequences));
  block.segments_.reserve(max_segments(limits.max_sequences, limits.max_rows, limits.min_singles));
  INLAY_ASSIGN(block.host_bytes_, PinnedBuffer::allocate(bytes(limits), "page-locked memory for a step"));
  INLAY_ASSIGN(block.device_bytes_, DeviceBuffer::allocate(bytes(limits), "device memory for a step"));
  block.arrange(largest(limits));
  return block;
}

void StepBlock::arrange(const BlockShape& shape) {
  if (shape == shape_) return;
  shape_ = shape;
  host_ = lay_out(limits_, shape, host_bytes_.data()).arrays;
  whole_ = lay_out(limits_, shape, device_bytes_.data()).arrays;
  fixed_bytes_ = lay_out_fixed(shape, limits_, nullptr).bytes;
  std::memset(host_bytes_.data(), 0,
              fixed_bytes_);  // what a step leaves of its block tables shall be block 0 or an older entry
}

Status StepBlock::fill(const StepBatch& batch, const BlockShape& shape, int32_t most_singles) {
  arrange(shape);
  device_ = whole_;
  const auto n_tokens = static_cast<int32_t>(batch.tokens.size());
  std::copy(batch.tokens.begin(), batch.tokens.end(), host_.tokens);
  std::copy(batch.positions.begin(), batch.positions.end(), host_.positions);
  for (size_t s = 0; s < batch.sequences.size(); ++s) {
    const SequenceSlice& slice = batch.sequences[s];
    std::fill_n(host_.row_sequence + slice.first_token, slice.n_tokens, static_cast<int32_t>(s));
  }
  fill_tables(batch);
  for (int32_t i = n_tokens; i < shape.rows; ++i) {
    host_.tokens[i] = host_.row_sequence[i] = 0;
    host_.positions[i] = -1;
  }
  cut_segments(batch, std::max(most_singles, limits_.min_singles), segments_);
  fill_tiles(batch);
  fill_logits(batch, shape.logit_rows);
  return fill_samples(batch, shape.logit_rows);
}

// Rows are counted within a segment. All prompts of a step are in one.
void StepBlock::fill_tiles(const StepBatch& batch) {
  n_tiles_ = n_prompt_tiles_ = cut_prompt_tiles(batch, host_.prompt_tiles);
  max_prompt_keys_ = 0;
  for (const SequenceSlice& slice : batch.sequences) {
    if (slice.n_tokens > 1) max_prompt_keys_ = std::max(max_prompt_keys_, batch.positions[static_cast<size_t>(slice.first_token + slice.n_tokens - 1)] + 1);
  }
  single_rows_.clear();
  if (segments_.empty()) return;
  const StepSegment& last = segments_.back();
  for (int32_t i = 0; i < n_tiles_; ++i) host_.prompt_tiles[i].first_row -= last.first_row;
  if (!last.decodes && !last.prefills) find_single_rows(batch, single_rows_);
}

void StepBlock::fill_logits(const StepBatch& batch, int32_t n_logit_rows) {
  for (int32_t i = 0; i < n_logit_rows; ++i) {
    host_.logit_rows[i] = host_.logit_slots[i] = -1;
    host_.logit_mirrors[i] = nullptr;
  }
  for (const StepSegment& segment : segments_) {
    for (int32_t i = segment.first_logit; i < segment.first_logit + segment.n_logits; ++i) {
      const LogitRow& row = batch.logit_rows[static_cast<size_t>(i)];
      host_.logit_rows[i] = row.token - segment.first_row;
      host_.logit_slots[i] = row.slot;
    }
  }
}

void StepBlock::select(const StepSegment& segment) {
  device_ = whole_;
  device_.tokens += segment.first_row;
  device_.positions += segment.first_row;
  device_.row_sequence += segment.first_row;
  device_.logit_rows += segment.first_logit;
  device_.logit_slots += segment.first_logit;
  device_.logit_mirrors += segment.first_logit;
  n_prompt_tiles_ = segment.decodes ? 0 : n_tiles_;
}

// Block 0 stands for what a sequence has no more: a kernel may load a tile of keys that begins before the window.
void StepBlock::fill_tables(const StepBatch& batch) {
  for (int32_t group = 0; group < limits_.n_kv_groups; ++group) {
    for (size_t s = 0; s < batch.sequences.size(); ++s) {
      const SequenceSlice& slice = batch.sequences[s];
      const int32_t* table = batch.block_table(slice, group);
      std::transform(table, table + slice.n_blocks(), host_.block_tables + table_of(group, static_cast<int32_t>(s)),
                     [](int32_t block) { return std::max(block, 0); });
    }
  }
}

Result<const int32_t*> StepBlock::copy_table(int32_t kv_group, std::span<const int32_t> table, cudaStream_t stream) {
  const int64_t at = table_of(kv_group, 0);
  std::ranges::transform(table, host_.block_tables + at, [](int32_t block) { return std::max(block, 0); });
  INLAY_CUDA_TRY(cudaMemcpyAsync(whole_.block_tables + at, host_.block_tables + at, table.size_bytes(), cudaMemcpyHostToDevice, stream),
                 "copying a block table");
  return static_cast<const int32_t*>(whole_.block_tables + at);
}

Status StepBlock::fill_samples(const StepBatch& batch, int32_t n_logit_rows) {
  n_bias_ = n_counts_ = 0;
  for (int32_t i = 0; i < n_logit_rows; ++i) {
    cuda::SampleRowParams& out = host_.samples[i];
    out = {};
    out.slot = -1;
    if (static_cast<size_t>(i) >= batch.sample_rows.size()) continue;
    const SampleRow& row = batch.sample_rows[static_cast<size_t>(i)];
    const SamplerParams& p = *row.params;
    out.temperature = p.temperature;
    out.top_p = p.top_p;
    out.min_p = p.min_p;
    out.repetition_penalty = p.repetition_penalty;
    out.frequency_penalty = p.frequency_penalty;
    out.presence_penalty = p.presence_penalty;
    out.top_k = p.top_k;
    out.n_logprobs = p.n_logprobs;
    out.slot = row.slot;
    out.masked = row.mask != nullptr ? 1 : 0;
    out.seed = p.seed;
    out.stream = row.stream;
    out.position = row.position;
    out.temperature_last = has_late_temperature(p) ? 1 : 0;
    if (has_general_steps(p)) fill_steps(p, row.context.state, out);
    INLAY_TRY(fill_lists(row, out));
  }
  return {};
}

// The bias, and the distinct tokens of the penalty window with their counts.
Status StepBlock::fill_lists(const SampleRow& row, cuda::SampleRowParams& out) {
  const std::span<const LogitBias> bias = row.bias();
  out.first_bias = n_bias_;
  out.n_bias = static_cast<int32_t>(bias.size());
  out.first_count = n_counts_;
  const size_t window = penalised_tokens(row);
  if (n_bias_ + out.n_bias > limits_.max_list || n_counts_ + static_cast<int64_t>(window) > limits_.max_list) {
    return error(Code::internal, "the bias and penalty lists of a step have more than %d entries", limits_.max_list);
  }
  for (const LogitBias& b : bias) {
    host_.bias_tokens[n_bias_] = b.token;
    host_.bias_values[n_bias_++] = b.bias;
  }
  // Sorted, so that equal tokens stand together; the host's copy of the list is the place to sort in.
  int32_t* const first = host_.count_tokens + n_counts_;
  std::copy(row.history.end() - static_cast<std::ptrdiff_t>(window), row.history.end(), first);
  std::sort(first, first + window);
  int32_t n = 0;
  for (size_t i = 0; i < window;) {
    const int32_t token = first[i];
    size_t end = i;
    while (end < window && first[end] == token) ++end;
    if (!row.context.spares(*row.params, token)) {
      host_.count_values[n_counts_ + n] = static_cast<int32_t>(end - i);
      first[n++] = token;
    }
    i = end;
  }
  out.n_counts = n;
  n_counts_ += n;
  return {};
}

Status StepBlock::copy_fixed(cuda::LaunchTarget target) {
  return cuda_status(cuda::copy_to_device(target, device_bytes_.data(), host_bytes_.data(), fixed_bytes_),
                     "copying a step's input");
}

Status StepBlock::copy_lists(cudaStream_t stream) {
  const auto copy = [&](void* to, const void* from, int32_t n) {
    return cuda_status(cudaMemcpyAsync(to, from, static_cast<size_t>(n) * 4, cudaMemcpyHostToDevice, stream),
                       "copying a step's lists");
  };
  if (n_bias_ > 0) {
    INLAY_TRY(copy(whole_.bias_tokens, host_.bias_tokens, n_bias_));
    INLAY_TRY(copy(whole_.bias_values, host_.bias_values, n_bias_));
  }
  if (n_counts_ > 0) {
    INLAY_TRY(copy(whole_.count_tokens, host_.count_tokens, n_counts_));
    INLAY_TRY(copy(whole_.count_values, host_.count_values, n_counts_));
  }
  return {};
}

}  // namespace inlay
