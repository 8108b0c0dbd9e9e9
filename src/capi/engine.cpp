#include "src/capi/guard.h"
#include "src/capi/handles.h"

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_engine_get_info(const inlay_engine* engine, inlay_engine_info* info, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_out_struct(info, "info"));
    const Engine& e = *engine->engine;
    const EngineInfo loaded = e.info();
    const ModelSpec& spec = e.spec();
    const Tokenizer* tokenizer = e.tokenizer();
    inlay_engine_info out = {};
    out.device = static_cast<inlay_device_kind>(loaded.device);
    out.n_params = loaded.n_params;
    out.weight_bytes = loaded.memory.weights;
    out.kv_bytes = loaded.memory.kv;
    out.n_vocab = spec.n_vocab;
    out.n_layers = spec.n_layers;
    out.d_model = spec.d_model;
    out.n_heads = spec.n_heads;
    out.n_kv_heads = spec.n_kv_heads;
    out.d_head = spec.d_head;
    out.d_ff = spec.d_ff;
    out.n_context_train = spec.n_context_train;
    out.n_context = loaded.n_context;
    out.max_sessions = loaded.max_sessions;
    out.bos = tokenizer ? tokenizer->bos() : -1;
    out.eos = tokenizer ? tokenizer->eos() : -1;
    out.n_threads = loaded.n_threads;
    out.weight_dtype = static_cast<inlay_weight_dtype>(loaded.weight_dtype);
    if (tokenizer) out.flags = INLAY_ENGINE_HAS_TOKENIZER | (tokenizer->adds_bos() ? INLAY_ENGINE_ADDS_BOS : 0);
    write_struct(info, out);
    return {};
  });
}

inlay_status inlay_engine_get_stats(const inlay_engine* engine, inlay_stats* stats, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_out_struct(stats, "stats"));
    const EngineStats now = engine->engine->stats();
    inlay_stats out = {};
    out.n_sessions = now.n_sessions;
    out.n_prefill_tokens = now.n_prefill_tokens;
    out.n_decode_tokens = now.n_decode_tokens;
    out.n_decode_steps = now.n_decode_steps;
    out.load_seconds = now.load_seconds;
    out.prefill_seconds = now.prefill_seconds;
    out.decode_seconds = now.decode_seconds;
    out.n_kv_blocks = now.n_kv_blocks;
    out.n_kv_blocks_used = now.n_kv_blocks_used;
    out.n_kv_blocks_peak = now.n_kv_blocks_peak;
    out.n_block_tokens = kKvBlockTokens;
    out.n_kv_blocks_on_host = now.stored.n_stored;
    out.n_kv_blocks_to_host = now.stored.n_moved_out;
    out.n_kv_blocks_from_host = now.stored.n_moved_back;
    out.n_kv_blocks_host_dropped = now.stored.n_given_up;
    out.prefix_cache_host_bytes_taken = now.prefix_cache_host_bytes_taken;
    write_struct(stats, out);
    return {};
  });
}

inlay_status inlay_plan_text(const inlay_engine* engine, char* buf, size_t cap, size_t* needed, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    return write_lines(dump(engine->engine->plan(), StepShape{}), buf, cap, needed);
  });
}

inlay_status inlay_log_read(const inlay_engine* engine, uint64_t* cursor, inlay_log_level* level, char* buf, size_t cap,
                            size_t* needed, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_not_null(cursor, "cursor"));
    uint64_t next = *cursor;
    Log::Record record;
    if (!engine->engine->log().read(next, record))
      return error(Code::not_found, "there is no message above %llu", static_cast<unsigned long long>(*cursor));
    if (level) *level = static_cast<inlay_log_level>(record.level);
    INLAY_TRY(write_text(record.text, buf, cap, needed));
    if (buf) *cursor = next;  // a question for the size reads nothing
    return {};
  });
}
