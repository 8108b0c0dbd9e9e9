#include "examples/cli/state_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "examples/cli/failure.h"
#include "examples/cli/system.h"

namespace inlay::cli {
namespace {

struct FileClose {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, FileClose>;

// Beside the file, so that it can take its place.
std::string unfinished(const std::string& path) { return path + ".unfinished"; }

[[noreturn]] void fail_to_write(const std::string& path, int number) {
  remove_file(unfinished(path));
  fail(kExitFailed, "cannot save the state in " + path + ": " + std::strerror(number));
}

FilePtr begin_file(const std::string& path) {
  FilePtr file(open_file(unfinished(path), 'w'));
  if (!file) fail(kExitFailed, "cannot save the state in " + path + ": cannot write " + unfinished(path) + ": " + std::strerror(errno));
  return file;
}

int32_t write_part(void* file, const void* bytes, uint64_t n) {
  errno = 0;
  if (std::fwrite(bytes, 1, static_cast<size_t>(n), static_cast<std::FILE*>(file)) == n) return 0;
  return errno != 0 ? errno : EIO;
}

int32_t read_part(void* file, void* into, uint64_t n) {
  errno = 0;
  if (std::fread(into, 1, static_cast<size_t>(n), static_cast<std::FILE*>(file)) == n) return 0;
  return errno != 0 ? errno : EIO;
}

}  // namespace

void check_writable(const std::string& path) {
  begin_file(path).reset();
  remove_file(unfinished(path));
}

void save_state(inlay_session* session, const std::string& said, const std::string& path) {
  FilePtr file = begin_file(path);
  auto writer = sized<inlay_state_writer>();
  writer.user = file.get();
  writer.write = write_part;
  inlay_error error;
  const inlay_status status = inlay_session_save_to(session, &writer, &error);
  if (status == INLAY_IO) fail_to_write(path, error.native_code);
  if (status != INLAY_OK) {
    remove_file(unfinished(path));
    check(status, error, "cannot save the state");
  }
  if (const int32_t number = write_part(file.get(), said.data(), said.size()); number != 0) fail_to_write(path, number);
  if (std::fclose(file.release()) != 0 || !replace_file(unfinished(path), path)) fail_to_write(path, errno);
}

SavedState load_state(const inlay_engine* engine, const std::string& path) {
  const std::string cannot = "cannot go on with the state in " + path;
  const FilePtr file(open_file(path, 'r'));
  if (!file) fail(kExitFailed, cannot + ": " + std::strerror(errno));
  auto reader = sized<inlay_state_reader>();
  reader.user = file.get();
  reader.read = read_part;
  SavedState state;
  inlay_session* session = nullptr;
  inlay_error error;
  const inlay_status status = inlay_session_restore_from(engine, &reader, &session, &error);
  state.session.reset(session);
  if (status == INLAY_IO && std::feof(file.get()) != 0) fail(kExitFailed, cannot + ": the file ends before the state does");
  if (status == INLAY_IO) fail(kExitFailed, cannot + ": " + std::strerror(error.native_code));
  check(status, error, cannot);
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) state.said.append(buffer, n);
  if (std::ferror(file.get()) != 0) fail(kExitFailed, cannot + ": " + std::strerror(errno));
  return state;
}

}  // namespace inlay::cli
