#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

Status read_choices(const inlay_constraint_params& params, std::vector<std::string>& out) {
  constexpr size_t kMost = 65536;
  if (params.n_choices > kMost) return error(Code::invalid_argument, "params.n_choices is %zu, expected at most %zu", params.n_choices, kMost);
  if (params.n_choices != 0) INLAY_TRY(check_not_null(params.choices, "params.choices"));
  for (size_t i = 0; i < params.n_choices; ++i) {
    INLAY_ASSIGN(const std::string_view text, read_text(params.choices[i].data, params.choices[i].len, "a choice"));
    if (text.empty()) return error(Code::invalid_argument, "choice %zu is empty", i);
    out.emplace_back(text);
  }
  return {};
}

Status read_params(const inlay_constraint_params* given, ConstraintSource& out) {
  inlay_constraint_params params;
  INLAY_TRY(read_struct(given, "params", params));
  INLAY_TRY(check_range(params.kind, INLAY_CONSTRAINT_JSON_SCHEMA, INLAY_CONSTRAINT_MESSAGE, "params.kind"));
  INLAY_TRY(check_flags(params.flags, INLAY_CONSTRAINT_FLAG_COMPACT | INLAY_CONSTRAINT_FLAG_ESCAPES | INLAY_CONSTRAINT_FLAG_LENIENT, "params.flags"));
  if (params.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
  const bool has_json = params.kind == INLAY_CONSTRAINT_JSON_SCHEMA || params.kind == INLAY_CONSTRAINT_ANY_JSON || params.kind == INLAY_CONSTRAINT_MESSAGE;
  if (params.flags != 0 && !has_json) return error(Code::invalid_argument, "params.flags is set, and params.kind writes no JSON");
  out.kind = static_cast<ConstraintSource::Kind>(params.kind);
  out.compact = (params.flags & INLAY_CONSTRAINT_FLAG_COMPACT) != 0;
  out.escapes = (params.flags & INLAY_CONSTRAINT_FLAG_ESCAPES) != 0;
  out.lenient = (params.flags & INLAY_CONSTRAINT_FLAG_LENIENT) != 0;
  const bool has_text = params.kind != INLAY_CONSTRAINT_ANY_JSON && params.kind != INLAY_CONSTRAINT_CHOICES;
  INLAY_ASSIGN(const std::string_view text, read_text(params.text, params.text_len, "params.text"));
  if (has_text != (params.text != nullptr)) return error(Code::invalid_argument, has_text ? "params.text is NULL" : "params.text is of another kind of constraint");
  out.text = text;
  if ((params.kind == INLAY_CONSTRAINT_CHOICES) != (params.n_choices != 0))
    return error(Code::invalid_argument, params.n_choices == 0 ? "params.n_choices is 0" : "params.choices are of another kind of constraint");
  INLAY_ASSIGN(const std::span<const int32_t> prompt, read_tokens(params.prompt, params.n_prompt, "params.prompt"));
  out.prompt.assign(prompt.begin(), prompt.end());
  INLAY_ASSIGN(const std::string_view format, read_text(params.format, params.format_len, "params.format"));
  if (params.format) out.format = format;
  INLAY_ASSIGN(const std::string_view chat_template, read_text(params.chat_template, params.template_len, "params.chat_template"));
  if (params.chat_template) out.chat_template = chat_template;
  if (params.kind != INLAY_CONSTRAINT_MESSAGE) {
    const char* const other = !prompt.empty() ? "prompt" : params.format ? "format" : params.chat_template ? "chat_template" : nullptr;
    if (other) return error(Code::invalid_argument, "params.%s is of another kind of constraint", other);
  }
  return read_choices(params, out.choices);
}

}  // namespace

Result<std::shared_ptr<const constraint::Constraint>> read_constraint(const inlay_constraint* given, const char* name) {
  if (!given) return std::shared_ptr<const constraint::Constraint>();
  Use<inlay_constraint> use;
  INLAY_TRY(use.begin(given, name));
  return given->made.constraint;
}

}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_constraint_create(const inlay_engine* engine, const inlay_constraint_params* params, inlay_constraint** constraint, inlay_error* err) {
  clear(constraint);
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_not_null(params, "params"));
    INLAY_TRY(check_not_null(constraint, "constraint"));
    ConstraintSource source;
    INLAY_TRY(read_params(params, source));
    auto handle = std::make_unique<inlay_constraint>();
    handle->shared = std::make_shared<Shared>();
    INLAY_ASSIGN(handle->made, engine->engine->make_constraint(std::move(source)));
    *constraint = handle.release();
    return {};
  });
}

void inlay_constraint_free(inlay_constraint* constraint) { free_handle(constraint); }

inlay_status inlay_constraint_get_info(const inlay_constraint* constraint, inlay_constraint_info* info, inlay_error* err) {
  return guarded<inlay_constraint>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(constraint, "constraint"));
    INLAY_TRY(check_out_struct(info, "info"));
    inlay_constraint_info out = {};
    out.n_remarks = static_cast<int32_t>(constraint->made.remarks.size());
    out.memory_bytes = constraint->made.constraint->memory();
    write_struct(info, out);
    return {};
  });
}

inlay_status inlay_constraint_get_remark(const inlay_constraint* constraint, size_t index, char* buf, size_t cap, size_t* needed, inlay_error* err) {
  return guarded<inlay_constraint>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(constraint, "constraint"));
    const std::vector<std::string>& remarks = constraint->made.remarks;
    if (index >= remarks.size()) return error(Code::not_found, "there are %zu remarks, and none of number %zu", remarks.size(), index);
    return write_lines(remarks[index], buf, cap, needed);
  });
}

inlay_status inlay_session_get_forced_text(inlay_session* session, char* buf, size_t cap, size_t* needed, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_ASSIGN(const std::string text, session->session->forced_text());
    return write_text(text, buf, cap, needed);
  });
}

inlay_status inlay_session_set_constraint(inlay_session* session, const inlay_constraint* constraint, const char* written, size_t written_len, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_ASSIGN(auto given, read_constraint(constraint, "constraint"));
    INLAY_ASSIGN(const std::string_view text, read_text(written, written_len, "written"));
    if (!constraint && !text.empty()) return error(Code::invalid_argument, "written is given without a constraint");
    return session->session->set_constraint(std::move(given), text);
  });
}
