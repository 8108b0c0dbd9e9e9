#include "examples/cli/options.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "examples/cli/failure.h"

namespace inlay::cli {
namespace {

template <class T>
bool parse_whole(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && stop == end;
}

std::string range_text(const char* kind, const std::string& low, const std::string& high) {
  return std::string(kind) + " from " + low + " to " + high;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

}  // namespace

std::string short_number(double x) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, x, std::chars_format::general, 6).ptr);
}

bool parse_integer(const std::string& text, int64_t low, int64_t high, int64_t& value) {
  return parse_whole(text, value) && value >= low && value <= high;
}

void Options::add(const char* names, std::string value_name, std::string expected, const char* help, Take take) {
  options_.push_back({split(names, ' '), std::move(value_name), std::move(expected), help, std::move(take)});
}

void Options::flag(const char* names, bool& target, const char* help) {
  add(names, "", "", help, [&target](const std::string&) { return target = true; });
}

void Options::integer(const char* names, int32_t& target, int32_t low, int32_t high, const char* help) {
  add(names, "N", range_text("a whole number", std::to_string(low), std::to_string(high)), help,
      [&target, low, high](const std::string& text) {
        int64_t value = 0;
        if (!parse_integer(text, low, high, value)) return false;
        target = static_cast<int32_t>(value);
        return true;
      });
}

void Options::seed(const char* names, uint64_t& target, bool& given, const char* help) {
  add(names, "N", "a whole number from 0 to 2^64 - 1, or -1 for one that changes", help, [&](const std::string& text) {
    given = text != "-1";
    return !given || parse_whole(text, target);
  });
}

void Options::real(const char* names, double& target, double low, double high, const char* help) {
  add(names, "X", range_text("a number", short_number(low), short_number(high)), help,
      [&target, low, high](const std::string& text) {
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, target);
        return read.ec == std::errc() && read.ptr == end && target >= low && target <= high;  // a NaN is in no range
      });
}

void Options::text(const char* names, const char* value_name, std::string& target, bool* given, const char* help) {
  add(names, value_name, "text", help, [&target, given](const std::string& text) {
    target = text;
    if (given) *given = true;
    return true;
  });
}

void Options::texts(const char* names, const char* value_name, std::vector<std::string>& target, const char* help) {
  add(names, value_name, "text that is not empty", help, [&target](const std::string& text) {
    target.push_back(text);
    return !text.empty();
  });
}

void Options::choice(const char* names, std::vector<std::string> choices, int32_t& target, const char* help) {
  std::string expected = "one of", value_name;
  for (const std::string& c : choices) {
    expected += (value_name.empty() ? " " : ", ") + c;
    value_name += (value_name.empty() ? "" : "|") + c;
  }
  add(names, value_name, expected, help, [&target, choices = std::move(choices)](const std::string& text) {
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] != text) continue;
      target = static_cast<int32_t>(i);
      return true;
    }
    return false;
  });
}

void Options::integers(const char* names, std::vector<int32_t>& target, int32_t low, int32_t high, const char* help) {
  const std::string expected = range_text("whole numbers", std::to_string(low), std::to_string(high));
  add(names, "LIST", expected + ", with commas between, or none", help, [&target, low, high](const std::string& text) {
    target.clear();
    if (text == "none") return true;
    for (const std::string& part : split(text, ',')) {
      int64_t value = 0;
      if (!parse_integer(part, low, high, value)) return false;
      target.push_back(static_cast<int32_t>(value));
    }
    return !target.empty();
  });
}

const Options::Option* Options::find(const std::string& name) const {
  for (const Option& option : options_) {
    for (const std::string& n : option.names) {
      if (n == name) return &option;
    }
  }
  return nullptr;
}

std::vector<std::string> Options::parse(int argc, char** argv, size_t n_most) {
  std::vector<std::string> rest, model;
  const auto n_given = [&] { return rest.size() + model.size(); };
  add("-m --model", "MODEL", "a file or a folder", "the model, in place of the first argument",
      [&](const std::string& text) {
        model = {text};
        return !text.empty();
      });
  bool only_rest = false;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    if (only_rest || word.size() < 2 || word[0] != '-') {
      if (n_given() == n_most) usage_error("unexpected argument '" + word + "'");
      rest.push_back(word);
      continue;
    }
    if (word == "--") {
      only_rest = true;
      continue;
    }
    if (word == "--help" || word == "-h") {
      print_help();
      check_output();
      std::exit(0);
    }
    const size_t equals = word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const Option* option = find(name);
    if (!option) usage_error("unknown option " + name);
    std::string value;
    if (option->value_name.empty()) {
      if (equals != std::string::npos) usage_error(name + " takes no value");
    } else if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < argc) {
      value = argv[++i];
    } else {
      usage_error(name + " needs a value: " + option->expected);
    }
    if (!option->take(value)) usage_error(name + " is expected to be " + option->expected + ", not '" + value + "'");
  }
  if (n_given() > n_most) usage_error("unexpected argument '" + rest.back() + "', as -m gives the model");
  rest.insert(rest.begin(), model.begin(), model.end());
  return rest;
}

void Options::print_help() const {
  std::printf("usage: inlay %s\n\n%s\n\noptions:\n", synopsis_.c_str(), about_.c_str());
  for (const Option& option : options_) {
    std::string left;
    for (const std::string& name : option.names) left += (left.empty() ? "" : ", ") + name;
    if (!option.value_name.empty()) left += " " + option.value_name;
    if (left.size() > 26) left += "\n" + std::string(28, ' ');
    std::printf("  %-26s %s\n", left.c_str(), option.help.c_str());
  }
  std::printf("  %-26s %s\n", "-h, --help", "print this");
}

void Options::usage_error(const std::string& message) const {
  const std::string command = synopsis_.substr(0, synopsis_.find(' '));
  fail(kExitUsage, message + " (inlay " + command + " --help lists the options)");
}

}  // namespace inlay::cli
