// The JSON of answers: tokens with their probabilities, whole and in a stream. The vocabulary is the test's own, in the library's place.
#include "examples/server/answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tests/support/allocation_counter.h"

namespace {

constexpr int32_t kEnd = 7;  // ends a generation
// "\xc3" and "\xa4" are no UTF-8 each; so both are U+FFFD in JSON, with the bytes beside it.
const std::array<std::string, 8> kTexts = {"a", " \"b\"\\", "\n\x01", "\xc3", "\xa4", "\xe2\x82\xac", "", "<end>"};

}  // namespace

inlay_status inlay_token_get_info(const inlay_engine*, int32_t token, inlay_token_info* info, inlay_error*) {
  const std::string& text = kTexts.at(static_cast<size_t>(token));
  info->flags = token == kEnd ? INLAY_TOKEN_FLAG_END_OF_GENERATION : 0u;
  info->piece_bytes = static_cast<uint32_t>(text.size());
  std::memcpy(info->piece, text.data(), text.size());
  return INLAY_OK;
}

const char* inlay_status_name(inlay_status) { return ""; }

namespace inlay::server {

namespace {

constexpr int32_t kTop = 20;
constexpr size_t kMany = 1000;

AnswerForm form_of(bool is_chat, bool has_parts, int32_t n_top = kTop) {
  AnswerForm form;
  form.is_chat = is_chat;
  form.has_parts = has_parts;
  form.logprobs = true;
  form.n_top = n_top;
  return form;
}

// Tokens as they come, some at a time, each with its text.
class AnswerTest : public testing::Test {
 protected:
  void add(const Answer& answer, size_t first, size_t n, int32_t n_top, Piece& piece) const {
    std::vector<inlay_token_logprob> tokens, top;
    for (size_t i = first; i < first + n; ++i) {
      tokens.push_back(drawn(i));
      for (size_t k = 0; k < static_cast<size_t>(n_top); ++k) top.push_back(likely(i, k));
      piece.text += "word ";
    }
    piece.deltas = {{INLAY_CHAT_DELTA_CONTENT, 0, piece.text}};
    answer.add_tokens(tokens.data(), n, top.data(), piece);
  }
  static inlay_token_logprob drawn(size_t i) { return {static_cast<int32_t>(i % kTexts.size()), -0.37f * static_cast<float>(i % 1001)}; }
  static inlay_token_logprob likely(size_t i, size_t k) {  // one of each token's are missing, as of a small vocabulary
    if (k == 19) return {-1, 0};
    return {static_cast<int32_t>((i * 3 + k) % kTexts.size()), k == 18 ? -INFINITY : -1e-7f * static_cast<float>(k * k * k)};
  }

  Json whole(const AnswerForm& form, size_t n) const {
    const Answer answer(model_, form, 1);
    Piece piece;
    for (size_t i = 0; i < n; ++i) add(answer, i, 1, form.n_top, piece);
    return Json::parse(answer.whole(piece, end_))["choices"][0];
  }

  Model model_;
  inlay_request_event end_ = {};
};

Json bytes_of(const std::string& text) {
  Json out = Json::array();
  for (const char c : text) out.push_back(static_cast<unsigned char>(c));
  return out;
}

// As clients read it: what is no UTF-8 is U+FFFD.
std::string shown(int32_t token) { return Json::parse(json_text(Json(kTexts[static_cast<size_t>(token)]))).get<std::string>(); }

Json token_of(const inlay_token_logprob& token) {
  const double logprob = std::max(-9999.0, static_cast<double>(token.logprob));
  return {{"token", shown(token.token)}, {"logprob", logprob}, {"bytes", bytes_of(kTexts[static_cast<size_t>(token.token)])}};
}

// The arrays of a stream's events together.
void append(Json& to, const Json& more) {
  for (const auto& [name, value] : more.items()) {
    Json& own = to[name];
    if (own.is_array())
      own.insert(own.end(), value.begin(), value.end());
    else
      own = value;
  }
}

TEST_F(AnswerTest, ALargeChatHasItsTokens) {
  for (const bool has_parts : {false, true}) {
    const Json content = whole(form_of(true, has_parts), kMany)["logprobs"]["content"];
    ASSERT_EQ(content.size(), kMany / kTexts.size() * (kTexts.size() - 1)) << "without those that end";
    for (size_t i = 0, at = 0; i < kMany; ++i) {
      if (drawn(i).token == kEnd) continue;
      Json wanted = token_of(drawn(i));
      wanted["top_logprobs"] = Json::array();
      for (size_t k = 0; k < 19; ++k) wanted["top_logprobs"].push_back(token_of(likely(i, k)));
      ASSERT_EQ(content[at++], wanted) << i;
    }
  }
}

TEST_F(AnswerTest, ALargeCompletionHasItsTokens) {
  const Json logprobs = whole(form_of(false, false), kMany)["logprobs"];
  for (size_t i = 0, at = 0; i < kMany; ++i) {
    if (drawn(i).token == kEnd) continue;
    Json wanted = Json::object();
    for (size_t k = 0; k < 19; ++k)
      if (!wanted.contains(shown(likely(i, k).token))) wanted[shown(likely(i, k).token)] = token_of(likely(i, k))["logprob"];
    ASSERT_EQ(logprobs["tokens"][at], shown(drawn(i).token)) << i;
    ASSERT_EQ(logprobs["token_logprobs"][at], token_of(drawn(i))["logprob"]) << i;
    ASSERT_EQ(logprobs["top_logprobs"][at++], wanted) << i;
  }
}

TEST_F(AnswerTest, StreamsHaveTheTokensOfTheWholeAnswer) {
  for (const AnswerForm& form : {form_of(true, false), form_of(true, true), form_of(false, false), form_of(true, false, 0), form_of(false, false, 0)}) {
    Answer answer(model_, form, 1);
    Json streamed;
    for (size_t i = 0; i < kMany;) {
      Piece piece;
      const size_t n = std::min(1 + i % 97, kMany - i);
      add(answer, i, n, form.n_top, piece);
      i += n;
      const std::string event = answer.piece(piece);
      ASSERT_EQ(event.substr(0, 6), "data: ");
      append(streamed, Json::parse(event.substr(6))["choices"][0]["logprobs"]);
    }
    EXPECT_EQ(streamed, whole(form, kMany)["logprobs"]) << form.is_chat << form.has_parts << form.n_top;
  }
}

TEST_F(AnswerTest, ByteForByte) {
  Answer answer(model_, form_of(true, false, 2), 1);
  Piece piece;
  const inlay_token_logprob token = {5, -0.5f}, top[] = {{3, -0.25f}, {-1, 0}};
  answer.add_tokens(&token, 1, top, piece);
  piece.text = "\xe2\x82\xac";
  const std::string whole = answer.whole(piece, end_), event = answer.piece(piece), last = answer.ending(end_);
  const std::string logprobs =
      R"("logprobs":{"content":[{"token":"€","logprob":-0.5,"bytes":[226,130,172],"top_logprobs":[{"token":"�","logprob":-0.25,"bytes":[195]}]}],"refusal":null})";
  const auto from_choices = [](const std::string& text) { return text.substr(text.find("\"choices\"")); };
  EXPECT_EQ(from_choices(whole), R"("choices":[{"index":0,"message":{"role":"assistant","content":"€","refusal":null},)" + logprobs +
                                     R"(,"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,)" +
                                     R"("prompt_tokens_details":{"cached_tokens":0}}})");
  EXPECT_EQ(from_choices(event), R"("choices":[{"index":0,"delta":{"content":"€"},)" + logprobs + ",\"finish_reason\":null}]}\n\n");
  EXPECT_EQ(from_choices(last), "\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
}

// No tree is made of a whole answer, nor of all that a slow reader has missed.
TEST_F(AnswerTest, TheEndTakesAsManyAllocationsHoweverManyTokensThereAre) {
  for (const AnswerForm& form : {form_of(true, false), form_of(true, true), form_of(false, false)}) {
    std::array<int64_t, 2> whole = {}, event = {};
    for (const size_t i : {0, 1}) {
      Answer answer(model_, form, 1);
      Piece piece;
      add(answer, 0, i == 0 ? 64 : 4096, form.n_top, piece);
      const int64_t n_before = test::allocations_of_this_thread();
      const std::string text = answer.whole(piece, end_);
      const int64_t n_between = test::allocations_of_this_thread();
      const std::string more = answer.piece(piece);
      whole[i] = n_between - n_before;
      event[i] = test::allocations_of_this_thread() - n_between;
      EXPECT_GT(text.size(), i == 0 ? 10'000u : 500'000u);
    }
    EXPECT_LT(whole[1], whole[0] + 32) << form.is_chat << form.has_parts;  // the text's own growth
    EXPECT_LT(event[1], event[0] + 32) << form.is_chat << form.has_parts;
  }
}

}  // namespace

}  // namespace inlay::server
