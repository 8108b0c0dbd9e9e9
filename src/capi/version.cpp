#include "src/capi/exported.h"
#include "src/engine/engine.h"

namespace inlay::capi {
namespace {

template <class E>
constexpr bool same(E ours, int32_t theirs) {
  return static_cast<int32_t>(ours) == theirs;
}

static_assert(same(Code::ok, INLAY_OK) && same(Code::invalid_argument, INLAY_INVALID_ARGUMENT) &&
              same(Code::not_found, INLAY_NOT_FOUND) && same(Code::io, INLAY_IO) && same(Code::format, INLAY_FORMAT) &&
              same(Code::unsupported, INLAY_UNSUPPORTED) && same(Code::out_of_memory, INLAY_OUT_OF_MEMORY) &&
              same(Code::device_out_of_memory, INLAY_DEVICE_OUT_OF_MEMORY) &&
              same(Code::context_full, INLAY_CONTEXT_FULL) && same(Code::kv_full, INLAY_KV_FULL) &&
              same(Code::buffer_too_small, INLAY_BUFFER_TOO_SMALL) && same(Code::cancelled, INLAY_CANCELLED) &&
              same(Code::busy, INLAY_BUSY) && same(Code::no_device, INLAY_NO_DEVICE) &&
              same(Code::device_lost, INLAY_DEVICE_LOST) && same(Code::internal, INLAY_INTERNAL) &&
              same(Code::session_limit, INLAY_SESSION_LIMIT) && same(Code::invalid_state, INLAY_INVALID_STATE) &&
              same(Code::queue_full, INLAY_QUEUE_FULL));
static_assert(same(DeviceKind::automatic, INLAY_DEVICE_AUTO) && same(DeviceKind::cpu, INLAY_DEVICE_CPU) &&
              same(DeviceKind::cuda, INLAY_DEVICE_CUDA) && same(DeviceKind::reference, INLAY_DEVICE_REFERENCE));
static_assert(same(LogLevel::error, INLAY_LOG_ERROR) && same(LogLevel::warning, INLAY_LOG_WARNING) &&
              same(LogLevel::info, INLAY_LOG_INFO) && same(LogLevel::debug, INLAY_LOG_DEBUG));
static_assert(same(FinishReason::none, INLAY_FINISH_NONE) &&
              same(FinishReason::end_of_generation, INLAY_FINISH_END_OF_GENERATION) &&
              same(FinishReason::stop_string, INLAY_FINISH_STOP_STRING) &&
              same(FinishReason::max_tokens, INLAY_FINISH_MAX_TOKENS) &&
              same(FinishReason::cancelled, INLAY_FINISH_CANCELLED) &&
              same(FinishReason::stop_token, INLAY_FINISH_STOP_TOKEN) &&
              same(FinishReason::context_full, INLAY_FINISH_CONTEXT_FULL) && same(FinishReason::timeout, INLAY_FINISH_TIMEOUT) &&
              same(FinishReason::error, INLAY_FINISH_ERROR) && same(FinishReason::constraint_end, INLAY_FINISH_CONSTRAINT_END) &&
              same(FinishReason::dead_end, INLAY_FINISH_DEAD_END) && same(FinishReason::prefilled, INLAY_FINISH_PREFILLED) &&
              same(FinishReason::embedded, INLAY_FINISH_EMBEDDED));
static_assert(same(ConstraintStand::none, INLAY_CONSTRAINT_STATE_NONE) && same(ConstraintStand::incomplete, INLAY_CONSTRAINT_STATE_INCOMPLETE) &&
              same(ConstraintStand::complete, INLAY_CONSTRAINT_STATE_COMPLETE) && same(ConstraintStand::dead, INLAY_CONSTRAINT_STATE_DEAD));
static_assert(same(ConstraintSource::Kind::json_schema, INLAY_CONSTRAINT_JSON_SCHEMA) && same(ConstraintSource::Kind::any_json, INLAY_CONSTRAINT_ANY_JSON) &&
              same(ConstraintSource::Kind::gbnf, INLAY_CONSTRAINT_GBNF) && same(ConstraintSource::Kind::regex, INLAY_CONSTRAINT_REGEX) &&
              same(ConstraintSource::Kind::choices, INLAY_CONSTRAINT_CHOICES) && same(ConstraintSource::Kind::message, INLAY_CONSTRAINT_MESSAGE));
static_assert(same(ChatDelta::Kind::reasoning, INLAY_CHAT_DELTA_REASONING) && same(ChatDelta::Kind::content, INLAY_CHAT_DELTA_CONTENT) &&
              same(ChatDelta::Kind::call_begin, INLAY_CHAT_DELTA_CALL_BEGIN) && same(ChatDelta::Kind::call_id, INLAY_CHAT_DELTA_CALL_ID) &&
              same(ChatDelta::Kind::arguments, INLAY_CHAT_DELTA_ARGUMENTS) && same(ChatDelta::Kind::call_end, INLAY_CHAT_DELTA_CALL_END));
static_assert(same(TokenKind::normal, INLAY_TOKEN_NORMAL) && same(TokenKind::unknown, INLAY_TOKEN_UNKNOWN) &&
              same(TokenKind::control, INLAY_TOKEN_CONTROL) &&
              same(TokenKind::user_defined, INLAY_TOKEN_USER_DEFINED) && same(TokenKind::unused, INLAY_TOKEN_UNUSED) &&
              same(TokenKind::byte, INLAY_TOKEN_BYTE));
static_assert(kMaxLogprobs == INLAY_MAX_LOGPROBS && sizeof(TokenLogprob) == sizeof(inlay_token_logprob));

constexpr const char* kStatusNames[] = {"OK",
                                        "INVALID_ARGUMENT",
                                        "NOT_FOUND",
                                        "IO",
                                        "FORMAT",
                                        "UNSUPPORTED",
                                        "OUT_OF_MEMORY",
                                        "DEVICE_OUT_OF_MEMORY",
                                        "CONTEXT_FULL",
                                        "KV_FULL",
                                        "BUFFER_TOO_SMALL",
                                        "CANCELLED",
                                        "BUSY",
                                        "NO_DEVICE",
                                        "DEVICE_LOST",
                                        "INTERNAL",
                                        "SESSION_LIMIT",
                                        "INVALID_STATE",
                                        "QUEUE_FULL"};
constexpr inlay_status kLastStatus = INLAY_QUEUE_FULL;
static_assert(sizeof kStatusNames / sizeof *kStatusNames == kLastStatus + 1);

}  // namespace
}  // namespace inlay::capi

const char* inlay_version_string(void) { return INLAY_VERSION_STRING; }

uint32_t inlay_abi_version(void) { return uint32_t{INLAY_ABI_MAJOR} << 16 | INLAY_ABI_MINOR; }

const char* inlay_status_name(inlay_status status) {
  if (status < 0 || status > inlay::capi::kLastStatus) return "UNKNOWN";
  return inlay::capi::kStatusNames[status];
}
