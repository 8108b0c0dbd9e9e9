#include "src/backend/cuda/logit_reader.h"

#include <cstring>

namespace inlay {

Result<LogitReader> LogitReader::create(uint64_t n_vocab) {
  LogitReader reader;
  INLAY_ASSIGN(reader.memory_, PinnedBuffer::allocate(n_vocab * sizeof(float), "logits on their way to the host"));
  INLAY_ASSIGN(reader.first_half_, make_event());
  return reader;
}

Status LogitReader::copy(const float* from, std::span<float> out, cudaStream_t stream) {
  auto* staged = reinterpret_cast<float*>(memory_.data());
  const size_t half = out.size() / 2, rest = out.size() - half;
  INLAY_CUDA_TRY(cudaMemcpyAsync(staged, from, half * sizeof(float), cudaMemcpyDeviceToHost, stream), "reading logits");
  INLAY_CUDA_TRY(cudaEventRecord(first_half_.get(), stream), "reading logits");
  INLAY_CUDA_TRY(cudaMemcpyAsync(staged + half, from + half, rest * sizeof(float), cudaMemcpyDeviceToHost, stream),
                 "reading logits");
  INLAY_TRY(wait_for(first_half_.get(), "reading logits"));
  std::memcpy(out.data(), staged, half * sizeof(float));
  INLAY_TRY(wait_for(stream, "reading logits"));
  std::memcpy(out.data() + half, staged + half, rest * sizeof(float));
  return {};
}

}  // namespace inlay
