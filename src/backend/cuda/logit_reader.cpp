#include "src/backend/cuda/logit_reader.h"

#include <utility>

namespace inlay {

void LogitReader::forget(std::span<const LogitRow> rows) {
  for (const LogitRow& row : rows) forget(row.slot);
}

Status LogitReader::send(std::span<const LogitRow> rows, cudaStream_t stream) {
  for (const LogitRow& row : rows) {
    Entry& e = entry(row.slot);
    if (std::exchange(e.was_read, false)) INLAY_TRY(send(e, row.slot, stream));
  }
  return {};
}

Status LogitReader::send(Entry& e, int32_t slot, cudaStream_t stream) {
  INLAY_CUDA_TRY(cudaMemcpyAsync(e.memory.data(), slots_ + static_cast<size_t>(slot) * n_vocab_,
                                 n_vocab_ * sizeof(float), cudaMemcpyDeviceToHost, stream),
                 "reading logits");
  INLAY_CUDA_TRY(cudaEventRecord(e.arrived.get(), stream), "reading logits");
  e.is_sent = true;
  return {};
}

Result<std::span<const float>> LogitReader::read(int32_t slot, cudaStream_t stream) {
  Entry& e = entry(slot);
  if (e.memory.size() == 0) {
    INLAY_ASSIGN(e.arrived, make_event());
    INLAY_ASSIGN(e.memory, PinnedBuffer::allocate(n_vocab_ * sizeof(float), "logits on their way to the host"));
  }
  if (!e.is_sent) INLAY_TRY(send(e, slot, stream));
  INLAY_TRY(wait_for(e.arrived.get(), "reading logits"));
  e.was_read = true;
  return std::span(reinterpret_cast<const float*>(e.memory.data()), n_vocab_);
}

}  // namespace inlay
