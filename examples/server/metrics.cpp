#include "examples/server/metrics.h"

namespace inlay::server {

namespace {

void write(std::string& out, const char* name, const char* type, const char* help, uint64_t value) {
  out += std::string("# HELP inlay_") + name + " " + help + "\n# TYPE inlay_" + name + " " + type + "\ninlay_" + name + " " + std::to_string(value) +
         "\n";
}

void write_seconds(std::string& out, const char* name, const char* help, uint64_t us) {
  const std::string part = std::to_string(1'000'000 + us % 1'000'000);
  out += std::string("# HELP inlay_") + name + " " + help + "\n# TYPE inlay_" + name + " counter\ninlay_" + name + " " +
         std::to_string(us / 1'000'000) + "." + part.substr(1) + "\n";
}

}  // namespace

void Metrics::add(const inlay_request_event& end) {
  n_prompt_tokens += static_cast<uint64_t>(end.n_prompt);
  n_cached_tokens += static_cast<uint64_t>(end.n_cached);
  n_drawn_tokens += static_cast<uint64_t>(end.n_drawn);
  queued_us += end.queued_us;
  prompt_us += end.prompt_us;
  decode_us += end.decode_us;
  if (end.finish_reason == INLAY_FINISH_ERROR || end.finish_reason == INLAY_FINISH_TIMEOUT) ++n_failed;
}

std::string Metrics::text(const Model& model) const {
  std::string out = "# HELP inlay_http_responses_total Responses by status.\n# TYPE inlay_http_responses_total counter\n";
  for (const auto& [status, count] : responses)
    out += "inlay_http_responses_total{code=\"" + std::to_string(status) + "\"} " + std::to_string(count) + "\n";
  write(out, "http_connections", "gauge", "Connections that are open.", n_connections);
  write(out, "requests_working", "gauge", "Requests that wait or run.", n_working);
  write(out, "requests_total", "counter", "Requests for texts that were accepted.", n_requests);
  write(out, "requests_left_total", "counter", "Requests whose client left before their end.", n_left);
  write(out, "requests_failed_total", "counter", "Requests that ended by an error or a timeout.", n_failed);
  write(out, "embeddings_total", "counter", "Requests for embeddings that were answered.", n_embeddings);
  write(out, "prompt_tokens_total", "counter", "Tokens of prompts.", n_prompt_tokens);
  write(out, "cached_tokens_total", "counter", "Tokens of prompts that were not computed again.", n_cached_tokens);
  write(out, "generated_tokens_total", "counter", "Tokens that were drawn.", n_drawn_tokens);
  write_seconds(out, "queued_seconds_total", "Time that requests waited to begin.", queued_us);
  write_seconds(out, "prompt_seconds_total", "Time from their beginning to the first token.", prompt_us);
  write_seconds(out, "decode_seconds_total", "Time from the first token to the end.", decode_us);
  inlay_stats stats = sized<inlay_stats>();
  if (inlay_engine_get_stats(model.engine, &stats, nullptr) != INLAY_OK) return out;
  write(out, "kv_blocks", "gauge", "Blocks of the KV pool.", static_cast<uint64_t>(stats.n_kv_blocks));
  write(out, "kv_blocks_used", "gauge", "Blocks in use.", static_cast<uint64_t>(stats.n_kv_blocks_used));
  write(out, "kv_blocks_on_host", "gauge", "Blocks in the host's memory, whose room in the pool was wanted.", static_cast<uint64_t>(stats.n_kv_blocks_on_host));
  write(out, "kv_blocks_from_host_total", "counter", "Blocks that came back from there.", stats.n_kv_blocks_from_host);
  return out;
}

}  // namespace inlay::server
