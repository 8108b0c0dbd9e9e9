// From drawn tokens to text that may leave: whole UTF-8 characters, nothing that could be the start of a stop string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

class TextStream {
 public:
  TextStream();

  Status set_stops(std::vector<std::string> stops);
  // Room for what append() or flush() makes of so many bytes, which then take no memory; bytes of begin_behind() apart.
  void make_room(size_t n_bytes);
  // Adds the bytes of one token. True if a stop string is complete: the text before it is ready, the rest is dropped.
  bool append(std::string_view bytes);
  // Adds a control token, which is no text. Stop strings see its name between the texts around it.
  bool append_name(std::string_view name);
  void flush();  // the sequence ended: what was held back becomes ready
  void clear();  // forgets held and ready text, keeps the stop strings
  // After clear(): `bytes` are the end of a text of others. A character that they begin is written whole once it is
  // complete, and not at all if it never is.
  void begin_behind(std::string_view bytes);

  size_t n_ready() const { return ready_.size() - taken_; }
  size_t take(char* out, size_t n);  // whole characters only

  // All of it, for a session that is saved.
  struct Held {
    struct HeldName {
      uint64_t at = 0;
      std::string text;
      template <class Archive>
      void archive(Archive& a) {
        a(at, text);
      }
    };
    std::vector<std::string> stops;
    std::string incomplete, begun, tail, ready;  // bytes of a character, of these those that are not of this text, the rest as below
    std::vector<HeldName> names;
    template <class Archive>
    void archive(Archive& a) {
      a(stops, incomplete, begun, tail, ready, names);
    }
  };
  Held held() const;
  Status hold(Held held);  // INVALID_ARGUMENT: it cannot come from held()

  static constexpr size_t kMaxStops = 64, kMaxStopBytes = 1024;

 private:
  struct Name {
    size_t at;  // in tail_
    std::string text;
  };
  bool add(std::string_view bytes);
  bool find_stops();
  void find_stops_in_names(size_t& first, size_t& keep_from);
  void release(size_t n);  // the first n bytes of tail_ are certain

  std::vector<std::string> stops_;
  Utf8Assembler utf8_;
  std::string begun_;        // bytes of a character that utf8_ holds and that are not of this text
  std::vector<Name> names_;  // control tokens that may be part of a stop string
  std::string tail_;   // complete characters, not yet known to be outside of a stop string
  std::string ready_;
  size_t taken_ = 0;   // bytes of ready_ that have left
};

}  // namespace inlay
