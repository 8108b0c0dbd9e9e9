#include "examples/cli/line_reader.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "examples/cli/system.h"
#ifndef _WIN32
#include "examples/cli/plain_lines.h"
#endif

#if INLAY_HAS_LIBEDIT
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "examples/cli/interrupt.h"
#endif

namespace inlay::cli {

#ifdef _WIN32  // whose lines are not cut
class PlainLines {};
#endif

namespace {

std::unique_ptr<PlainLines> plain_lines() {
#ifdef _WIN32
  return nullptr;
#else
  auto lines = std::make_unique<PlainLines>();
  return lines->has_terminal() ? std::move(lines) : nullptr;
#endif
}

}  // namespace

#if INLAY_HAS_LIBEDIT
namespace {

constexpr int kHistoryLines = 1000;
constexpr char kMarkPastes[] = "\033[?2004h", kDoNotMarkPastes[] = "\033[?2004l";

termios terminal_before;

void restore_our_terminal() {
  tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  (void)!write(STDOUT_FILENO, kDoNotMarkPastes, sizeof kDoNotMarkPastes - 1);
}

// The editor knows characters by this thread's locale alone. Numbers stay as they are in all programs.
class Utf8Scope {
 public:
  Utf8Scope() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_) before_ = uselocale(utf8_);
  }
  ~Utf8Scope() {
    if (!utf8_) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  Utf8Scope(const Utf8Scope&) = delete;
  Utf8Scope& operator=(const Utf8Scope&) = delete;

 private:
  locale_t utf8_, before_ = nullptr;
};

bool terminal_moves_its_cursor() {
  const char* name = std::getenv("TERM");
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && name && *name && std::strcmp(name, "dumb") != 0;
}

}  // namespace

struct LineReader::Editor {
  explicit Editor(const LineReader& reader);
  ~Editor() {
    before_end_by_signal(nullptr);
    el_end(edit);
    history_end(history_of_lines);
  }
  Outcome read(std::string& line);

  static Editor& of(EditLine* edit) {
    Editor* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return *self;
  }
  static unsigned char take_paste(EditLine* edit, int);
  static unsigned char complete(EditLine* edit, int);
  static unsigned char insert_line_end(EditLine* edit, int) {
    return el_winsertstr(edit, L"\n") == 0 ? CC_REFRESH : CC_ERROR;
  }
  static unsigned char interrupt(EditLine* edit, int);
  static unsigned char suspend(EditLine*, int) { return raise(SIGTSTP) == 0 ? CC_REFRESH : CC_ERROR; }
  static char* prompt_of(EditLine* edit) { return of(edit).prompt.data(); }

  std::string prompt;
  const std::vector<std::string>& words;
  EditLine* edit = nullptr;
  History* history_of_lines = nullptr;
  bool interrupted = false;
  std::string interrupted_line;
};

LineReader::Editor::Editor(const LineReader& reader) : prompt(reader.prompt()), words(reader.words_) {
  const Utf8Scope utf8;
  tcgetattr(STDIN_FILENO, &terminal_before);
  history_of_lines = history_init();
  HistEvent event;
  history(history_of_lines, &event, H_SETSIZE, kHistoryLines);
  history(history_of_lines, &event, H_SETUNIQUE, 1);
  edit = el_init("inlay", stdin, stdout, stderr);
  el_set(edit, EL_CLIENTDATA, this);
  el_set(edit, EL_PROMPT, prompt_of);
  el_set(edit, EL_SIGNAL, 1);  // Ctrl-Z, and a window of another size
  el_set(edit, EL_HIST, history, history_of_lines);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_SETTY, "-d", "-isig", nullptr);  // Ctrl-C is a character
  el_wset(edit, EL_ADDFN, L"complete", L"Complete a command", complete);
  el_wset(edit, EL_ADDFN, L"take-paste", L"Insert a pasted text", take_paste);
  el_wset(edit, EL_ADDFN, L"insert-line-end", L"Insert a line end", insert_line_end);
  el_wset(edit, EL_ADDFN, L"suspend", L"Suspend the program", suspend);
  el_wset(edit, EL_ADDFN, L"interrupt", L"Drop the line", interrupt);
  const char* const bindings[][2] = {
      {"\033[200~", "take-paste"},
      {"\033\r", "insert-line-end"},
      {"\033\n", "insert-line-end"},
      {"\003", "interrupt"},
      {"\t", "complete"},
      {"\032", "suspend"},
      {"\033[H", "ed-move-to-beg"},
      {"\033[F", "ed-move-to-end"},
      {"\033[1~", "ed-move-to-beg"},
      {"\033[4~", "ed-move-to-end"},
      {"\033[3~", "ed-delete-next-char"},
      {"\033[1;5C", "em-next-word"},
      {"\033[1;5D", "ed-prev-word"},
      {"\022", "em-inc-search-prev"},
  };
  for (const auto& [keys, function] : bindings) el_set(edit, EL_BIND, keys, function, nullptr);
  before_end_by_signal(restore_our_terminal);
}

// Up to the mark that ends it; a terminal writes line ends as carriage returns.
unsigned char LineReader::Editor::take_paste(EditLine* edit, int) {
  static constexpr wchar_t kEnd[] = L"\033[201~";
  constexpr size_t kEndLength = std::size(kEnd) - 1;
  std::wstring text;
  for (wchar_t c = 0; el_wgetc(edit, &c) == 1;) {
    text += c == L'\r' ? L'\n' : c;
    if (text.size() < kEndLength || text.compare(text.size() - kEndLength, kEndLength, kEnd) != 0) continue;
    text.resize(text.size() - kEndLength);
    while (!text.empty() && text.back() == L'\n') text.pop_back();
    return text.empty() || el_winsertstr(edit, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }
  return CC_EOF;
}

// What all words have in common that begin as the line does.
unsigned char LineReader::Editor::complete(EditLine* edit, int) {
  const LineInfo* line = el_line(edit);
  const std::string typed(line->buffer, line->cursor);
  std::string rest;
  size_t n_found = 0;
  for (const std::string& word : of(edit).words) {
    if (typed.empty() || !word.starts_with(typed)) continue;
    const std::string more = word.substr(typed.size());
    const auto same = std::mismatch(rest.begin(), rest.end(), more.begin(), more.end());
    rest = n_found++ == 0 ? more : std::string(rest.begin(), same.first);
  }
  return !rest.empty() && el_insertstr(edit, rest.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

unsigned char LineReader::Editor::interrupt(EditLine* edit, int) {
  Editor& self = of(edit);
  const LineInfo* line = el_line(edit);
  self.interrupted = true;
  self.interrupted_line.assign(line->buffer, line->lastchar);
  return CC_EOF;
}

LineReader::Outcome LineReader::Editor::read(std::string& line) {
  const Utf8Scope utf8;
  interrupted = false;
  el_set(edit, EL_PREP_TERM, 1);  // before the prompt is seen
  std::fputs(kMarkPastes, stdout);
  int n = 0;
  const char* text = el_gets(edit, &n);
  std::fputs(kDoNotMarkPastes, stdout);
  if (interrupted) {
    line = interrupted_line;
    std::fputs(line.empty() ? "^C" : "^C\n", stdout);
    std::fflush(stdout);
    return Outcome::interrupted;
  }
  if (!text || n <= 0) return Outcome::end;
  line.assign(text, static_cast<size_t>(n));
  if (line.back() == '\n') line.pop_back();
  HistEvent event;
  if (!line.empty()) history(history_of_lines, &event, H_ENTER, line.c_str());
  return Outcome::line;
}

LineReader::LineReader(const char* prompt, std::vector<std::string> words) : prompt_(prompt), words_(std::move(words)) {
  if (terminal_moves_its_cursor())
    editor_ = std::make_unique<Editor>(*this);
  else
    plain_ = plain_lines();
}
#else
struct LineReader::Editor {
  Outcome read(std::string&) { return Outcome::end; }
};

LineReader::LineReader(const char* prompt, std::vector<std::string> words) : prompt_(prompt), words_(std::move(words)), plain_(plain_lines()) {}
#endif

LineReader::~LineReader() = default;

bool LineReader::takes_interrupts() const { return editor_ || plain_; }

LineReader::Outcome LineReader::read(std::string& line) {
  if (editor_) return editor_->read(line);
#ifndef _WIN32
  if (plain_) return plain_->read(prompt_, line);
#endif
  std::fputs(prompt_, stdout);
  std::fflush(stdout);
  return read_line(line) ? Outcome::line : Outcome::end;
}

}  // namespace inlay::cli
