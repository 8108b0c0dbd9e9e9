// The options of one command: declared once, which also writes the help text; mistakes name the option.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace inlay::cli {

class Options {
 public:
  // `synopsis` follows "usage: inlay " in the help, `about` is its second paragraph.
  Options(std::string synopsis, std::string about) : synopsis_(std::move(synopsis)), about_(std::move(about)) {}

  // `names`: spellings with a blank between, as in "-n --tokens". What the targets hold before parse() is
  // the default. They must live until then.
  void flag(const char* names, bool& target, const char* help);
  void integer(const char* names, int32_t& target, int32_t low, int32_t high, const char* help);
  // -1: as if it had not been given.
  void seed(const char* names, uint64_t& target, bool& given, const char* help);
  void real(const char* names, double& target, double low, double high, const char* help);
  void text(const char* names, const char* value_name, std::string& target, bool* given, const char* help);
  void texts(const char* names, const char* value_name, std::vector<std::string>& target, const char* help);
  void choice(const char* names, std::vector<std::string> choices, int32_t& target, const char* help);
  // Numbers with commas between, or `none`.
  void integers(const char* names, std::vector<int32_t>& target, int32_t low, int32_t high, const char* help);

  // Any other option. `take` gets the value (empty for flags, whose value_name is empty) and returns false if it is
  // none; `expected` then completes "is expected to be".
  using Take = std::function<bool(const std::string&)>;
  void add(const char* names, std::string value_name, std::string expected, const char* help, Take take);

  // What is no option, in order, behind the value of -m, which every command takes in place of its first argument. More
  // than `n_most` of them, or any mistake, ends the program with kExitUsage; --help prints the help and ends it with 0.
  // `--` ends the options.
  std::vector<std::string> parse(int argc, char** argv, size_t n_most);

  // Ends the program with kExitUsage.
  [[noreturn]] void usage_error(const std::string& message) const;

 private:
  struct Option {
    std::vector<std::string> names;
    std::string value_name;  // empty for flags
    std::string expected;
    std::string help;
    Take take;
  };
  const Option* find(const std::string& name) const;
  void print_help() const;

  std::string synopsis_, about_;
  std::vector<Option> options_;
};

// The whole text is a number in the range.
bool parse_integer(const std::string& text, int64_t low, int64_t high, int64_t& value);

// Six digits at most, as %g writes them, with a point in every locale.
std::string short_number(double x);

}  // namespace inlay::cli
