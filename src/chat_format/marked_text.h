// A text that comes in parts and is taken from the front, with the control tokens in it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inlay {

// A piece of a format's syntax. Where the vocabulary has it as a token, only that token is meant, and else these letters in the text.
struct Marker {
  std::string text;
  bool is_token = false;

  bool empty() const { return text.empty(); }
};

enum class Match { no, maybe, yes };  // maybe: what follows decides

class MarkedText {
 public:
  void append(std::string_view text);
  void append_mark(const Marker* marker);  // null: a control token that is no marker. The marker outlives this.
  void end() { ended_ = true; }            // nothing more will come
  void clear();

  std::string_view run() const;                                  // the text before the next mark
  bool closed() const { return ended_ || first_ < marks_.size(); }  // nothing is added to run()
  bool at_mark() const { return first_ < marks_.size() && marks_[first_].at == at_; }
  const Marker* mark() const { return marks_[first_].marker; }
  bool empty() const { return run().empty() && !at_mark(); }
  void skip(size_t n) { at_ += n; }  // of run()
  void skip_mark() { ++first_; }

  Match front(const Marker& marker) const;
  void skip(const Marker& marker);  // that is in front

  // How far run() is certainly before all of `markers` that are no tokens, as far as it looks. 0 if one begins here, which is `marker`, or may
  // begin here, which is null.
  struct Place {
    size_t at;
    const Marker* marker;
  };
  Place find(std::span<const Marker* const> markers) const;

  // Text up to one of `markers`, which is left in front, goes to `sink`; null where none is there yet. Other markers are their letters here, and
  // control tokens that are none are nothing.
  template <class Sink>
  const Marker* until(std::span<const Marker* const> markers, const Sink& sink) {
    for (;;) {
      while (at_mark()) {
        for (const Marker* marker : markers)
          if (mark() && marker->is_token && marker->text == mark()->text) return marker;
        if (mark()) sink(std::string_view(mark()->text));
        skip_mark();
      }
      const Place place = find(markers);
      if (place.at == 0) return place.marker;
      sink(run().substr(0, place.at));
      skip(place.at);
    }
  }

 private:
  struct Mark {
    size_t at;
    const Marker* marker;
  };
  void drop_taken();

  std::string text_;
  size_t at_ = 0;
  std::vector<Mark> marks_;
  size_t first_ = 0;  // of the marks that are left
  bool ended_ = false;
};

}  // namespace inlay
