// The facts of explanation_text() as one JSON object.
#include "src/base/format.h"
#include "src/engine/explain.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {
namespace {

// The code point at text[at], which is well formed; goes behind it.
uint32_t next_code_point(std::string_view text, size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int n_more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  uint32_t value = n_more == 0 ? lead : lead & (0x3Fu >> n_more);
  for (int i = 0; i < n_more; ++i) value = value << 6 | (static_cast<unsigned char>(text[at++]) & 0x3Fu);
  return value;
}

// As a JSON string of ASCII alone, which no terminal obeys; bytes that are no UTF-8 become U+FFFD.
std::string in_quotes(std::string_view text) {
  std::string clean;
  Utf8Assembler utf8;
  utf8.append(text, clean);
  utf8.flush(clean);
  std::string out = "\"";
  for (size_t at = 0; at < clean.size();) {
    const uint32_t c = next_code_point(clean, at);
    if (c >= 0x10000) {
      append_format(out, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10), 0xDC00 + ((c - 0x10000) & 0x3FF));
    } else if (c < 0x20 || c >= 0x7F) {
      append_format(out, "\\u%04x", c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<char>(c);
    }
  }
  return out + '"';
}

std::string error_of(const Status& status) { return status.ok() ? "null" : in_quotes(status.message); }

// Members of an object, or elements of an array.
class List {
 public:
  void add(const char* key, const std::string& value) { add(in_quotes(key) + ": " + value); }
  void add(const char* key, uint64_t value) { add(key, std::to_string(value)); }
  void add(const std::string& value) { body_ += (body_.empty() ? "" : ", ") + value; }
  void add_needs(const MemoryNeeds& needs) {
    add("weight_bytes", needs.weights);
    add("kv_bytes", needs.kv);
    add("scratch_bytes", needs.workspace);
    add("total_bytes", needs.total());
  }
  std::string object() const { return "{" + body_ + "}"; }
  std::string array() const { return "[" + body_ + "]"; }

 private:
  std::string body_;
};

std::string model_of(const Explanation& e) {
  List model, features;
  for (const std::string& feature : features_of(e.spec)) features.add(in_quotes(feature));
  model.add("name", in_quotes(e.spec.name));
  model.add("family", in_quotes(e.spec.arch));
  model.add("n_params", e.n_params);
  model.add("n_layers", static_cast<uint64_t>(e.spec.n_layers));
  model.add("d_model", static_cast<uint64_t>(e.spec.d_model));
  model.add("n_vocab", static_cast<uint64_t>(e.spec.n_vocab));
  model.add("n_context_train", static_cast<uint64_t>(e.spec.n_context_train));
  model.add("features", features.array());
  return model.object();
}

std::string tokenizer_of(const Explanation& e) {
  List tokenizer;
  tokenizer.add("n_tokens", static_cast<uint64_t>(e.n_tokens));
  tokenizer.add("error", error_of(e.tokenizer));
  return tokenizer.object();
}

std::string chat_template_of(const Explanation& e) {
  List chat_template;
  chat_template.add("error", error_of(e.chat_template));
  return chat_template.object();
}

std::string tensors_of(const Explanation& e) {
  List tensors;
  for (const Explanation::Types& t : e.types) {
    List type;
    type.add("type", in_quotes(traits(t.dtype).name));
    type.add("n_tensors", t.n_tensors);
    type.add("n_elements", t.n_elements);
    type.add("n_bytes", t.n_bytes);
    tensors.add(type.object());
  }
  return tensors.array();
}

std::string devices_of(const Explanation& e) {
  List devices;
  for (const Explanation::Device& d : e.devices) {
    List device;
    device.add("name", in_quotes(d.name));
    device.add("error", error_of(d.status));
    device.add_needs(d.needs);
    device.add("prefix_cache_host_bytes", d.prefix_cache_host_bytes);
    device.add("free_bytes", d.free_bytes);
    devices.add(device.object());
  }
  return devices.array();
}

std::string contexts_of(const Explanation& e) {
  List contexts, each;
  for (const Explanation::Context& c : e.contexts) {
    List context;
    context.add("n_context", static_cast<uint64_t>(c.n_context));
    context.add_needs(c.needs);
    each.add(context.object());
  }
  contexts.add("device", in_quotes(e.context_device));
  contexts.add("longest", static_cast<uint64_t>(e.longest_context));
  contexts.add("each", each.array());
  return contexts.object();
}

}  // namespace

std::string explanation_json(const Explanation& e) {
  const bool known = e.model.ok();
  List out;
  out.add("path", in_quotes(e.path));
  out.add("error", error_of(e.model));
  out.add("model", known ? model_of(e) : "null");
  out.add("tokenizer", known ? tokenizer_of(e) : "null");
  out.add("chat_template", known ? chat_template_of(e) : "null");
  out.add("tensors", tensors_of(e));
  out.add("devices", devices_of(e));
  out.add("contexts", e.contexts.empty() ? "null" : contexts_of(e));
  return out.object();
}

}  // namespace inlay
