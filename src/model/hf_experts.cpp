#include "src/model/hf_experts.h"

#include <algorithm>
#include <charconv>

#include "src/formats/text.h"
#include "src/model/expert_source.h"
#include "src/model/hf_folder.h"
#include "src/model/hyper_parameters.h"

namespace inlay {
namespace {

constexpr std::string_view kExpertsPart = ".experts.", kWeightEnding = ".weight";
constexpr uint64_t kMxfp4Inputs = 32, kMxfp4Codes = 16;

// The expert of "7.gate_proj.weight", and what stands behind its number; -1 where there is none.
int32_t expert_of(std::string_view name, std::string_view& rest) {
  int32_t expert = -1;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), expert);
  if (failure != std::errc() || end == name.data() + name.size() || *end != '.') return -1;
  rest = name.substr(static_cast<size_t>(end - name.data()) + 1);
  return expert;
}

std::string text_of(std::span<const int64_t> shape) {
  std::string out;
  for (const int64_t n : shape) out += (out.empty() ? "" : " x ") + std::to_string(n);
  return out;
}

}  // namespace

// Makes the stacks of one layer after another.
class ExpertStacker::Builder {
 public:
  Builder(const HfFamily& family, const std::string& folder) : family_(family), folder_(folder) {}

  Status add(const std::string& before, const Group& group) {
    for (const auto& [name, stored] : group) {
      if (stored.entry.n_bytes == 0) return wrong_shape(stored, "none of them 0");
    }
    if (group.contains("gate_up_proj_blocks")) return add_mxfp4(before, group);
    if (!group.contains("gate_up_proj")) return add_separate(before, group);
    INLAY_TRY(expect(before, group, {"gate_up_proj", "down_proj"}, family_.experts_transposed));
    if (family_.experts_transposed) return add_transposed(before, group);
    return add_stacked(before, group);
  }

  StackedExperts finish() {
    if (parts_.empty()) return {};
    return {std::move(tensors_), reordered_source(std::move(parts_), "the experts of the folder")};
  }

 private:
  const HfFamily& family_;
  const std::string& folder_;
  std::vector<StackedTensor> tensors_;
  std::vector<ReorderedPart> parts_;
  uint64_t n_bytes_ = 0;

  Status missing(const std::string& name) const {
    return error(Code::format, "%s: the tensor %s is missing", folder_.c_str(), name.c_str());
  }

  static Status wrong_shape(const Stored& t, const char* expected) {
    return error(Code::format, "%s: tensor %s is %s, expected %s", std::string(t.source->name()).c_str(),
                 quote(t.entry.name).c_str(), text_of(t.entry.shape).c_str(), expected);
  }

  // Nothing but these, and their biases where there are such.
  Status expect(const std::string& before, const Group& group, std::initializer_list<const char*> names, bool biases) const {
    for (const char* name : names) {
      if (!group.contains(name)) return missing(before + name);
    }
    for (const auto& [name, stored] : group) {
      const bool known = std::any_of(names.begin(), names.end(), [&, &name = name](const char* n) { return name == n; });
      const bool bias = biases && (name == "gate_up_proj_bias" || name == "down_proj_bias");
      if (!known && !bias) return unknown(stored);
    }
    return {};
  }

  static Status unknown(const Stored& t) {
    return error(Code::unsupported, "%s: the tensor %s of experts is not supported", std::string(t.source->name()).c_str(),
                 quote(t.entry.name).c_str());
  }

  static StridedBytes bytes_of(const Stored& t, uint64_t n_rows, uint64_t n_cols, uint64_t element_bytes) {
    return {t.source, t.entry.offset, n_rows, n_cols, n_cols * element_bytes, element_bytes, element_bytes};
  }

  // Begins a tensor; its parts follow.
  void begin(std::string name, DType dtype, std::vector<int64_t> shape) {
    StackedTensor t{.name = std::move(name)};
    t.entry.dtype = dtype;
    t.entry.rank = static_cast<int32_t>(shape.size());
    t.entry.shape.fill(1);
    std::copy(shape.begin(), shape.end(), t.entry.shape.begin());
    t.entry.offset = n_bytes_;
    tensors_.push_back(std::move(t));
  }
  void part(const ReorderedPart& part) {
    parts_.push_back(part);
    n_bytes_ += part.n_bytes();
    tensors_.back().entry.n_bytes += part.n_bytes();
  }

  // ---- experts by themselves

  Status add_separate(const std::string& before, const Group& group) {
    std::map<std::string_view, std::map<int32_t, const Stored*>> matrices;  // by what stands behind the number
    for (const auto& [name, stored] : group) {
      std::string_view rest;
      const int32_t expert = expert_of(name, rest);
      if (expert < 0) return unknown(stored);
      matrices[rest][expert] = &stored;
    }
    for (const auto& [name, experts] : matrices) INLAY_TRY(add_matrix(before, name, experts));
    return {};
  }

  Status add_matrix(const std::string& before, std::string_view name, const std::map<int32_t, const Stored*>& experts) {
    const Stored& first = *experts.begin()->second;
    if (!name.ends_with(kWeightEnding) || first.entry.shape.size() != 2) return unknown(first);
    INLAY_ASSIGN(const DType dtype, hf_stored_type(first.entry, *first.source));
    const auto n_experts = static_cast<int64_t>(experts.size());
    begin(before + std::string(name), dtype, {n_experts, first.entry.shape[0], first.entry.shape[1]});
    int32_t next = 0;
    for (const auto& [expert, stored] : experts) {
      if (expert != next++) return missing(before + std::to_string(next - 1) + "." + std::string(name));
      if (stored->entry.shape != first.entry.shape || stored->entry.dtype != first.entry.dtype) {
        return wrong_shape(*stored, (text_of(first.entry.shape) + " of " + first.entry.dtype + ", as the first expert's").c_str());
      }
      part({bytes_of(*stored, 1, 1, stored->entry.n_bytes), {}});
    }
    return {};
  }

  // ---- stacked

  Status add_stacked(const std::string& before, const Group& group) {
    const Stored &both = group.find("gate_up_proj")->second, &down = group.find("down_proj")->second;
    INLAY_ASSIGN(const DType dtype, hf_stored_type(both.entry, *both.source));
    INLAY_ASSIGN(const DType down_type, hf_stored_type(down.entry, *down.source));
    if (both.entry.shape.size() != 3 || both.entry.shape[1] % 2 != 0) return wrong_shape(both, "experts x rows of gate and up x inputs");
    if (down.entry.shape.size() != 3) return wrong_shape(down, "experts x rows x inputs");
    const auto n = static_cast<uint64_t>(both.entry.shape[0]);
    const uint64_t half = both.entry.n_bytes / n / 2;  // of an expert
    for (const uint64_t which : {0u, 1u}) {
      begin(before + (which == 0 ? "gate_proj.weight" : "up_proj.weight"), dtype,
            {both.entry.shape[0], both.entry.shape[1] / 2, both.entry.shape[2]});
      StridedBytes rows = bytes_of(both, n, 1, half);
      rows.offset += which * half;
      rows.row_stride = 2 * half;
      part({rows, {}});
    }
    begin(before + "down_proj.weight", down_type, down.entry.shape);
    part({bytes_of(down, 1, 1, down.entry.n_bytes), {}});
    return {};
  }

  // ---- gpt-oss

  Status add_transposed(const std::string& before, const Group& group) {
    const Stored &both = group.find("gate_up_proj")->second, &down = group.find("down_proj")->second;
    if (both.entry.shape.size() != 3 || both.entry.shape[2] % 2 != 0) return wrong_shape(both, "experts x inputs x columns of gate and up");
    if (down.entry.shape.size() != 3) return wrong_shape(down, "experts x inputs x columns");
    INLAY_TRY(add_columns(before + "gate_proj.weight", both, 0, 2));
    INLAY_TRY(add_columns(before + "up_proj.weight", both, 1, 2));
    INLAY_TRY(add_columns(before + "down_proj.weight", down, 0, 1));
    return add_biases(before, group);
  }

  // Columns first, first + step, ... of every expert's (inputs, columns) as rows.
  Status add_columns(std::string name, const Stored& t, uint64_t first, uint64_t step) {
    INLAY_ASSIGN(const DType dtype, hf_stored_type(t.entry, *t.source));
    const uint64_t element = traits(dtype).block_bytes;
    if (t.entry.shape[0] > static_cast<int64_t>(kMaxExperts)) return wrong_shape(t, ("at most " + std::to_string(kMaxExperts) + " experts").c_str());
    const auto n_inputs = static_cast<uint64_t>(t.entry.shape[1]), n_cols = static_cast<uint64_t>(t.entry.shape[2]);
    begin(std::move(name), dtype, {t.entry.shape[0], t.entry.shape[2] / static_cast<int64_t>(step), t.entry.shape[1]});
    for (uint64_t e = 0; e < static_cast<uint64_t>(t.entry.shape[0]); ++e) {
      part({{t.source, t.entry.offset + (e * n_inputs * n_cols + first) * element, n_cols / step, n_inputs, step * element,
             n_cols * element, element},
            {}});
    }
    return {};
  }

  Status add_biases(const std::string& before, const Group& group) {
    const auto both = group.find("gate_up_proj_bias"), down = group.find("down_proj_bias");
    if (both == group.end()) return missing(before + "gate_up_proj_bias");
    if (down == group.end()) return missing(before + "down_proj_bias");
    INLAY_TRY(add_bias(before + "gate_proj.bias", both->second, 0, 2));
    INLAY_TRY(add_bias(before + "up_proj.bias", both->second, 1, 2));
    return add_bias(before + "down_proj.bias", down->second, 0, 1);
  }

  Status add_bias(std::string name, const Stored& t, uint64_t first, uint64_t step) {
    INLAY_ASSIGN(const DType dtype, hf_stored_type(t.entry, *t.source));
    if (t.entry.shape.size() != 2 || t.entry.shape[1] % static_cast<int64_t>(step) != 0) return wrong_shape(t, "experts x rows");
    const uint64_t element = traits(dtype).block_bytes;
    const auto n = static_cast<uint64_t>(t.entry.shape[0] * t.entry.shape[1]);
    begin(std::move(name), dtype, {t.entry.shape[0], t.entry.shape[1] / static_cast<int64_t>(step)});
    part({{t.source, t.entry.offset + first * element, n / step, 1, step * element, element, element}, {}});
    return {};
  }

  Status add_mxfp4(const std::string& before, const Group& group) {
    INLAY_TRY(expect(before, group, {"gate_up_proj_blocks", "gate_up_proj_scales", "down_proj_blocks", "down_proj_scales"}, true));
    const Stored &both = group.find("gate_up_proj_blocks")->second, &of_both = group.find("gate_up_proj_scales")->second;
    const Stored &down = group.find("down_proj_blocks")->second, &of_down = group.find("down_proj_scales")->second;
    INLAY_TRY(add_blocks(before + "gate_proj.weight", both, of_both, {0, 2}));
    INLAY_TRY(add_blocks(before + "up_proj.weight", both, of_both, {1, 2}));
    INLAY_TRY(add_blocks(before + "down_proj.weight", down, of_down, {0, 1}));
    return add_biases(before, group);
  }

  struct Rows {
    uint64_t first, step;
  };
  Status add_blocks(std::string name, const Stored& codes, const Stored& scales, Rows rows) {
    const std::vector<int64_t>& shape = codes.entry.shape;
    if (codes.entry.dtype != "U8" || shape.size() != 4 || shape[3] != static_cast<int64_t>(kMxfp4Codes) ||
        shape[1] % static_cast<int64_t>(rows.step) != 0) {
      return wrong_shape(codes, "experts x rows x blocks x 16 of U8");
    }
    if (scales.entry.dtype != "U8" || scales.entry.shape != std::vector<int64_t>(shape.begin(), shape.begin() + 3)) {
      return wrong_shape(scales, "a U8 for each block of the codes");
    }
    const auto n_blocks = static_cast<uint64_t>(shape[2]), n_rows = static_cast<uint64_t>(shape[0] * shape[1]) / rows.step;
    begin(std::move(name), DType::mxfp4,
          {shape[0], shape[1] / static_cast<int64_t>(rows.step), shape[2] * static_cast<int64_t>(kMxfp4Inputs)});
    const uint64_t row = n_blocks * kMxfp4Codes;
    part({{codes.source, codes.entry.offset + rows.first * row, n_rows, n_blocks, rows.step * row, kMxfp4Codes, kMxfp4Codes},
          {scales.source, scales.entry.offset + rows.first * n_blocks, n_rows, n_blocks, rows.step * n_blocks, 1, 1}});
    return {};
  }
};

bool ExpertStacker::takes(std::string_view name) const { return family_.has_experts && name.find(kExpertsPart) != name.npos; }

void ExpertStacker::add(const SafetensorsEntry& entry, const ByteSource& source) {
  const size_t end = entry.name.find(kExpertsPart) + kExpertsPart.size();
  groups_[entry.name.substr(0, end)].emplace(entry.name.substr(end), Stored{entry, &source});
}

Result<StackedExperts> ExpertStacker::build(const std::string& folder) const {
  Builder builder(family_, folder);
  for (const auto& [before, group] : groups_) INLAY_TRY(builder.add(before, group));
  return builder.finish();
}

}  // namespace inlay
