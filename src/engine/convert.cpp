#include "src/engine/convert.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "src/base/files.h"
#include "src/base/held_folder.h"
#include "src/base/host_limits.h"
#include "src/base/printable.h"
#include "src/base/thread_pool.h"
#include "src/engine/progress_report.h"
#include "src/formats/gguf_writer.h"
#include "src/formats/metadata_builder.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_vocabulary.h"
#include "src/model/quantize.h"
#include "src/model/recipe.h"

namespace inlay {
namespace {

constexpr int64_t kElementsAtOnce = 2 << 20, kElementsOfThread = 1 << 16;
constexpr const char* kStopped = "the conversion was stopped";
constexpr uint32_t kQuantizationVersion = 2;  // of ggml's block formats

// One tensor on its way.
struct Job {
  const TensorEntry* from = nullptr;
  DType to = DType::f32;
  int64_t n_rows = 0, n_cols = 0;
  int64_t n_rotated = 0;  // of each head's rows, that go from two halves to neighbouring pairs; 0: rows stay
  int64_t d_head = 1;
  float added = 0;  // to every element
};

// Which row of a head of two halves is row `i` of interleaved pairs.
int64_t interleaved_source(int64_t i, int64_t n_rotated) {
  return i >= n_rotated ? i : i / 2 + (i % 2) * (n_rotated / 2);
}

void add_to_floats(float added, int64_t n, std::byte* floats) {
  for (int64_t i = 0; i < n; ++i, floats += sizeof(float)) {
    float value;
    std::memcpy(&value, floats, sizeof value);
    value += added;
    std::memcpy(floats, &value, sizeof value);
  }
}

class Converter {
 public:
  Converter(const Checkpoint& checkpoint, const Model& model, const ConvertOptions& options, ProgressReport& report)
      : checkpoint_(checkpoint),
        model_(model),
        options_(options),
        report_(report),
        recipe_(recipe_of(options.type)),
        pool_(options.n_threads > 0 ? options.n_threads : default_threads()),
        losses_(static_cast<size_t>(pool_.size())) {}

  Status run(const std::string& to) {
    INLAY_TRY(pool_.status());
    INLAY_TRY(plan());
    report_.expect(n_total_, n_total_);
    INLAY_ASSIGN(const Metadata keys, metadata());
    INLAY_ASSIGN(GgufWriter writer, GgufWriter::create(to, keys, tensors_));
    for (const Job& job : jobs_) INLAY_TRY(write(job, writer));
    INLAY_TRY(checkpoint_.check_unchanged());
    return writer.finish();
  }

 private:
  Status plan() {
    for (const Weight& w : model_.weights()) {
      const TensorEntry& from = checkpoint_.tensors()[w.tensor];
      if (w.first_row != 0) continue;  // written with the first weight of its tensor
      Job job = {.from = &from, .to = type_by(recipe_, w, model_.spec()), .n_rows = w.n_rows, .n_cols = w.n_cols, .added = w.added};
      if (w.stored != w.role) job.n_rows = from.shape[0];
      if (needs_interleaving(w)) {
        job.d_head = model_.spec().d_head;
        job.n_rotated = model_.spec().n_rot();
        if (w.n_rows == 1) std::swap(job.n_rows, job.n_cols);  // a bias has an element where the matrix has a row
      }
      add(gguf_name(*find_arch(model_.spec().arch), w.stored, w.layer), job);
    }
    // What is no weight of the plan, but of the model: RoPE's factors.
    for (const TensorEntry& from : checkpoint_.tensors()) {
      const bool is_weight = std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.from == &from; });
      if (!is_weight)
        add(std::string(from.name), {.from = &from, .to = DType::f32, .n_rows = 1, .n_cols = from.shape[0]});
    }
    return {};
  }

  bool needs_interleaving(const Weight& w) const {
    return is_rotated(w.role) && checkpoint_.conventions().halved_rope && find_arch(model_.spec().arch)->interleaved_rope;
  }

  void add(std::string name, const Job& job) {
    n_total_ += job.from->n_bytes;
    jobs_.push_back(job);
    tensors_.push_back({.name = std::move(name), .dtype = job.to, .rank = job.from->rank, .shape = job.from->shape});
  }

  Result<Metadata> metadata() const {
    MetadataBuilder out;
    for (const MetaEntry& entry : checkpoint_.metadata().entries()) {
      if (!entry.key.starts_with("split.") && entry.key != "general.alignment") out.copy(entry);
    }
    const std::string& folder = checkpoint_.conventions().tokenizer_folder;
    if (!folder.empty()) {
      INLAY_ASSIGN(const std::vector<std::string> unsaid, add_hf_vocabulary(folder, static_cast<uint64_t>(model_.spec().n_vocab), out));
      warn(unsaid);
    }
    out.u32("general.file_type", recipe_.file_type);
    out.u32("general.quantization_version", kQuantizationVersion);
    return out.build("");
  }

  void warn(const std::vector<std::string>& unsaid) const {
    if (unsaid.empty() || !options_.log) return;
    std::string line = "the tokenizer has what other programs cannot read in a GGUF file; Inlay reads it from the key tokenizer.huggingface.json: ";
    for (const std::string& what : unsaid) line += (&what == unsaid.data() ? "" : "; ") + what;
    options_.log(LogLevel::warning, printable(line));
  }

  Status write(const Job& job, GgufWriter& writer) {
    std::fill(losses_.begin(), losses_.end(), ConversionLoss{});
    int64_t n_at_once = std::max<int64_t>(1, kElementsAtOnce / job.n_cols);
    n_at_once = std::max<int64_t>(1, n_at_once / job.d_head) * job.d_head;  // whole heads
    for (int64_t begin = 0; begin < job.n_rows; begin += n_at_once) {
      const int64_t n_rows = std::min(n_at_once, job.n_rows - begin);
      INLAY_TRY(convert_rows(job, begin, n_rows));
      INLAY_TRY(writer.append(out_));
      n_done_ += in_.size();
      if (!report_.tell(n_done_)) return error(Code::cancelled, kStopped);
    }
    checkpoint_.discard(*job.from);
    ConversionLoss loss;
    for (const ConversionLoss& of_thread : losses_) loss.add(of_thread);
    return loss.is_too_much(job.to) ? cannot_hold(job.from->name, job.to, loss) : Status{};
  }

  // Rows [begin, begin + n_rows) into out_.
  Status convert_rows(const Job& job, int64_t begin, int64_t n_rows) {
    const auto n_cols = static_cast<uint64_t>(job.n_cols);
    const uint64_t row_in = row_bytes(job.from->dtype, n_cols), row_out = row_bytes(job.to, n_cols);
    in_.resize(row_in * static_cast<uint64_t>(n_rows));
    out_.resize(row_out * static_cast<uint64_t>(n_rows));
    INLAY_TRY(read_rows(checkpoint_, *job.from, begin, row_in, in_, &pool_));
    pool_.parallel_for(n_rows, std::max<int64_t>(1, kElementsOfThread / job.n_cols),
                       [&](int64_t first, int64_t end, int thread) {
                         ConversionLoss& loss = losses_[static_cast<size_t>(thread)];
                         for (int64_t r = first; r < end; ++r) {
                           const int64_t in_head = r % job.d_head;
                           const int64_t source =
                               r - in_head + (job.n_rotated > 0 ? interleaved_source(in_head, job.n_rotated) : in_head);
                           std::byte* out = out_.data() + row_out * static_cast<uint64_t>(r);
                           loss.add(convert(job.from->dtype, in_.data() + row_in * static_cast<uint64_t>(source), job.to,
                                            job.n_cols, out));
                           if (job.added != 0) add_to_floats(job.added, job.n_cols, out);
                         }
                       });
    return {};
  }

  const Checkpoint& checkpoint_;
  const Model& model_;
  const ConvertOptions& options_;
  ProgressReport& report_;
  const Recipe& recipe_;
  ThreadPool pool_;
  std::vector<ConversionLoss> losses_;  // of each thread, in one tensor
  std::vector<Job> jobs_;
  std::vector<GgufTensor> tensors_;
  std::vector<std::byte> in_, out_;
  uint64_t n_done_ = 0, n_total_ = 0;
};

// Nothing that the model is read from is replaced: not a file with tensors, nor any other one of a folder.
Status check_target(const std::string& from, const std::string& to, const Checkpoint& checkpoint) {
  const Status refused = error(Code::invalid_argument, "%s cannot be written while it is read", to.c_str());
  INLAY_ASSIGN(const bool is_model, is_same_file(from, to));
  if (is_model) return refused;
  uint32_t last = UINT32_MAX;
  for (const TensorEntry& tensor : checkpoint.tensors()) {
    if (std::exchange(last, tensor.source) == tensor.source) continue;
    INLAY_ASSIGN(const bool is_source, is_same_file(std::string(checkpoint.source_name(tensor)), to));
    if (is_source) return refused;
  }
  INLAY_ASSIGN(const std::string folder, hf_folder_of(from));
  if (folder.empty() || to.ends_with(".gguf")) return {};
  INLAY_ASSIGN(const PathKind kind, kind_of_path(to));
  if (kind == PathKind::absent) return {};
  const std::string parent = folder_part(to);
  INLAY_ASSIGN(const bool is_inside, is_same_file(folder, parent.empty() ? "." : parent));
  return is_inside ? refused : Status{};
}

}  // namespace

Status convert_to_gguf(const std::string& from, const std::string& to, const ConvertOptions& options) {
  ProgressReport report(options.progress, kStopped);
  const HeldFolder folder(from);
  const HeldFolder::Use use(&folder);
  INLAY_ASSIGN(const Checkpoint checkpoint, open_checkpoint(from));
  INLAY_TRY(check_target(from, to, checkpoint));
  INLAY_ASSIGN(const Model model, Model::from_checkpoint(checkpoint));
  return Converter(checkpoint, model, options, report).run(to);
}

}  // namespace inlay
