// Which tokens may follow a configuration: a walk through the tree of tokens and the automaton together. Inside of a JSON
// string, where nearly every token may follow, slices say most of it in advance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/constraint/automaton.h"
#include "src/constraint/reach.h"
#include "src/constraint/token_trie.h"

namespace inlay::constraint {

class MaskMaker {
 public:
  MaskMaker(const TokenTrie& tokens, size_t max_bytes);

  // Void where the automaton passed a limit.
  void make(Automaton& automaton, ConfigId config, std::span<uint32_t> words);
  void reset();
  size_t memory() const { return kept_.size() * 4 + place_.size() * 4 + splits_.size() * sizeof(Split) + reach_.memory(); }

 private:
  // Nodes that are to be visited, none of which is below another.
  struct Range {
    const TokenTree* tree;
    uint32_t begin, end;
    ConfigId config;
  };
  // The items of a configuration by how much a slice knows of them.
  struct Split {
    bool known = false;
    bool any_length = false;  // which level of a slice counts
    bool has_exceptions = false;
    ConfigId inside = kDead;  // inside of a JSON string that takes all that the level takes
    ConfigId unsure = kDead;  // of those: it may not end after each text
    ConfigId closed = kDead;  // after a quote behind a text, for the others
    ConfigId rest = kDead;    // elsewhere
  };
  enum class Inside : uint8_t { no, unsure, limited, any_length, exceptions };  // the last two take any length

  const Split& split(Automaton& automaton, ConfigId config);
  Inside inside(Automaton& automaton, const Item& item) const;
  void walk(Automaton& automaton, const Range& range, std::span<uint32_t> words);
  void walk_groups(Automaton& automaton, const Level& level, ConfigId config, std::span<uint32_t> words);
  void add_root(Automaton& automaton, ConfigId config, std::span<uint32_t> words);
  void add_whole(const TokenTree& tree, ConfigId config);
  bool add_slice(Automaton& automaton, const Slice& slice, const Range& below, std::span<uint32_t> words);
  void find_exceptions(Automaton& automaton, const Range& below);
  void find_exceptions(Automaton& automaton, const Range& below, RegexId texts);
  template <class Visit>
  void visit(Automaton& automaton, const Range& range, Visit&& visit);
  void keep(ConfigId config, std::span<const uint32_t> words);
  void add_tokens(const Automaton& automaton, ConfigId config, std::span<uint32_t> words) const;

  const TokenTrie& tokens_;
  size_t max_kept_;  // masks
  std::vector<Range> ranges_;
  std::vector<ConfigId> path_, outer_path_;
  std::vector<Range> exceptions_;  // tokens that a slice may have wrong
  struct Bit {
    int32_t token;
    bool set;
  };
  std::vector<Bit> bits_;
  Reach reach_;
  uint64_t n_visited_ = 0;        // nodes, of the mask that is being made
  std::vector<Split> splits_;    // by configuration
  std::vector<uint32_t> kept_;    // masks that took long
  std::vector<ConfigId> owners_;  // of those
  std::vector<uint32_t> place_;   // by configuration: of its mask, and 1 more
  size_t next_kept_ = 0;          // the place of the next one, once all are taken
};

}  // namespace inlay::constraint
