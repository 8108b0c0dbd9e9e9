#include "examples/cli/converse.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "examples/cli/failure.h"
#include "examples/cli/interrupt.h"
#include "examples/cli/line_reader.h"
#include "examples/cli/system.h"
#include "examples/cli/words.h"
#include "src/base/printable.h"

namespace inlay::cli {
namespace {

constexpr char kPrompt[] = "> ";

void say(const std::string& text) { std::fprintf(stderr, "inlay: %s\n", printable(text, LineEnds::kept).c_str()); }

// Called beside whatever the program does: no buffer of a stream is touched.
void write_hint(const char* after) {
  const std::string text = std::string("\ninlay: Ctrl-C again, Ctrl-D or /bye ends the conversation\n") + after;
  write_error(text.data(), text.size());
}
void hint() { write_hint(""); }
void hint_and_prompt() { write_hint(kPrompt); }

struct Command {
  const char* name;
  const char* argument;
  const char* about;
  void (*run)(Conversation& conversation, const std::string& argument);  // null: ends the conversation
};

void help(Conversation& conversation, const std::string& argument);

void clear(Conversation& conversation, const std::string&) {
  conversation.clear();
  say("all turns are forgotten");
}

void set_system(Conversation& conversation, const std::string& text) {
  if (!conversation.form().has_template) return say("without a chat template there is no message of the system");
  if (text.empty()) {
    const std::string& now = conversation.form().system;
    return say(now.empty() ? "there is no message of the system; /system TEXT sets one"
                           : "the system's message is: " + now);
  }
  conversation.set_system(text);
  say("the conversation begins with this message of the system from the next turn on");
}

void save(Conversation& conversation, const std::string& path) {
  if (path.empty()) return say("/save needs the name of a file to write");
  std::FILE* file = open_file(path, 'x');  // what is there stays
  const std::string text = conversation.as_json();
  bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) written = std::fclose(file) == 0 && written;
  say(written ? "the conversation is in " + path : "cannot write " + path + ": " + std::strerror(errno));
}

constexpr size_t kMostLoadedBytes = 64 << 20;

void load(Conversation& conversation, const std::string& path) {
  if (path.empty()) return say("/load needs the name of a file that /save wrote");
  const std::string cannot = "cannot load " + path + ": ";
  std::FILE* file = open_file(path, 'r');
  if (!file) return say(cannot + std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  for (size_t n; text.size() <= kMostLoadedBytes && (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  const int failed = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (failed != 0) return say(cannot + std::strerror(failed));
  if (text.size() > kMostLoadedBytes) return say(cannot + "it is larger than " + std::to_string(kMostLoadedBytes >> 20) + " MiB");
  Messages messages;
  std::string reason;
  if (!read_messages(text, messages, reason)) return say(cannot + reason);
  if (!messages.system.empty() && !conversation.form().has_template)
    return say(cannot + "it has a message of the system, and without a chat template there is none");
  conversation.set(messages);
  say("the conversation is that of " + path + " now: " + counted(messages.turns.size(), "turn") +
      (messages.system.empty() ? ", no message of the system" : " and the system's message"));
}

// `/regen` needs more than the conversation: converse() runs it.
constexpr char kRegen[] = "/regen";

constexpr Command kCommands[] = {
    {"/help", "", "lists these commands", help},
    {"/clear", "", "forgets all turns; the system's message stays", clear},
    {kRegen, "", "writes the last answer anew", nullptr},
    {"/system", "TEXT", "sets the system's message; without TEXT shows it", set_system},
    {"/save", "FILE", "writes the conversation to a new file, as JSON", save},
    {"/load", "FILE", "goes on with a conversation that /save wrote, in the place of this one", load},
    {"/bye", "", "ends the conversation", nullptr},
};

void help(Conversation&, const std::string&) {
  for (const Command& command : kCommands) {
    const std::string left = std::string(command.name) + (*command.argument ? " " : "") + command.argument;
    std::fprintf(stderr, "  %-14s %s\n", left.c_str(), command.about);
  }
  std::fprintf(stderr,
               "  Every other line is a turn; one that begins with a blank is a turn even with / behind it.\n"
               "  Ctrl-C ends an answer; at an empty line Ctrl-D or Ctrl-C twice ends the conversation.\n");
}

// A command is one line that begins with a slash; false: it ends the conversation.
bool run_command_line(Conversation& conversation, const std::string& line) {
  const size_t blank = line.find(' ');
  const std::string name = line.substr(0, blank);
  const size_t begin = line.find_first_not_of(' ', std::min(blank, line.size()));
  std::string argument = begin == std::string::npos ? "" : line.substr(begin);
  argument.resize(argument.find_last_not_of(' ') + 1);
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    if (!*command.argument && !argument.empty())
      say(name + " takes no argument");
    else if (command.run)
      command.run(conversation, argument);
    else
      return false;
    return true;
  }
  say("there is no command " + name + "; /help lists them, and a line with a blank before the / is a turn");
  return true;
}

void take_turn(Conversation& conversation, const std::string& line, TextOutput& out,
               const std::function<void(const Turn&)>& report) {
  const Conversation::Admission found = conversation.admit(line);
  const std::string context = "the context of " + counted(found.n_context, "token");
  if (!found.refused.empty()) return say(found.refused + "; the conversation goes on without this line");
  if (!found.taken) {
    return say("this line is too long and was not taken: the prompt would be " + counted(found.n_needed, "token") +
               ", " + context + " has no room for it and an answer");
  }
  if (found.n_dropped > 0)
    say(context + " was full: the oldest " +
        (found.n_dropped == 1 ? "turn is" : counted(found.n_dropped, "turn") + " are") + " dropped");
  const Turn turn = conversation.answer(out);
  if (turn.context_full) say("the answer ends here: " + context + " is full");
  report(turn);
}

}  // namespace

int converse(Conversation& conversation, const std::function<void(const Turn&)>& report, const std::function<void()>& reseed) {
  std::fprintf(stderr, "A line is a turn; /help lists commands, Ctrl-C ends an answer, Ctrl-D the conversation.\n");
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  LineReader reader(kPrompt, names);
  ConversationScope scope(reader.takes_interrupts() ? hint : hint_and_prompt);
  TextOutput out;
  for (std::string line;;) {
    const LineReader::Outcome outcome = reader.read(line);
    if (outcome == LineReader::Outcome::end) break;
    if (outcome == LineReader::Outcome::interrupted) {
      if (line.empty()) scope.pressed();
      continue;
    }
    scope.line_taken();
    if (line.empty()) continue;
    if (line.substr(0, line.find_last_not_of(' ') + 1) == kRegen) {
      reseed();
      line = conversation.take_back();
      line.empty() ? say("there is no answer yet") : take_turn(conversation, line, out, report);
    } else if (line[0] != '/' || line.find('\n') != std::string::npos) {
      take_turn(conversation, line, out, report);
    } else if (!run_command_line(conversation, line)) {
      return 0;
    }
  }
  std::fputc('\n', stdout);
  return 0;
}

}  // namespace inlay::cli
