#include "src/constraint/formats.h"

#include <iterator>

namespace inlay::constraint {

namespace {

// Replaces <name> by the named part, in parentheses.
struct Part {
  std::string_view name, pattern;
};

std::string filled_in(std::string_view pattern, const Part* parts, size_t n_parts) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const Part* used = nullptr;
    for (size_t p = 0; p < n_parts && pattern[i] == '<'; ++p)
      if (pattern.substr(i + 1).starts_with(parts[p].name) && pattern.substr(i + 1 + parts[p].name.size()).starts_with('>'))
        used = &parts[p];
    if (used == nullptr) {
      out += pattern[i];
      continue;
    }
    out += "(?:" + filled_in(used->pattern, parts, n_parts) + ")";
    i += used->name.size() + 1;
  }
  return out;
}

// RFC 3339, years 0001 to 9999, without leap seconds. A day is one that its month has.
constexpr Part kParts[] = {
    {"year", "\\d{3}[1-9]|\\d{2}[1-9]0|\\d[1-9]00|[1-9]000"},
    {"leap-year", "\\d{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00"},
    {"month-day", "(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8])"},
    {"date", "<year>-<month-day>|<leap-year>-02-29"},
    {"time", "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)"},
    // Durations: weeks, or units in their order, none left out in between.
    {"clock", "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)"},
    {"days", "\\d+D|\\d+M(?:\\d+D)?|\\d+Y(?:\\d+M(?:\\d+D)?)?"},
    {"byte", "25[0-5]|2[0-4]\\d|1\\d{2}|[1-9]?\\d"},
    {"ipv4", "<byte>(?:\\.<byte>){3}"},
    {"group", "[0-9A-Fa-f]{1,4}"},
    {"last", "<group>:<group>|<ipv4>"},
    {"ipv6",
     "(?:<group>:){6}<last>|::(?:<group>:){5}<last>|<group>?::(?:<group>:){4}<last>|"
     "(?:(?:<group>:){0,1}<group>)?::(?:<group>:){3}<last>|(?:(?:<group>:){0,2}<group>)?::(?:<group>:){2}<last>|"
     "(?:(?:<group>:){0,3}<group>)?::<group>:<last>|(?:(?:<group>:){0,4}<group>)?::<last>|"
     "(?:(?:<group>:){0,5}<group>)?::<group>|(?:(?:<group>:){0,6}<group>)?::"},
    {"label", "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"},
    {"hostname", "<label>(?:\\.<label>)*"},
    {"atom", "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"},
    // RFC 3986
    {"escaped", "%[0-9A-Fa-f]{2}"},
    {"user-character", "[A-Za-z0-9._~!$&'()*+,;=:-]|<escaped>"},
    {"name-character", "[A-Za-z0-9._~!$&'()*+,;=-]|<escaped>"},
    {"path-character", "[A-Za-z0-9._~!$&'()*+,;=:@-]|<escaped>"},
    {"first-character", "[A-Za-z0-9._~!$&'()*+,;=@-]|<escaped>"},
    {"host", "\\[<ipv6>\\]|\\[v[0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+\\]|<name-character>*"},
    {"authority", "(?:<user-character>*@)?<host>(?::\\d*)?"},
    {"tail", "(?:\\?(?:<path-character>|[/?])*)?(?:#(?:<path-character>|[/?])*)?"},
    {"path", "//<authority>(?:/<path-character>*)*|/(?:<path-character>+(?:/<path-character>*)*)?|<path-character>+(?:/<path-character>*)*"},
    {"relative", "//<authority>(?:/<path-character>*)*|/(?:<path-character>+(?:/<path-character>*)*)?|<first-character>+(?:/<path-character>*)*"},
    {"uri", "[A-Za-z][A-Za-z0-9+.-]*:<path>?<tail>"},
    // RFC 6570
    {"literal", "[^\\u0000- \"'%<>\\\\^`{|}\\u007f-\\u009f]|<escaped>"},
    {"variable-character", "[A-Za-z0-9_]|<escaped>"},
    {"variable", "<variable-character>(?:\\.?<variable-character>)*(?:\\*|:[1-9]\\d{0,3})?"},
    {"expression", "\\{[+#./;?&=,!@|]?<variable>(?:,<variable>)*\\}"},
    // RFC 6901
    {"pointer", "(?:/(?:[^/~]|~[01])*)*"},
};

struct Format {
  std::string_view name, pattern;
};

constexpr Format kFormats[] = {
    {"date-time", "<date>T<time>"},
    {"date", "<date>"},
    {"time", "<time>"},
    {"duration", "P(?:<days><clock>?|<clock>|\\d+W)"},
    {"uuid", "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"},
    {"email", "<atom>(?:\\.<atom>)*@<hostname>"},
    {"hostname", "<hostname>"},
    {"ipv4", "<ipv4>"},
    {"ipv6", "<ipv6>"},
    {"uri", "<uri>"},
    {"uri-reference", "<uri>|<relative>?<tail>"},
    {"uri-template", "(?:<literal>|<expression>)*"},
    {"json-pointer", "<pointer>"},
    {"relative-json-pointer", "(?:0|[1-9]\\d*)(?:#|<pointer>)"},
};

}  // namespace

std::optional<std::string> format_pattern(std::string_view name) {
  for (const Format& format : kFormats)
    if (format.name == name) return filled_in(format.pattern, kParts, std::size(kParts));
  return {};
}

}  // namespace inlay::constraint
