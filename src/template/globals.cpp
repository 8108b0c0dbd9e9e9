// Functions that every template has: range, dict, namespace, cycler, joiner, raise_exception, strftime_now.
#include <algorithm>
#include <array>

#include "src/base/format.h"
#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/python_text.h"

namespace inlay::tmpl {

namespace {

class Function : public Object {
 public:
  using Body = Result<Value> (*)(Run&, const Arguments&);
  explicit Function(Body body) : body_(body) {}
  const char* type_name() const override { return "function"; }
  bool callable() const override { return true; }
  Result<Value> call(Run& run, const Arguments& arguments) override { return body_(run, arguments); }

 private:
  Body body_;
};

class Cycler : public Object {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}
  const char* type_name() const override { return "Cycler"; }
  std::optional<Value> attribute(Run& run, std::string_view name) override;
  const std::vector<Value>& items() const { return items_; }
  size_t at = 0;

 private:
  std::vector<Value> items_;
};

class CyclerMethod : public Object {
 public:
  CyclerMethod(Cycler& cycler, bool resets) : cycler_(cycler), resets_(resets) {}
  const char* type_name() const override { return "method"; }
  bool callable() const override { return true; }
  Result<Value> call(Run&, const Arguments&) override {
    if (resets_) {
      cycler_.at = 0;
      return Value();
    }
    const size_t at = std::exchange(cycler_.at, (cycler_.at + 1) % cycler_.items().size());
    return cycler_.items()[at];
  }

 private:
  Cycler& cycler_;
  bool resets_;
};

std::optional<Value> Cycler::attribute(Run& run, std::string_view name) {
  if (name == "current") return items_[at];
  if (name == "next" || name == "reset") return Value(run.make<CyclerMethod>(*this, name == "reset"));
  return std::nullopt;
}

// Empty at its first call, the separator at all others.
class Joiner : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}
  const char* type_name() const override { return "Joiner"; }
  bool callable() const override { return true; }
  Result<Value> call(Run& run, const Arguments&) override {
    if (!std::exchange(used_, true)) return Value(std::string());
    INLAY_TRY(run.charge(separator_.weight()));
    return separator_;
  }

 private:
  const Value separator_;
  bool used_ = false;
};

Result<Value> range(Run& run, const Arguments& arguments) {
  if (!arguments.named.empty() || arguments.positional.empty() || arguments.positional.size() > 3)
    return type_error("range takes one to three arguments, none of them named");
  std::array<int64_t, 3> bounds = {0, 0, 1};
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    const Value& value = arguments.positional[i];
    if (value.is_undefined()) return undefined_error(value);
    if (!value.is_integral()) return type_error("'%s' object cannot be interpreted as an integer", value.type_name());
    bounds[arguments.positional.size() == 1 ? 1 : i] = value.integer();
  }
  const auto [begin, end, step] = bounds;
  if (step == 0) return type_error("range() arg 3 must not be zero");
  std::vector<Value> items;
  for (int64_t i = begin; step < 0 ? i > end : i < end;) {
    if (static_cast<int64_t>(items.size()) >= run.limits.range_items)
      return error(Code::unsupported, "a range of more than %lld items",
                   static_cast<long long>(run.limits.range_items));
    items.push_back(Value(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  INLAY_TRY(run.charge(items.size()));
  return Value(List{.items = std::move(items), .kind = ListKind::range, .range = {begin, end, step}});
}

Result<Map> map_of(Run& run, const Arguments& arguments, const char* function) {
  Map out;
  if (arguments.positional.size() > 1) return type_error("%s takes at most one argument that is not named", function);
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is_undefined()) return undefined_error(source);
    if (source.is(Kind::map)) {
      INLAY_TRY(run.charge(source.map().size()));
      out = source.map();
    } else {
      INLAY_ASSIGN(const auto pairs, run.iterate(source));
      for (const Value& pair : pairs) {
        INLAY_ASSIGN(const auto both, run.iterate(pair));
        if (both.size() != 2) return type_error("%s needs pairs of a key and a value", function);
        INLAY_TRY(run.set(out, both[0], both[1]));
      }
    }
  }
  for (const auto& [key, value] : arguments.named) INLAY_TRY(run.set(out, Value(key), value));
  return out;
}

Result<Value> dict(Run& run, const Arguments& arguments) {
  INLAY_ASSIGN(Map out, map_of(run, arguments, "dict"));
  return run.map(std::move(out));
}

Result<Value> make_namespace(Run& run, const Arguments& arguments) {
  INLAY_ASSIGN(Map values, map_of(run, arguments, "namespace"));
  INLAY_TRY(run.charge(4));
  auto* out = run.make<Namespace>();
  out->values = std::move(values);
  return Value(out);
}

Result<Value> cycler(Run& run, const Arguments& arguments) {
  if (arguments.positional.empty() || !arguments.named.empty()) return type_error("cycler needs at least one item");
  INLAY_TRY(run.charge(4 + arguments.positional.size()));
  return Value(run.make<Cycler>(arguments.positional));
}

Result<Value> joiner(Run& run, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "joiner", {"sep"}));
  INLAY_TRY(run.charge(4));
  return Value(run.make<Joiner>(bound.has(0) ? bound[0] : Value(std::string(", "))));
}

Result<Value> raise_exception(Run& run, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "raise_exception", {"message"}, 1));
  INLAY_ASSIGN(const std::string message, to_text(run, bound[0]));
  return error(Code::invalid_argument, "the template refuses the conversation: %s", message.c_str());
}

constexpr const char* kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr const char* kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                   "July",    "August",   "September", "October", "November", "December"};

// One field of strftime with `pad` in front of single digits; English, whatever the host's locale is. False if unknown.
bool append_time(const std::tm& now, char field, const char* pad, std::string& out) {
  const auto number = [&](int value, int width) {
    const std::string digits = std::to_string(value);
    for (int n = static_cast<int>(digits.size()); n < width; ++n) out += pad;
    out += digits;
  };
  const int hour = now.tm_hour % 12 ? now.tm_hour % 12 : 12;
  switch (field) {
    case 'Y':
      return number(now.tm_year + 1900, 4), true;
    case 'y':
      return number(now.tm_year % 100, 2), true;
    case 'm':
      return number(now.tm_mon + 1, 2), true;
    case 'd':
      return number(now.tm_mday, 2), true;
    case 'e':
      pad = *pad ? " " : "";
      return number(now.tm_mday, 2), true;
    case 'H':
      return number(now.tm_hour, 2), true;
    case 'I':
      return number(hour, 2), true;
    case 'M':
      return number(now.tm_min, 2), true;
    case 'S':
      return number(now.tm_sec, 2), true;
    case 'j':
      return number(now.tm_yday + 1, 3), true;
    case 'w':
      return number(now.tm_wday, 1), true;
    case 'A':
      return out += kDays[now.tm_wday], true;
    case 'a':
      return out += std::string_view(kDays[now.tm_wday]).substr(0, 3), true;
    case 'B':
      return out += kMonths[now.tm_mon], true;
    case 'b':
    case 'h':
      return out += std::string_view(kMonths[now.tm_mon]).substr(0, 3), true;
    case 'p':
      return out += now.tm_hour < 12 ? "AM" : "PM", true;
    case '%':
      return out += '%', true;
    default:
      return false;
  }
}

// Fields that stand for several.
std::string_view compound(char field) {
  switch (field) {
    case 'F':
      return "%Y-%m-%d";
    case 'T':
    case 'X':
      return "%H:%M:%S";
    case 'R':
      return "%H:%M";
    case 'D':
    case 'x':
      return "%m/%d/%y";
    default:
      return "";
  }
}

Status append_strftime(const std::tm& now, std::string_view format, std::string& out) {
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      out += format[i];
      continue;
    }
    const char* pad = "0";
    if (format[++i] == '-' && i + 1 < format.size()) pad = "", ++i;
    if (const std::string_view several = compound(format[i]); !several.empty()) {
      INLAY_TRY(append_strftime(now, several, out));
    } else if (!append_time(now, format[i], pad, out)) {
      return error(Code::unsupported, "strftime_now: the field %%%c is not supported", format[i]);
    }
  }
  return {};
}

Result<Value> strftime_now(Run& run, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "strftime_now", {"format"}, 1));
  INLAY_ASSIGN(const std::string_view format, bound.text(0));
  std::string out;
  INLAY_TRY(append_strftime(run.now, format, out));
  return run.text(std::move(out));
}

constexpr Named<Function::Body> kGlobals[] = {{"range", range},
                                              {"dict", dict},
                                              {"cycler", cycler},
                                              {"joiner", joiner},
                                              {"namespace", make_namespace},
                                              {"raise_exception", raise_exception},
                                              {"strftime_now", strftime_now}};

}  // namespace

Object* make_global(Run& run, std::string_view name) {
  for (const auto& known : kGlobals)
    if (known.name == name) return run.make<Function>(known.function);
  return nullptr;
}

}  // namespace inlay::tmpl
