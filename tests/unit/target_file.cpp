// Files that take their target's place when they are whole: what may be there before, and what stays behind.
#include "src/formats/target_file.h"

#include <gtest/gtest.h>
#ifndef _WIN32
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "src/base/pulse.h"
#include "src/formats/checkpoint.h"
#include "tests/support/hf_folder.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::TemporaryFolder;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Status write(const std::string& path, const std::string& text) {
  INLAY_ASSIGN(const std::unique_ptr<TargetFile> file, TargetFile::create(path));
  INLAY_TRY(file->write(bytes(text)));
  return file->publish();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

#ifndef _WIN32
mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode;
}

void make_socket(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::copy(path.begin(), path.end(), address.sun_path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
}
#endif

TEST(TargetFile, IsThereWhenItIsWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.path("out");
  {
    auto file = TargetFile::create(path);
    ASSERT_TRUE(file.ok()) << file.status().message;
    ASSERT_TRUE((*file)->write(bytes("abc")).ok());
    EXPECT_FALSE(fs::exists(path));
    const std::vector<std::string> names = names_in(folder.path());
    ASSERT_EQ(names.size(), 1u);
    EXPECT_TRUE(names[0].starts_with("out.") && names[0].ends_with(".partial")) << names[0];
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));  // it was not published
  ASSERT_TRUE(write(path, "abc").ok());
  EXPECT_EQ(contents(path), "abc");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out"});
}

#ifndef _WIN32
TEST(TargetFile, WhatIsNoRegularFileIsRefused) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  make_socket(folder.path("socket"));
  fs::create_directory(folder.path("folder"));
  for (const std::string kind : {"fifo", "socket", "folder"}) fs::create_symlink(kind, folder.path("link to " + kind));
  const struct {
    const char* name;
    const char* said;
  } rows[] = {{"fifo", "a FIFO"},         {"socket", "a socket"},         {"folder", "a folder"},         {"folder/", "a folder"},
              {"link to fifo", "a FIFO"}, {"link to socket", "a socket"}, {"link to folder", "a folder"}, {"folder/..", "a folder"}};
  const std::vector<std::string> before = names_in(folder.path());
  for (const auto& row : rows) {
    const std::string path = folder.path() + "/" + row.name;
    const mode_t mode = mode_of(path);
    const Status status = write(path, "abc");
    EXPECT_EQ(status.code, Code::io) << row.name;
    EXPECT_NE(status.message.find(std::string("it is ") + row.said), std::string::npos) << status.message;
    EXPECT_NE(status.message.find(path), std::string::npos) << status.message;
    EXPECT_EQ(mode_of(path), mode);
  }
  EXPECT_EQ(names_in(folder.path()), before);
  for (const std::string& path : {std::string(), folder.path("absent/"), folder.path("absent/out"), folder.path(std::string(300, 'n'))})
    EXPECT_EQ(write(path, "abc").code, Code::io) << path;
  EXPECT_EQ(write(folder.path("a\0b"s), "abc").code, Code::invalid_argument);
  EXPECT_EQ(names_in(folder.path()), before);
}

TEST(TargetFile, WhatALinkNamesIsWritten) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("store"));
  fs::create_symlink("store/real", folder.path("relative"));
  fs::create_symlink(folder.path("relative"), folder.path("absolute"));
  fs::create_symlink("../other", folder.path("store/back"));
  fs::create_symlink("round", folder.path("round"));
  for (const std::string text : {"dangling", "replaced"}) {
    ASSERT_TRUE(write(folder.path("relative"), text).ok());
    EXPECT_EQ(contents(folder.path("store/real")), text);
    ASSERT_TRUE(write(folder.path("absolute"), text + "!").ok());
    EXPECT_EQ(contents(folder.path("store/real")), text + "!");
    ASSERT_TRUE(write(folder.path("store/back"), text).ok());
    EXPECT_EQ(contents(folder.path("other")), text);
  }
  for (const std::string link : {"relative", "absolute", "store/back"}) EXPECT_TRUE(fs::is_symlink(folder.path(link))) << link;
  EXPECT_EQ(names_in(folder.path("store")), (std::vector<std::string>{"back", "real"}));
  EXPECT_EQ(write(folder.path("round"), "x").native_code, ELOOP);
}

// A link of /proc to a file without a name: there is nothing to replace.
TEST(TargetFile, AFileWithoutAPathIsRefused) {
  const TemporaryFolder folder;
  folder.write("gone", "x");
  const int fd = ::open(folder.path("gone").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (!fs::exists(link)) GTEST_SKIP() << "needs /proc";
  fs::remove(folder.path("gone"));
  EXPECT_EQ(write(link, "abc").code, Code::io);
  ::close(fd);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

// A host that has closed its standard input.
TEST(TargetFile, IsNoneOfTheStandardStreams) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write(folder.path("in"), "x").ok());
  const int input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  ASSERT_GE(input, 0);
  ::close(STDIN_FILENO);
  auto file = TargetFile::create(folder.path("out"));
  const auto source = open_file(folder.path("in"));
  EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1) << "a file of ours has the number of the standard input";
  EXPECT_EQ(::dup2(input, STDIN_FILENO), STDIN_FILENO);
  ::close(input);
  ASSERT_TRUE(source.ok()) << source.status().message;
  ASSERT_TRUE(file.ok()) << file.status().message;
  ASSERT_TRUE((*file)->write(bytes("abc")).ok());
  ASSERT_TRUE((*file)->publish().ok());
  EXPECT_EQ(contents(folder.path("out")), "abc");
}

TEST(TargetFile, TheHostMayChangeItsWorkingDirectory) {
  const TemporaryFolder one, other;
  const fs::path before = fs::current_path();
  fs::current_path(one.path());
  auto file = TargetFile::create("out");
  fs::current_path(other.path());
  const Status status = !file.ok() ? file.status() : (*file)->write(bytes("abc"));
  const Status published = status.ok() ? (*file)->publish() : status;
  fs::current_path(before);
  ASSERT_TRUE(published.ok()) << published.message;
  EXPECT_EQ(contents(one.path("out")), "abc");
  EXPECT_EQ(names_in(one.path()), std::vector<std::string>{"out"});
  EXPECT_TRUE(fs::is_empty(other.path()));
}

TEST(TargetFile, PermissionsOfWhatIsReplacedAreKept) {
  const TemporaryFolder folder;
  const std::string path = folder.path("out");
  for (const mode_t mode : {0600u, 0640u, 0644u, 0755u, 0444u}) {
    folder.write("out", "before");
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_TRUE(write(path, "after").ok());
    EXPECT_EQ(contents(path), "after");
    EXPECT_EQ(mode_of(path) & 07777, mode);
    fs::remove(path);
  }
  const mode_t mask = ::umask(027);
  const Status made = write(path, "new");
  ::umask(mask);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(mode_of(path) & 07777, 0640u);
}
#endif

TEST(TargetFile, ALargeWriteBeatsAndIsEnded) {
  const TemporaryFolder folder;
  const std::string large((9 << 20) + 5, 'x');
  for (const int most : {100, 1}) {
    int n_beats = 0;
    const Pulse pulse([&](uint64_t) { return ++n_beats < most ? Status() : error(Code::cancelled, "stopped"); });
    const Status status = write(folder.path("out"), large);
    EXPECT_EQ(status.ok(), most > 1) << status.message;
    EXPECT_EQ(n_beats, most > 1 ? 2 : 1);  // behind each piece of 4 MiB
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out"});
    EXPECT_EQ(contents(folder.path("out")).size(), large.size());
  }
}

TEST(TargetFile, LongNamesAreTaken) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  ASSERT_TRUE(write(folder.path(name), "abc").ok());
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{name});
}

#ifndef _WIN32
TEST(TargetFile, TwoWritersOfOneTargetPublishWholeFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.path("out");
  const auto text_of = [](int writer) { return std::string(200000, static_cast<char>('a' + writer)); };
  std::vector<std::thread> writers;
  std::atomic<int> n_failed = 0;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 25; ++i) {
        if (!write(path, text_of(w)).ok()) ++n_failed;
        const std::string now = contents(path);
        if (now.empty() || now != text_of(now[0] - 'a')) ++n_failed;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(n_failed, 0);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out"});
}

// In a child, whose limit goes with it. 0: as it should be.
int write_past_the_limit(const TemporaryFolder& folder, bool blocked) {
  const rlimit limit = {4096, 4096};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
  sigset_t one, mask;
  sigemptyset(&one);
  sigaddset(&one, SIGXFSZ);
  if (blocked) pthread_sigmask(SIG_BLOCK, &one, nullptr);
  const Status status = write(folder.path("out"), std::string(10000, 'x'));
  if (status.code != Code::io || status.native_code != EFBIG) return 2;
  if (!fs::is_empty(folder.path())) return 3;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  if ((sigismember(&mask, SIGXFSZ) == 1) != blocked) return 4;
  sigset_t pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGXFSZ) == 1) return 5;
  return write(folder.path("out"), std::string(4096, 'x')).ok() ? 0 : 6;
}

TEST(TargetFile, TheLimitOfFileSizesIsAnError) {
  for (const bool blocked : {false, true}) {
    const TemporaryFolder folder;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(write_past_the_limit(folder, blocked));
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFEXITED(how)) << "ended by signal " << WTERMSIG(how);
    EXPECT_EQ(WEXITSTATUS(how), 0);
  }
}
#endif

}  // namespace
}  // namespace inlay
