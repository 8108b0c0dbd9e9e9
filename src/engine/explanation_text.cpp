#include <algorithm>

#include "src/base/format.h"
#include "src/engine/explain.h"

namespace inlay {
namespace {

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

const char* scaling_name(RopeScalingKind kind) {
  switch (kind) {
    case RopeScalingKind::linear:
      return "linear";
    case RopeScalingKind::yarn:
      return "YaRN";
    case RopeScalingKind::longrope:
      return "LongRoPE";
    default:
      return "";
  }
}

}  // namespace

std::vector<std::string> features_of(const ModelSpec& s) {
  std::vector<std::string> out;
  const auto add = [&](bool has, std::string name) {
    if (has) out.push_back(std::move(name));
  };
  for (const RopeSpec& rope : s.ropes) {
    add(rope.scaling != RopeScalingKind::none, std::string("RoPE scaling ") + scaling_name(rope.scaling));
    add(!rope.frequency_factors.empty(), "RoPE frequency factors");
  }
  const auto is_windowed = [](const LayerAttention& layer) { return layer.window > 0; };
  if (const auto first = std::ranges::find_if(s.layers, is_windowed); first != s.layers.end()) {
    add(true, "sliding window of " + std::to_string(first->window) + " tokens in " +
                  std::to_string(std::ranges::count_if(s.layers, is_windowed)) + " layers");
  }
  add(std::ranges::any_of(s.layers, [](const LayerAttention& layer) { return layer.rope < 0; }), "layers without RoPE");
  if (s.moe.n_experts > 0)
    add(true, std::to_string(s.moe.n_used) + " of " + std::to_string(s.moe.n_experts) + " experts for each token");
  add(s.attn_sinks, "attention sinks");
  add(s.attn_softcap > 0, "soft cap of attention");
  add(s.logit_softcap > 0, "soft cap of logits");
  add(s.qk_norm != QkNorm::none, "norms of queries and keys");
  add(s.post_norms, "norms behind each part");
  add(!s.causal, "attention to later tokens, for embeddings alone");
  add(s.tied_embeddings, "output matrix tied to the embedding");
  return out;
}

namespace {

void add_model(const Explanation& e, std::string& out) {
  const ModelSpec& s = e.spec;
  append_format(out, "%-15s %s\n", "model", s.name.c_str());
  append_format(out, "%-15s %s, %.4g million parameters, %d layers of width %d, vocabulary of %d\n", "family", s.arch.c_str(),
                static_cast<double>(e.n_params) * 1e-6, s.n_layers, s.d_model, s.n_vocab);
  std::string list;
  for (const std::string& feature : features_of(s)) list += (list.empty() ? "" : ", ") + feature;
  append_format(out, "%-15s %s\n", "features", list.empty() ? "none beyond the plainest decoder" : list.c_str());
  append_format(out, "%-15s %d tokens\n", "trained context", s.n_context_train);
  if (!e.tokenizer.ok())
    append_format(out, "%-15s cannot be used: %s\n", "tokenizer", e.tokenizer.message.c_str());
  else if (e.n_tokens == 0)
    append_format(out, "%-15s none\n", "tokenizer");
  else
    append_format(out, "%-15s %d tokens\n", "tokenizer", e.n_tokens);
  const bool has_template = e.chat_template.ok();
  append_format(out, "%-15s %s\n", "chat template", has_template ? "yes" : e.chat_template.message.c_str());
}

void add_types(const Explanation& e, std::string& out) {
  append_format(out, "\n%-10s %8s %16s %12s\n", "tensors of", "number", "elements", "MiB");
  for (const Explanation::Types& t : e.types) {
    append_format(out, "%-10s %8llu %16llu %12.1f\n", traits(t.dtype).name, static_cast<unsigned long long>(t.n_tensors),
                  static_cast<unsigned long long>(t.n_elements), mib(t.n_bytes));
  }
}

void add_devices(const Explanation& e, std::string& out) {
  out += "\nwould run on\n";
  for (const Explanation::Device& d : e.devices) {
    if (d.status.ok())
      append_format(out, "  yes  %s: takes %.1f MiB of %10.1f MiB that are free\n", d.name.c_str(), mib(d.needs.total()), mib(d.free_bytes));
    else
      append_format(out, "  no   %s: %s\n", d.name.c_str(), d.status.message.c_str());
    if (d.status.ok() && d.prefix_cache_host_bytes > 0) append_format(out, "       and up to %.1f MiB of the host's memory for kept blocks\n", mib(d.prefix_cache_host_bytes));
  }
}

void add_contexts(const Explanation& e, std::string& out) {
  append_format(out, "\nMiB for one session on %s\n%-10s %12s %12s %12s %12s\n", e.context_device.c_str(), "context", "weights",
                "KV cache", "workspace", "together");
  for (const Explanation::Context& c : e.contexts) {
    append_format(out, "%-10d %12.1f %12.1f %12.1f %12.1f\n", c.n_context, mib(c.needs.weights), mib(c.needs.kv),
                  mib(c.needs.workspace), mib(c.needs.total()));
  }
  append_format(out, "%-10d is the longest that fits\n", e.longest_context);
}

}  // namespace

std::string explanation_text(const Explanation& e) {
  std::string out;
  append_format(out, "%-15s %s\n", "path", e.path.c_str());
  if (e.model.ok())
    add_model(e, out);
  else
    append_format(out, "%-15s runs nowhere: %s\n", "model", e.model.message.c_str());
  add_types(e, out);
  if (!e.model.ok()) return out;
  add_devices(e, out);
  if (!e.contexts.empty()) add_contexts(e, out);
  return out;
}

}  // namespace inlay
