// The rows of effects.cpp for saved sessions.
#pragma once

#include "tests/capi/effects_sampler.h"

namespace inlay::test {

// Where bytes go and come from; two of them, to tell `user` by.
struct StateShelf {
  std::string bytes;
  size_t n_given = 0;
  static int32_t write(void* user, const void* state, uint64_t n) {
    static_cast<StateShelf*>(user)->bytes.append(static_cast<const char*>(state), n);
    return 0;
  }
  static int32_t read(void* user, void* into, uint64_t n) {
    auto& shelf = *static_cast<StateShelf*>(user);
    if (n > shelf.bytes.size() - shelf.n_given) return 5;
    std::memcpy(into, shelf.bytes.data() + shelf.n_given, n);
    shelf.n_given += n;
    return 0;
  }
  static int32_t refuse_write(void*, const void*, uint64_t) { return 28; }
  static int32_t refuse_read(void*, void*, uint64_t) { return 21; }
};

inline EffectRow writer_row(const char* field, Kind kind, std::function<void(inlay_state_writer&, StateShelf&)> set, std::string words = "") {
  return {std::string("inlay_state_writer.") + field, kind, [=](bool with) {
            const SessionPtr session = new_session(engine());
            StateShelf shelf, other;
            inlay_state_writer writer = sized<inlay_state_writer>();
            writer.user = &shelf;
            writer.write = StateShelf::write;
            if (with) set(writer, other);
            inlay_error err;
            const inlay_status status = inlay_session_save_to(session.get(), &writer, &err);
            if (status != INLAY_OK) return failure(status, err);
            return std::to_string(shelf.bytes.size()) + " " + std::to_string(other.bytes.size());
          }, std::move(words)};
}

inline EffectRow state_reader_row(const char* field, Kind kind, std::function<void(inlay_state_reader&, StateShelf&)> set, std::string words = "") {
  return {std::string("inlay_state_reader.") + field, kind, [=](bool with) {
            StateShelf shelf, other;
            for (StateShelf* one : {&shelf, &other}) {
              const SessionPtr session = new_session(engine());
              inlay_error err;
              EXPECT_EQ(inlay_prefill(session.get(), kPlain.data(), one == &shelf ? 2 : 3, nullptr, &err), INLAY_OK) << err.message;
              inlay_state_writer writer = sized<inlay_state_writer>();
              writer.user = one;
              writer.write = StateShelf::write;
              EXPECT_EQ(inlay_session_save_to(session.get(), &writer, &err), INLAY_OK) << err.message;
            }
            inlay_state_reader reader = sized<inlay_state_reader>();
            reader.user = &shelf;
            reader.read = StateShelf::read;
            if (with) set(reader, other);
            inlay_session* made = nullptr;
            inlay_error err;
            const inlay_status status = inlay_session_restore_from(engine().get(), &reader, &made, &err);
            const SessionPtr again(made);
            if (status != INLAY_OK) return failure(status, err);
            inlay_session_info info = sized<inlay_session_info>();
            EXPECT_EQ(inlay_session_get_info(again.get(), &info, &err), INLAY_OK);
            return std::to_string(info.n_tokens);
          }, std::move(words)};
}

inline std::vector<EffectRow> state_effect_rows() {
  using enum Kind;
  return {
      writer_row("struct_size", refused, [](auto& w, auto&) { w.struct_size = 3; }, "struct_size"),
      writer_row("reserved", refused, [](auto& w, auto&) { w.reserved = 1; }, "writer.reserved"),
      writer_row("user", effect, [](auto& w, auto& other) { w.user = &other; }),
      writer_row("write", refused, [](auto& w, auto&) { w.write = nullptr; }, "writer.write"),
      writer_row("write", refused, [](auto& w, auto&) { w.write = StateShelf::refuse_write; }, "the write callback returned 28"),
      state_reader_row("struct_size", refused, [](auto& r, auto&) { r.struct_size = 3; }, "struct_size"),
      state_reader_row("reserved", refused, [](auto& r, auto&) { r.reserved = 1; }, "reader.reserved"),
      state_reader_row("user", effect, [](auto& r, auto& other) { r.user = &other; }),
      state_reader_row("read", refused, [](auto& r, auto&) { r.read = nullptr; }, "reader.read"),
      state_reader_row("read", refused, [](auto& r, auto&) { r.read = StateShelf::refuse_read; }, "the read callback returned 21"),
  };
}

}  // namespace inlay::test
