#include "src/engine/message_grammar.h"

#include <iterator>
#include <set>
#include <utility>

#include "src/constraint/json_schema.h"
#include "src/engine/call_grammar.h"

namespace inlay {
namespace {

using constraint::Grammar;
using constraint::JsonStyle;
using constraint::kAnyText;
using constraint::RegexId;
using constraint::Symbol;
using constraint::terminal;
using Calls = MessageDemand::Calls;
using Open = ChatParser::Open;
using Written = ChatFormat::Written;

class MessageWriter {
 public:
  MessageWriter(const ModelChatFormat& format, const MessageDemand& demand, const JsonStyle& style, bool lenient)
      : format_(*format.vocabulary.format()), demand_(demand), style_(of_content(style)), lenient_(lenient), store_(grammar_.regexes), parts_(format, grammar_),
        calls_(format, demand, parts_, grammar_, style, lenient), language_(grammar_, style_) {}

  Result<MessageGrammar> run(Open open) {
    if (open == Open::call) return error(Code::invalid_argument, "params.prompt begins a call of a tool, which a constraint cannot go on with");
    if (demand_.calls != Calls::never) INLAY_TRY(calls_.check());
    INLAY_TRY(check_limit());
    INLAY_ASSIGN(const Symbol start, format_.channels.used() ? of_channels(open) : of_markers(open));
    grammar_.start = grammar_.add_rule("message");
    grammar_.add_production(grammar_.start, {start});
    MessageGrammar out{std::move(grammar_), std::move(remarks_)};
    std::move(calls_.remarks().begin(), calls_.remarks().end(), std::back_inserter(out.remarks));
    std::set<std::string> seen;  // a schema is compiled wherever it may be written
    std::erase_if(out.remarks, [&](const std::string& remark) { return !seen.insert(remark).second; });
    return out;
  }

 private:
  Symbols line() { return {terminal(parts_.line())}; }
  Symbols lines() { return {terminal(parts_.lines())}; }
  // In front of the content, where reasoning may have been.
  Symbols before_content() { return format_.reasoning_begin.empty() ? Symbols() : lines(); }

  // No string of it has letters by which a call begins, or the content ends.
  JsonStyle of_content(JsonStyle style) const {
    style.excluded = format_.channels.used() ? channel_letters() : written_begins(nullptr);
    if (!format_.content_end.empty() && !format_.content_end.is_token) style.excluded.push_back(format_.content_end.text);
    return style;
  }

  bool has_schema() const { return demand_.content_schema || demand_.is_json; }
  Result<Symbol> schema() {
    if (demand_.is_json) return language_.any_object();
    INLAY_ASSIGN(constraint::AddedSchema added, constraint::add_json_schema(grammar_, language_, *demand_.content_schema, demand_.content_schema->root(), false,
                                                                            {.style = style_, .lenient = lenient_}));
    std::move(added.remarks.begin(), added.remarks.end(), std::back_inserter(remarks_));
    return added.symbol;
  }

  Status check_limit() {
    if (!demand_.max_reasoning || format_.has_reasoning()) return {};
    const std::string why = "message.reasoning: the chat format '" + format_.name + "' has no reasoning that could be limited";
    if (!lenient_) return error(Code::unsupported, "%s", why.c_str());
    remarks_.push_back(why);
    return {};
  }
  Symbols reasoning_until(RegexId text, const Marker& end) {
    return demand_.max_reasoning ? parts_.until_limited(text, end, *demand_.max_reasoning) : parts_.until(text, end);
  }

  // ---- formats with markers

  const Marker& first_marker() const {
    const ChatFormat::Calls& calls = format_.calls;
    return !calls.section_begin.empty() || calls.begin.empty() ? calls.section_begin : calls.begin[0];
  }

  // The letters by which a call begins that are no token, but for those of `except`.
  std::vector<std::string> written_begins(const Marker* except) const {
    const ChatFormat::Calls& calls = format_.calls;
    std::vector<std::string> out;
    const auto add = [&](const Marker& marker) {
      if (!marker.empty() && !marker.is_token && !(except && marker.text == except->text)) out.push_back(marker.text);
    };
    add(calls.section_begin);
    if (!calls.begin.empty()) add(calls.begin[0]);
    if (calls.bare && calls.begin.size() > 1) add(calls.begin[1]);
    return out;
  }

  // Text that is content for the parser, and neither reasoning nor a call, but for what may follow.
  RegexId content_text(const Marker* except) {
    RegexId out = parts_.without(parts_.characters(), written_begins(except));
    if (!format_.reasoning_begin.empty() && !format_.reasoning_begin.is_token) out = parts_.not_beginning(out, store_.literal(format_.reasoning_begin.text));
    if (!format_.calls.bare) return out;
    if (format_.calls.written == Written::json) return parts_.not_beginning(out, store_.byte('{'));
    if (format_.calls.written != Written::python) return out;
    std::vector<std::string> names;
    for (const DemandedTool& tool : demand_.tools) names.push_back(tool.name + format_.calls.name_suffix);
    if (names.empty()) return out;
    return parts_.not_beginning(out, store_.concat({store_.byte('['), parts_.blanks(), store_.literals(std::move(names)), parts_.blanks(), store_.byte('(')}));
  }

  // The content and what stands around it.
  Result<Symbol> content() {
    std::vector<Symbols> out;
    if (has_schema()) {
      INLAY_ASSIGN(const Symbol value, schema());
      out.push_back(joined({before_content(), {value}}));
      if (!format_.content_begin.empty())
        out.push_back(joined({lines(), {parts_.mark(format_.content_begin)}, lines(), {value}, lines(),
                              {parts_.optional({parts_.mark(format_.content_end)})}}));
      return parts_.any_of(out);
    }
    const RegexId text = content_text(nullptr);
    out.push_back({terminal(text)});
    if (!format_.content_begin.empty()) {
      const RegexId inner = parts_.without(parts_.characters(), written_begins(nullptr));
      const Symbols begin = joined({lines(), {parts_.mark(format_.content_begin)}});
      out.push_back(joined({begin, parts_.until(inner, format_.content_end)}));
      out.push_back(joined({begin, {terminal(format_.content_end.is_token ? inner : parts_.without(inner, {format_.content_end.text}))}}));
    }
    return parts_.any_of(out);
  }

  // All that may follow reasoning.
  Result<Symbol> body() {
    std::vector<Symbols> out;
    if (demand_.calls != Calls::must) {
      INLAY_ASSIGN(const Symbol text, content());
      out.push_back({text});
    }
    if (demand_.calls == Calls::never) return parts_.any_of(out);
    const Marker& first = first_marker();
    if (!first.empty()) {
      INLAY_ASSIGN(const Symbols rest, calls_.behind_first_marker());
      const bool after_text = demand_.calls == Calls::may && !has_schema();
      out.push_back(joined({after_text ? parts_.until(content_text(&first), first) : joined({lines(), {parts_.mark(first)}}), rest}));
    }
    if (format_.calls.bare && format_.calls.written != Written::tagged) {
      INLAY_ASSIGN(const Symbols bare, calls_.without_first_marker());
      out.push_back(joined({lines(), bare}));
    }
    return parts_.any_of(out);
  }

  Result<Symbol> of_markers(Open open) {
    INLAY_ASSIGN(const Symbol rest, body());
    if (format_.reasoning_begin.empty() || open == Open::content) return rest;
    const Symbols reasoning = joined({reasoning_until(parts_.characters(), format_.reasoning_end), {rest}});
    if (open == Open::reasoning) return parts_.any_of({reasoning});
    return parts_.any_of({{rest}, joined({lines(), {parts_.mark(format_.reasoning_begin)}, reasoning})});
  }

  // ---- messages with headers

  // What ends a turn: all ends but the first, if there are several.
  Symbol turn_end() {
    const std::vector<Marker>& ends = format_.channels.end;
    std::vector<Symbols> out{Symbols()};
    for (size_t i = ends.size() > 1 ? 1 : 0; i < ends.size(); ++i) out.push_back({parts_.mark(ends[i])});
    return parts_.any_of(out);
  }

  Symbols header(const std::string& channel) {
    return {parts_.mark(format_.channels.channel), parts_.literal(channel), parts_.mark(format_.channels.body)};
  }

  // Ends a message and begins the next one of the turn.
  Symbols next_message() {
    const ChatFormat::Channels& channels = format_.channels;
    return {parts_.mark(channels.begin), parts_.literal(channels.role)};
  }
  std::vector<std::string> channel_letters() const {
    const ChatFormat::Channels& channels = format_.channels;
    std::vector<std::string> out;
    for (const Marker* marker : {&channels.begin, &channels.channel})
      if (!marker->is_token) out.push_back(marker->text);
    for (const Marker& marker : channels.end)
      if (!marker.is_token) out.push_back(marker.text);
    return out;
  }
  RegexId channel_text() { return parts_.without(parts_.characters(), channel_letters()); }

  Result<Symbol> channel_content() {
    if (!has_schema()) return terminal(channel_text());
    return schema();
  }

  // commentary to=functions.NAME <|constrain|>json<|message|>{...}<|call|>
  Result<Symbol> channel_call() {
    const ChatFormat::Channels& channels = format_.channels;
    if (channels.recipient.empty()) return error(Code::unsupported, "the chat format '%s' has no calls of tools", format_.name.c_str());
    std::vector<Symbols> out;
    for (const DemandedTool& tool : demand_.tools) {
      INLAY_ASSIGN(const Symbol given, calls_.arguments(tool));
      Symbols head{parts_.mark(channels.channel), parts_.literal(channels.content.back() + " " + channels.recipient + channels.tool_prefix + tool.name)};
      if (!channels.constraint.empty()) head.push_back(parts_.optional({parts_.literal(" "), parts_.mark(channels.constraint), parts_.literal("json")}));
      out.push_back(joined({head, {parts_.mark(channels.body), given}}));
    }
    return parts_.any_of(out);
  }

  // Reasoning, any number of times; once if it is limited. `text`: what stands between header and next message.
  Symbol channel_reasoning(const Symbols& text) {
    std::vector<Symbols> out;
    for (const std::string& channel : format_.channels.reasoning) out.push_back(joined({header(channel), text, next_message()}));
    if (out.empty()) return terminal(constraint::kEmptyText);
    return demand_.max_reasoning ? parts_.optional({parts_.any_of(out)}) : parts_.repeated({parts_.any_of(out)});
  }

  Result<Symbol> of_channels(Open open) {
    const ChatFormat::Channels& channels = format_.channels;
    INLAY_ASSIGN(const Symbol text, channel_content());
    std::vector<Symbols> last;
    if (demand_.calls != Calls::must) last.push_back(joined({header(channels.content[0]), {text, turn_end()}}));
    if (demand_.calls != Calls::never) {
      INLAY_ASSIGN(const Symbol one, channel_call());
      last.push_back({one, turn_end()});
    }
    const Symbol end = parts_.any_of(last);
    if (open == Open::content && demand_.calls != Calls::must) return parts_.any_of({{text, turn_end()}});
    const bool is_limited = demand_.max_reasoning.has_value();
    const Symbols free{terminal(channel_text()), parts_.mark(channels.end[0])};
    const Symbols reasoning = is_limited ? parts_.until_limited(channel_text(), channels.end[0], *demand_.max_reasoning) : free;
    if (open == Open::nothing) return parts_.any_of({{channel_reasoning(reasoning), end}});
    const Symbols begun = joined({open == Open::reasoning ? reasoning : free, next_message()});
    if (open == Open::reasoning && is_limited) return parts_.any_of({joined({begun, {end}})});
    return parts_.any_of({joined({begun, {channel_reasoning(reasoning), end}})});
  }

  const ChatFormat& format_;
  const MessageDemand& demand_;
  const JsonStyle style_;
  const bool lenient_;
  Grammar grammar_;
  constraint::RegexStore& store_;
  FormatLanguage parts_;
  CallGrammar calls_;
  constraint::JsonLanguage language_;
  std::vector<std::string> remarks_;
};

}  // namespace

Result<MessageGrammar> message_grammar(const ModelChatFormat& format, const MessageDemand& demand, Open open, const JsonStyle& style, bool lenient) {
  return MessageWriter(format, demand, style, lenient).run(open);
}

}  // namespace inlay
