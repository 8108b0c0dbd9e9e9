// inlay-server: OpenAI's protocol on the C interface of the library. docs/server.md says how it is used, docs/design/server.md why it is
// built as it is.
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>

#include "examples/server/options.h"
#include "examples/server/service.h"

namespace inlay::server {

namespace {

struct Loaded {
  inlay_engine* engine = nullptr;
  inlay_queue* queue = nullptr;
  ~Loaded() {
    inlay_queue_free(queue);
    inlay_free(engine);
  }
};

int fail(const std::string& what, const std::string& why) {
  std::fprintf(stderr, "inlay-server: %s: %s\n", what.c_str(), why.c_str());
  return 1;
}

int fail(const std::string& what, const inlay_error& error) {
  return fail(what, std::string(error.message) + " (" + inlay_status_name(error.status) + ")");
}

void on_log(void*, inlay_log_level level, const char* text, size_t n) {
  if (level <= INLAY_LOG_WARNING) std::fprintf(stderr, "inlay-server: %.*s\n", static_cast<int>(n), text);
}

int load(const Options& options, Loaded& loaded) {
  inlay_load_params params = sized<inlay_load_params>();
  params.device = options.device;
  params.n_context = static_cast<int32_t>(options.n_context);
  params.max_sessions = static_cast<int32_t>(options.n_parallel);
  params.n_threads = static_cast<int32_t>(options.n_threads);
  params.kv_budget_bytes = static_cast<uint64_t>(options.kv_mib) << 20;
  params.prefix_cache_host_bytes = static_cast<uint64_t>(options.prefix_host_mib) << 20;
  params.log_level = INLAY_LOG_WARNING;
  params.log = on_log;
  inlay_error error;
  if (inlay_load(options.model.data(), options.model.size(), &params, &loaded.engine, &error) != INLAY_OK) return fail(options.model, error);
  inlay_queue_params queue = sized<inlay_queue_params>();
  queue.max_requests = static_cast<int32_t>(options.n_queue);
  if (inlay_queue_create(loaded.engine, &queue, &loaded.queue, &error) != INLAY_OK) return fail("cannot make a queue", error);
  inlay_thread_params thread = sized<inlay_thread_params>();
  thread.max_step_us = static_cast<uint64_t>(options.max_step_ms) * 1000;
  if (inlay_engine_set_thread(loaded.engine, &thread, &error) != INLAY_OK) return fail("cannot start the engine's thread", error);
  return 0;
}

bool read_file(const std::string& path, std::string& out) {
  std::ifstream file(path, std::ios::binary);
  out.assign(std::istreambuf_iterator<char>(file), {});
  return file.good() && !out.empty();
}

// A model without a tokenizer has no format.
int describe_format(const Options& options, Model& model) {
  if (!options.template_file.empty() && !read_file(options.template_file, model.chat_template)) return fail(options.template_file, "cannot be read, or is empty");
  if (!options.format_file.empty() && !read_file(options.format_file, model.own_format)) return fail(options.format_file, "cannot be read, or is empty");
  inlay_chat_parser_params params = sized<inlay_chat_parser_params>();
  set_format(model, params);
  char text[4096];
  size_t n = 0;
  inlay_error error;
  if (inlay_chat_get_format(model.engine, &params, text, sizeof text, &n, &error) != INLAY_OK) {
    const std::string& given = options.format_file.empty() ? options.template_file : options.format_file;
    return given.empty() ? 0 : fail(given, error);
  }
  const Json format = Json::parse(std::string_view(text, n), nullptr, false);
  if (format.is_discarded()) return fail(options.model, "the chat format is no JSON");
  model.chat_format = format.value("name", "");
  model.has_reasoning = format.value("reasoning", false);
  model.has_calls = format.value("calls", false);
  model.takes_text = format.value("arguments", "") == "text";
  return 0;
}

int describe(const Options& options, const Loaded& loaded, Model& model) {
  model.engine = loaded.engine;
  model.queue = loaded.queue;
  model.name = options.name;
  model.loaded = std::time(nullptr);
  model.max_tokens = static_cast<int32_t>(options.max_tokens);
  model.timeout_us = static_cast<uint64_t>(options.answer_ms) * 1000;
  model.pooling = options.pooling;
  model.info = sized<inlay_engine_info>();
  inlay_error error;
  if (inlay_engine_get_info(loaded.engine, &model.info, &error) != INLAY_OK) return fail(options.model, error);
  return describe_format(options, model);
}

// Descriptors for all connections, and some for the rest.
bool has_descriptors(size_t n_connections) {
  rlimit limit;
  const rlim_t needed = n_connections + 64;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return true;
  if (limit.rlim_max < needed) return false;
  limit.rlim_cur = needed;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Signals that end the program come as events of the loop. Blocked before there is another thread.
int block_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int queue_handle(const Model& model, int& handle) {
  inlay_wait_kind kind = 0;
  int64_t given = -1;
  inlay_error error;
  if (inlay_queue_get_handle(model.queue, &kind, &given, &error) != INLAY_OK) return fail("cannot wait for the queue", error);
  handle = static_cast<int>(given);
  return 0;
}

int serve(const Options& options, const Model& model, int signals) {
  Loop loop;
  int handle = -1;
  if (!loop.is_open()) return fail("cannot wait", "the system has no descriptors left");
  if (const int failed = queue_handle(model, handle)) return failed;
  Service service(loop, model, options.access, options.http.all_body_bytes);
  HttpServer http(loop, service, options.http);
  service.attach(http);
  std::string reason;
  if (!http.listen(options.address, static_cast<uint16_t>(options.port), reason)) return fail("cannot begin", reason);
  loop.watch(handle, EPOLLIN, [&](uint32_t) { service.poll(); });
  loop.watch(signals, EPOLLIN, [&](uint32_t) {
    signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) service.shut_down();
  });
  loop.on_round([&] { service.on_round(); });
  const bool is_six = options.address.find(':') != options.address.npos;
  std::printf("inlay-server: %s on http://%s%s%s:%u\n", model.name.c_str(), is_six ? "[" : "", options.address.c_str(), is_six ? "]" : "",
              http.port());
  std::fflush(stdout);
  loop.run();
  return service.has_failed() ? fail(model.name, "the engine is gone") : 0;
}

int run(int argc, char** argv) {
  Options options;
  if (const int ended = read_options(argc, argv, options); ended >= 0) return ended;
  if (!has_descriptors(options.http.n_connections)) return fail("--connections", "this process may not open so many descriptors (ulimit -n)");
  const int signals = block_signals();
  Loaded loaded;
  Model model;
  if (const int failed = load(options, loaded)) return failed;
  if (const int failed = describe(options, loaded, model)) return failed;
  const int ended = serve(options, model, signals);
  close(signals);
  return ended;
}

}  // namespace

}  // namespace inlay::server

int main(int argc, char** argv) { return inlay::server::run(argc, argv); }
