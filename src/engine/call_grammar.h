// The grammar of calls of tools in a chat format, but for those in channels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/constraint/json_language.h"
#include "src/engine/format_language.h"
#include "src/engine/message_demand.h"

namespace inlay {

class CallGrammar {
 public:
  CallGrammar(const ModelChatFormat& format, const MessageDemand& demand, FormatLanguage& parts, constraint::Grammar& grammar,
              const constraint::JsonStyle& style, bool lenient);

  // Errors name what the format cannot write.
  Status check() const;
  // All calls of a message behind their first marker; without(): where that may be missing.
  Result<Symbols> behind_first_marker();
  Result<Symbols> without_first_marker();  // of json and python
  Result<constraint::Symbol> arguments(const DemandedTool& tool);  // as JSON
  std::vector<std::string>& remarks() { return remarks_; }

 private:
  constraint::RegexId one_of(std::string_view characters, uint32_t min, uint32_t max);
  Result<constraint::Symbol> schema(const JsonDocument& document, const JsonValue& value, bool is_object, bool is_needed);
  Symbols call_begin(size_t from) const;
  Symbols call_end() const;
  Result<constraint::Symbol> body();
  Result<Symbols> call(size_t from);
  Symbols others(const Symbols& one);

  Result<constraint::Symbol> json_call(const DemandedTool& tool);
  Result<constraint::Symbol> json_body(bool may_be_array);
  Result<constraint::Symbol> named_body();
  Result<constraint::Symbol> python_body();

  // Of tags and Python, whose arguments are written one by one.
  Status check_parameters(const JsonValue& parameters);
  Status drop(const JsonValue& schema, const char* why, std::string_view keyword);
  Status cannot_be_argument(const JsonMember& property) const;
  bool is_required(const JsonValue& parameters, std::string_view name) const;
  Result<constraint::Symbol> tagged_body();
  Result<Symbols> tagged_parameter(const JsonDocument& parameters, const JsonMember& property, uint8_t types, bool is_needed);
  Result<constraint::RegexId> tagged_text(const JsonValue& property, uint8_t types);

  const ChatFormat& written_;
  const ChatFormat::Calls& calls_;
  const MessageDemand& demand_;
  FormatLanguage& parts_;
  constraint::Grammar& grammar_;
  constraint::RegexStore& store_;
  const constraint::JsonStyle style_;
  const bool lenient_;
  constraint::JsonLanguage language_;
  std::vector<std::string> remarks_;
};

}  // namespace inlay
