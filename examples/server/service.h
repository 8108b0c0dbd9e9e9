// OpenAI's protocol: routes, and the work that they begin.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "examples/server/access.h"
#include "examples/server/answer.h"
#include "examples/server/http_server.h"
#include "examples/server/metrics.h"
#include "examples/server/model.h"
#include "examples/server/workers.h"

namespace inlay::server {

class Embeddings;

class Service : public HttpHandler {
 public:
  // `all_body_bytes`: that workers may have together.
  Service(Loop& loop, const Model& model, const AccessRules& access, size_t all_body_bytes);
  ~Service() override;

  void attach(HttpServer& http) { http_ = &http; }
  void poll();       // the queue has something
  void shut_down();  // answers that are under way get a few seconds; the second time none
  void on_round();
  bool has_failed() const { return has_failed_; }

  std::optional<Refusal> check_head(const HttpRequest& request) override;
  void handle(Connection& connection) override;
  void has_sent(Connection& connection) override;
  void has_left(Connection& connection) override;
  void has_room(Connection& connection) override;
  void add_headers(const HttpRequest& request, std::string& head) override;
  void count(int status) override { ++metrics_.responses[status]; }

 private:
  // A request whose answer is being made. It ends when its worker and the library both have said their last.
  struct Work {
    uint64_t connection = 0;  // 0: its client has left
    std::shared_ptr<std::atomic<bool>> has_left = std::make_shared<std::atomic<bool>>(false);
    uint64_t request = 0;          // the library's number; 0: not yet submitted
    std::optional<Answer> answer;  // once it was submitted
    size_t n_body = 0;             // bytes that count, while its worker has them
    AnswerForm form;
    Piece piece;
    std::shared_ptr<MessageReader> reader;                // of an answer that has parts
    std::vector<inlay_token_logprob> unread, unread_top;  // that came before the answer's form was known
    bool has_begun = false;                               // its stream
    std::optional<inlay_request_event> end;
    std::string end_text;
  };
  struct Submitted {
    std::optional<Refusal> refusal;
    AnswerForm form;
    SubmittedRequest request;
  };
  struct Embedded {
    std::optional<Refusal> refusal;
    std::string json;
  };

  void get(Connection& connection, const std::string& path);
  std::string model_json() const;
  void begin_generate(Connection& connection, bool is_chat);
  void begin_embed(Connection& connection);
  void wait_for_vectors(uint64_t key, const std::atomic<bool>& has_left, const std::shared_ptr<Embeddings>& asked);
  bool has_room_for(Connection& connection);
  uint64_t begin_work(Connection& connection);
  Connection* end_job(uint64_t key);
  void submitted(uint64_t key, const Submitted& result);
  void embedded(uint64_t key, const Embedded& result);
  void take_event(const inlay_request_event& event, const char* text, const inlay_token_logprob* tokens);
  void take_tokens(Work& work, const inlay_token_logprob* tokens, size_t n, const inlay_token_logprob* top);
  void read_parts(Work& work, const inlay_token_logprob* tokens, size_t n);
  void write(uint64_t key);
  void write_whole(Work& work, Connection& connection);
  void write_stream(Work& work, Connection& connection);
  void cancel(const Work& work);
  void fail();

  Loop& loop_;
  const Model& model_;
  AccessRules access_;
  HttpServer* http_ = nullptr;
  Metrics metrics_;
  std::unordered_map<uint64_t, Work> works_;
  uint64_t last_key_ = 0;
  size_t max_body_bytes_;      // that workers may have, those of clients that have left included
  size_t all_body_bytes_ = 0;  // that workers have
  size_t n_embeddings_ = 0;    // that are made, or whose clients have not taken all of them
  bool is_lost_ = false;       // the device
  int64_t closes_at_ = 0;      // 0: not closing
  bool has_cancelled_ = false, has_failed_ = false;
  std::vector<uint64_t> touched_;  // works to be written
  std::vector<inlay_request_event> events_;
  std::vector<inlay_token_logprob> tokens_;
  std::vector<char> text_;
  std::unique_ptr<Workers> submitters_, embedders_;
};

// A file of the page at /; nullptr: there is none of that name.
struct PageFile {
  const char *path, *type, *text;
};
const PageFile* find_page_file(const std::string& path);

}  // namespace inlay::server
