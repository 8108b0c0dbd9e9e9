#include "src/engine/convert.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <thread>
#include <vector>

#include "src/base/thread_pool.h"
#include "src/formats/gguf_writer.h"
#include "src/formats/metadata_builder.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_vocabulary.h"
#include "src/model/model.h"
#include "src/model/quantize.h"

namespace inlay {
namespace {

constexpr int64_t kElementsAtOnce = 16 << 20, kElementsOfThread = 1 << 16;
constexpr uint32_t kQuantizationVersion = 2;  // of ggml's block formats

// Which type each matrix gets; the names and numbers are those of llama.cpp's file types.
struct Recipe {
  uint32_t file_type;
  DType matrices;
  DType output;  // the matrix of the logits, the embedding too where that is the same
  DType more;    // of some layers' values and down projections, on which quality depends most
};

constexpr Recipe kRecipes[] = {
    {1, DType::f16, DType::f16, DType::f16},     {32, DType::bf16, DType::bf16, DType::bf16},
    {0, DType::f32, DType::f32, DType::f32},     {7, DType::q8_0, DType::q8_0, DType::q8_0},
    {2, DType::q4_0, DType::q6_k, DType::q4_0},  {15, DType::q4_k, DType::q6_k, DType::q6_k},
    {17, DType::q5_k, DType::q6_k, DType::q6_k}, {18, DType::q6_k, DType::q6_k, DType::q6_k},
};
static_assert(std::size(kRecipes) == static_cast<size_t>(ConvertType::count));

// The first and the last eighth of the layers, and every third between.
bool gets_more_bits(int32_t layer, int32_t n_layers) {
  const int32_t eighth = n_layers / 8;
  return layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2;
}

// A type whose blocks rows of this width consist of, of about the size.
DType fitting(DType type, int64_t n_cols) {
  const auto fits = [&](DType t) { return n_cols % traits(t).block_elements == 0; };
  if (fits(type)) return type;
  const DType smaller_blocks = type == DType::q4_k ? DType::q5_0 : type == DType::q5_k ? DType::q5_1 : DType::q8_0;
  return fits(smaller_blocks) ? smaller_blocks : DType::f16;
}

DType type_of(const Weight& w, const ModelSpec& spec, const Recipe& recipe) {
  if (w.n_rows == 1) return DType::f32;
  if (w.role == WeightRole::router) return DType::f32;
  DType type = recipe.matrices;
  const bool is_output = w.role == WeightRole::output || (w.role == WeightRole::token_embd && spec.tied_embeddings);
  if (is_output) type = recipe.output;
  const bool is_sensitive = w.role == WeightRole::attn_v || w.role == WeightRole::ffn_down;
  if (is_sensitive && gets_more_bits(w.layer, spec.n_layers)) type = recipe.more;
  return fitting(type, w.n_cols);
}

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

class Converter {
 public:
  Converter(const Checkpoint& checkpoint, const Model& model, const ConvertOptions& options)
      : checkpoint_(checkpoint),
        model_(model),
        options_(options),
        recipe_(kRecipes[static_cast<size_t>(options.type)]),
        pool_(options.n_threads > 0 ? options.n_threads
                                    : std::clamp<int>(static_cast<int>(std::thread::hardware_concurrency()), 1,
                                                      ThreadPool::kMaxThreads)) {}

  Status run(const std::string& to) {
    INLAY_TRY(pool_.status());
    INLAY_TRY(plan());
    INLAY_ASSIGN(const Metadata keys, metadata());
    INLAY_ASSIGN(GgufWriter writer, GgufWriter::create(to, keys, tensors_));
    for (const Job& job : jobs_) INLAY_TRY(write(job, writer));
    return writer.finish();
  }

 private:
  Status plan() {
    for (const Weight& w : model_.weights()) {
      const TensorEntry& from = checkpoint_.tensors()[w.tensor];
      if (is_quantized(from.dtype)) {
        return error(Code::unsupported, "%s: tensor %s is %s; only F32, F16 and BF16 can be converted",
                     checkpoint_.model_path().c_str(), w.name.c_str(), traits(from.dtype).name);
      }
      if (w.first_row != 0) continue;  // written with the first weight of its tensor
      Job job = {.from = &from, .to = type_of(w, model_.spec(), recipe_), .n_rows = w.n_rows, .n_cols = w.n_cols, .added = w.added};
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
    if (!folder.empty()) INLAY_TRY(add_hf_vocabulary(folder, static_cast<uint64_t>(model_.spec().n_vocab), out));
    out.u32("general.file_type", recipe_.file_type);
    out.u32("general.quantization_version", kQuantizationVersion);
    return out.build("");
  }

  Status write(const Job& job, GgufWriter& writer) {
    int64_t n_at_once = std::max<int64_t>(1, kElementsAtOnce / job.n_cols);
    n_at_once = std::max<int64_t>(1, n_at_once / job.d_head) * job.d_head;  // whole heads
    for (int64_t begin = 0; begin < job.n_rows; begin += n_at_once) {
      const int64_t n_rows = std::min(n_at_once, job.n_rows - begin);
      INLAY_TRY(convert_rows(job, begin, n_rows));
      INLAY_TRY(writer.append(out_));
      n_done_ += in_.size();
      if (options_.progress && !options_.progress(n_done_, n_total_))
        return error(Code::cancelled, "the conversion was stopped");
    }
    checkpoint_.discard(*job.from);
    return {};
  }

  // Rows [begin, begin + n_rows) into out_.
  Status convert_rows(const Job& job, int64_t begin, int64_t n_rows) {
    const auto n_cols = static_cast<uint64_t>(job.n_cols);
    const uint64_t row_in = row_bytes(job.from->dtype, n_cols), row_out = row_bytes(job.to, n_cols);
    in_.resize(row_in * static_cast<uint64_t>(n_rows));
    out_.resize(row_out * static_cast<uint64_t>(n_rows));
    INLAY_TRY(checkpoint_.read(*job.from, row_in * static_cast<uint64_t>(begin), in_));
    floats_.resize(static_cast<size_t>(pool_.size()));
    for (std::vector<float>& row : floats_) row.resize(n_cols);
    pool_.parallel_for(n_rows, std::max<int64_t>(1, kElementsOfThread / job.n_cols),
                       [&](int64_t first, int64_t end, int thread) {
                         float* row = floats_[static_cast<size_t>(thread)].data();
                         for (int64_t r = first; r < end; ++r) {
                           const int64_t in_head = r % job.d_head;
                           const int64_t source =
                               r - in_head + (job.n_rotated > 0 ? interleaved_source(in_head, job.n_rotated) : in_head);
                           widen(job.from->dtype, in_.data() + row_in * static_cast<uint64_t>(source), job.n_cols, row);
                           for (int64_t c = 0; c < job.n_cols && job.added != 0; ++c) row[c] += job.added;
                           quantize(job.to, row, job.n_cols, out_.data() + row_out * static_cast<uint64_t>(r));
                         }
                       });
    return {};
  }

  const Checkpoint& checkpoint_;
  const Model& model_;
  const ConvertOptions& options_;
  const Recipe& recipe_;
  ThreadPool pool_;
  std::vector<Job> jobs_;
  std::vector<GgufTensor> tensors_;
  std::vector<std::byte> in_, out_;
  std::vector<std::vector<float>> floats_;  // a row for each thread
  uint64_t n_done_ = 0, n_total_ = 0;
};

}  // namespace

Status convert_to_gguf(const std::string& from, const std::string& to, const ConvertOptions& options) {
  std::error_code failure;
  if (std::filesystem::equivalent(from, to, failure)) {
    return error(Code::invalid_argument, "%s cannot be written while it is read", to.c_str());
  }
  INLAY_ASSIGN(const Checkpoint checkpoint, open_checkpoint(from));
  INLAY_ASSIGN(const Model model, Model::from_checkpoint(checkpoint));
  return Converter(checkpoint, model, options).run(to);
}

}  // namespace inlay
