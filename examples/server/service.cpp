#include "examples/server/service.h"

#include <algorithm>

#include "examples/server/embeddings.h"
#include "examples/server/generate_body.h"

namespace inlay::server {

namespace {

constexpr size_t kSubmitters = 2;  // threads that render and tokenize
constexpr size_t kEmbedders = 8;   // threads that wait for vectors
constexpr size_t kWaitingEmbeddings = 32;
constexpr size_t kJobBytes = 4 << 10;       // that a body counts beside its own, so that many small ones have a limit too
constexpr size_t kUnsentBytes = 16 << 10;   // of a stream; what is drawn beyond is written together later
constexpr int64_t kGraceMs = 5'000, kFlushMs = 2'000;
constexpr size_t kPollEvents = 256, kPollTokens = 4096, kPollBytes = 64 << 10;

// To a client that has left, or to the last ones.
Refusal closing() { return {503, "the server is closing", "", "closing"}; }

// Texts of one kind that follow each other are one.
void add_delta(std::vector<MessageDelta>& deltas, MessageDelta delta) {
  const bool is_text = delta.kind == INLAY_CHAT_DELTA_REASONING || delta.kind == INLAY_CHAT_DELTA_CONTENT || delta.kind == INLAY_CHAT_DELTA_ARGUMENTS;
  if (is_text && !deltas.empty() && deltas.back().kind == delta.kind && deltas.back().call == delta.call)
    deltas.back().text += delta.text;
  else
    deltas.push_back(std::move(delta));
}

// A job of a worker ends with a result, whatever happens in it.
template <class Result, class Call>
Result guarded(const Call& call) {
  Result result;
  try {
    call(result);
  } catch (...) {  // memory that ran out
    result.refusal = Refusal{503, "the server has no memory for this request", "", "out_of_memory"};
  }
  return result;
}

}  // namespace

Service::Service(Loop& loop, const Model& model, const AccessRules& access, size_t all_body_bytes)
    : loop_(loop), model_(model), access_(access), max_body_bytes_(all_body_bytes), events_(kPollEvents), tokens_(kPollTokens), text_(kPollBytes) {
  submitters_ = std::make_unique<Workers>(kSubmitters);
  embedders_ = std::make_unique<Workers>(kEmbedders);
}

Service::~Service() {
  for (const auto& [key, work] : works_) work.has_left->store(true);
  embedders_->stop();  // each posts to the other
  submitters_->stop();
}

// ---- works begin

bool Service::has_room_for(Connection& connection) {
  if (all_body_bytes_ + connection.request().body.size() <= max_body_bytes_) return true;
  http_->refuse(connection, {503, "requests that wait to be read take all the memory for them", "", "overloaded"});
  return false;
}

uint64_t Service::begin_work(Connection& connection) {
  connection.work = ++last_key_;
  Work& work = works_[last_key_];
  work.connection = connection.id;
  work.n_body = connection.request().body.size() + kJobBytes;
  all_body_bytes_ += work.n_body;
  return last_key_;
}

// A worker has said its last; nullptr: to nobody.
Connection* Service::end_job(uint64_t key) {
  Work& work = works_.at(key);
  all_body_bytes_ -= std::exchange(work.n_body, 0);
  return http_->find(work.connection);
}

void Service::begin_generate(Connection& connection, bool is_chat) {
  if (!has_room_for(connection)) return;
  const uint64_t key = begin_work(connection);
  submitters_->post([this, key, is_chat, has_left = works_[key].has_left, body = connection.parser.take_body()] {
    Submitted result = guarded<Submitted>([&](Submitted& out) {
      GenerateBody read;
      read.form.is_chat = is_chat;
      if (has_left->load()) out.refusal = closing();
      if (!out.refusal) out.refusal = read_generate_body(body, model_, read);
      if (!out.refusal) out.refusal = submit(read, model_, key, out.request);
      out.form = read.form;
    });
    loop_.post([this, key, result = std::move(result)] { submitted(key, result); });
  });
}

void Service::begin_embed(Connection& connection) {
  if (n_embeddings_ >= kEmbedders + kWaitingEmbeddings) return http_->refuse(connection, {429, "too many embeddings wait", "", "queue_full"});
  if (!has_room_for(connection)) return;
  const uint64_t key = begin_work(connection);
  ++n_embeddings_;
  submitters_->post([this, key, has_left = works_[key].has_left, body = connection.parser.take_body(), asked = std::make_shared<Embeddings>(model_)] {
    Embedded result = guarded<Embedded>([&](Embedded& out) { out.refusal = has_left->load() ? closing() : asked->read(body); });
    if (result.refusal) return loop_.post([this, key, result = std::move(result)] { embedded(key, result); });
    embedders_->post([this, key, has_left, asked] { wait_for_vectors(key, *has_left, asked); });
  });
}

// What takes memory is done by few threads, since each keeps some.
void Service::wait_for_vectors(uint64_t key, const std::atomic<bool>& has_left, const std::shared_ptr<Embeddings>& asked) {
  Embedded result = guarded<Embedded>([&](Embedded& out) { out.refusal = has_left.load() ? closing() : asked->compute(has_left); });
  if (result.refusal) return loop_.post([this, key, result = std::move(result)] { embedded(key, result); });
  submitters_->post([this, key, asked] {
    Embedded written = guarded<Embedded>([&](Embedded& out) { out.json = asked->json(); });
    loop_.post([this, key, written = std::move(written)] { embedded(key, written); });
  });
}

void Service::submitted(uint64_t key, const Submitted& result) {
  Connection* connection = end_job(key);
  Work& work = works_.at(key);
  if (result.refusal) {
    works_.erase(key);
    if (!connection) return;
    connection->work = 0;
    return http_->refuse(*connection, *result.refusal);
  }
  ++metrics_.n_requests;
  work.request = result.request.id;
  work.reader = result.request.reader;
  work.form = result.form;
  work.form.has_parts = work.reader != nullptr;
  work.answer.emplace(model_, work.form, key);
  take_tokens(work, work.unread.data(), work.unread.size(), work.unread_top.data());
  work.unread = {}, work.unread_top = {};
  if (work.connection == 0) cancel(work);
  write(key);
}

void Service::embedded(uint64_t key, const Embedded& result) {
  Connection* connection = end_job(key);
  works_.erase(key);
  if (!result.refusal) ++metrics_.n_embeddings;
  if (!connection) {
    --n_embeddings_;
    return;
  }
  connection->work = 0;
  connection->has_place = true;
  if (result.refusal) return http_->refuse(*connection, *result.refusal);
  http_->respond(*connection, {200, "application/json", result.json});
}

// ---- works go on

void Service::poll() {
  size_t n = 0;
  inlay_error error;
  if (inlay_poll(model_.queue, events_.data(), events_.size(), sizeof events_[0], tokens_.data(), tokens_.size(), text_.data(), text_.size(), &n,
                 &error) != INLAY_OK)
    return fail();
  for (size_t i = 0; i < n; ++i) take_event(events_[i], text_.data() + events_[i].first_byte, tokens_.data() + events_[i].first_token);
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const uint64_t key : touched_) write(key);
  touched_.clear();
}

// The engine is gone.
void Service::fail() {
  has_failed_ = true;
  loop_.stop();
}

void Service::take_event(const inlay_request_event& event, const char* text, const inlay_token_logprob* tokens) {
  const auto found = works_.find(event.user);
  const bool ends = event.kind == INLAY_REQUEST_EVENT_END;
  if (ends) metrics_.add(event);
  if (ends && event.finish_reason == INLAY_FINISH_ERROR && event.status == INLAY_DEVICE_LOST) is_lost_ = true;
  if (found == works_.end() || (!ends && event.kind != INLAY_REQUEST_EVENT_TOKENS)) return;
  Work& work = found->second;
  (ends && event.finish_reason == INLAY_FINISH_ERROR ? work.end_text : work.piece.text).append(text, event.text_bytes);
  if (ends) work.end = event;
  const inlay_token_logprob *const top = tokens + event.n_tokens, *const top_end = top + event.n_tokens * event.n_top;
  if (work.answer) {
    take_tokens(work, tokens, static_cast<size_t>(event.n_tokens), top);
  } else {
    work.unread.insert(work.unread.end(), tokens, top);
    work.unread_top.insert(work.unread_top.end(), top, top_end);
  }
  touched_.push_back(event.user);
}

void Service::take_tokens(Work& work, const inlay_token_logprob* tokens, size_t n, const inlay_token_logprob* top) {
  work.answer->add_tokens(tokens, n, top, work.piece);
  read_parts(work, tokens, n);
}

// A stop text in the content ends the request, which is cancelled: that is no failure then.
void Service::read_parts(Work& work, const inlay_token_logprob* tokens, size_t n) {
  if (!work.reader) return;
  work.piece.text.clear();
  work.reader->read(tokens, n);
  if (work.end) work.reader->finish();
  for (MessageDelta& delta : work.reader->take()) add_delta(work.piece.deltas, std::move(delta));
  if (!work.reader->has_stopped()) return;
  if (!work.end) return cancel(work);
  if (work.end->finish_reason != INLAY_FINISH_ERROR) work.end->finish_reason = INLAY_FINISH_STOP_STRING;
}

// Writes what there is of an answer, as far as its client takes it.
void Service::write(uint64_t key) {
  const auto found = works_.find(key);
  if (found == works_.end() || !found->second.answer) return;
  Work& work = found->second;
  Connection* connection = http_->find(work.connection);
  if (!connection) {
    work.piece = {};
    if (work.end && work.connection == 0) works_.erase(found);
    return;
  }
  if (work.end) connection->work = 0;
  if (work.form.stream) {
    write_stream(work, *connection);
  } else if (work.end) {
    write_whole(work, *connection);
  }
  if (work.end) works_.erase(found);
}

void Service::write_whole(Work& work, Connection& connection) {
  Refusal refusal;
  if (failed(*work.end, work.end_text, refusal)) return http_->refuse(connection, refusal);
  http_->respond(connection, {200, "application/json", work.answer->whole(work.piece, *work.end)});
}

void Service::write_stream(Work& work, Connection& connection) {
  Refusal refusal;
  const bool fails = work.end && failed(*work.end, work.end_text, refusal);
  if (fails && !work.has_begun && work.piece.is_empty()) return http_->refuse(connection, refusal);
  if (!work.has_begun) {
    http_->begin_stream(connection, "text/event-stream");
    http_->write_stream(connection, work.answer->beginning());
    work.has_begun = true;
  }
  if (connection.unsent() < kUnsentBytes || work.end) {
    http_->write_stream(connection, work.answer->piece(work.piece));
    work.piece = {};
  }
  if (!work.end) return http_->flush(connection);
  http_->write_stream(connection, fails ? Answer::failure(refusal) : work.answer->ending(*work.end));
  http_->end_stream(connection, fails);
}

void Service::has_room(Connection& connection) { write(connection.work); }

// ---- works end before their time

void Service::cancel(const Work& work) {
  if (work.request != 0) inlay_request_cancel(model_.queue, work.request, nullptr);
}

// An embedding's place is free when its answer takes no memory any more.
void Service::has_sent(Connection& connection) {
  if (std::exchange(connection.has_place, false)) --n_embeddings_;
}

void Service::has_left(Connection& connection) {
  has_sent(connection);
  const auto found = works_.find(connection.work);
  if (found == works_.end()) return;
  Work& work = found->second;
  work.connection = 0;
  work.has_left->store(true);
  work.piece = {};
  ++metrics_.n_left;
  cancel(work);
  if (work.end && work.answer) works_.erase(found);
}

void Service::shut_down() {
  if (closes_at_ == 0) {
    http_->stop_listening();
    http_->close_idle();
  }
  closes_at_ = closes_at_ == 0 ? now_ms() + kGraceMs : now_ms();
}

void Service::on_round() {
  http_->end_round();
  if (closes_at_ == 0) return;
  const int64_t late_ms = now_ms() - closes_at_;
  if ((works_.empty() && http_->n_connections() == 0) || late_ms > kFlushMs) return loop_.stop();
  if (late_ms < 0 || std::exchange(has_cancelled_, true)) return;
  for (const auto& [key, work] : works_) {
    work.has_left->store(true);
    cancel(work);
  }
}

}  // namespace inlay::server
