// A round with a tool: the model calls it, the program appends the result, the model answers. docs/tools.md
// usage: tools MODEL
#include <stdio.h>
#include <stdlib.h>

#include "inlay.h"

#define TOOLS \
  "[{\"type\": \"function\", \"function\": {\"name\": \"price\", \"parameters\": {\"type\": \"object\", \"properties\": " \
  "{\"item\": {\"enum\": [\"room\", \"meal\"]}}, \"required\": [\"item\"], \"additionalProperties\": false}}}]"
#define QUESTION "{\"role\": \"user\", \"content\": \"What is a room?\"}"

static const char* const writer = "<tool_call>";  // NULL, and lengths 0, where the model's own template knows calls
static inlay_engine* engine;
static inlay_queue* queue;
static inlay_error err;

static void must(inlay_status status) {
  if (status == INLAY_OK) return;
  fprintf(stderr, "tools: %s (%s)\n", err.message, inlay_status_name(err.status));
  exit(1);
}

// The model's next message, as JSON for the conversation.
static void answer(const char* conversation, const char* demand, char* message, size_t room) {
  const inlay_chat_params chat = {.struct_size = sizeof chat, .flags = INLAY_CHAT_ADD_GENERATION_PROMPT};
  int32_t prompt[512];
  size_t n_prompt = 0, n = 0;
  must(inlay_chat_tokenize(engine, conversation, SIZE_MAX, &chat, prompt, 512, &n_prompt, &err));

  const inlay_constraint_params params = {.struct_size = sizeof params, .kind = INLAY_CONSTRAINT_MESSAGE,
    .flags = INLAY_CONSTRAINT_FLAG_COMPACT, .text = demand, .text_len = SIZE_MAX, .prompt = prompt, .n_prompt = n_prompt,
    .chat_template = writer, .template_len = SIZE_MAX};
  inlay_constraint* constraint = NULL;
  must(inlay_constraint_create(engine, &params, &constraint, &err));
  const inlay_chat_parser_params reader = {.struct_size = sizeof reader, .tools = TOOLS, .tools_len = SIZE_MAX, .prompt = prompt,
    .n_prompt = n_prompt, .chat_template = writer, .template_len = SIZE_MAX};
  inlay_chat_parser* parser = NULL;
  must(inlay_chat_parser_create(engine, &reader, &parser, &err));

  const inlay_session_params session = {.struct_size = sizeof session, .max_tokens = 300, .constraint = constraint};
  const inlay_request request = {.struct_size = sizeof request, .tokens = prompt, .n_tokens = n_prompt, .session_params = &session};
  uint64_t id = 0;
  must(inlay_submit(queue, &request, &id, &err));
  inlay_constraint_free(constraint);  // the request keeps what it needs of it
  for (int has_ended = 0; !has_ended;) {
    const inlay_run_params budget = {.struct_size = sizeof budget, .budget_us = 4000};
    inlay_run_info info = {.struct_size = sizeof info};
    inlay_request_event events[4];
    inlay_token_logprob drawn[64];
    char text[1024];
    must(inlay_run(engine, &budget, &info, &err));
    must(inlay_poll(queue, events, 4, sizeof events[0], drawn, 64, text, sizeof text, &n, &err));
    for (size_t i = 0; i < n; i++) {
      const inlay_token_logprob* tokens = drawn + events[i].first_token;
      for (int32_t k = 0; k < events[i].n_tokens; k++) must(inlay_chat_parser_append(parser, &tokens[k].token, 1, &err));
      has_ended |= events[i].kind == INLAY_REQUEST_EVENT_END;
    }
  }
  must(inlay_chat_parser_finish(parser, &err));
  must(inlay_chat_parser_get_message(parser, message, room, &n, &err));
  inlay_chat_parser_free(parser);
}

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: tools MODEL\n"), 2;
  char called[4096], conversation[8192], said[4096];
  must(inlay_load(argv[1], SIZE_MAX, NULL, &engine, &err));
  must(inlay_queue_create(engine, NULL, &queue, &err));
  answer("{\"messages\": [" QUESTION "], \"tools\": " TOOLS "}",
         "{\"tools\": " TOOLS ", \"tool_choice\": \"required\", \"parallel_tool_calls\": false}", called, sizeof called);
  puts(called);
  // Here the program does what the call asks for; tool_call_id is the call's id, which templates of many models want.
  snprintf(conversation, sizeof conversation,
           "{\"messages\": [" QUESTION ", %s, {\"role\": \"tool\", \"content\": \"5 coins\"}], \"tools\": " TOOLS "}", called);
  answer(conversation, "{\"tools\": " TOOLS ", \"tool_choice\": \"none\"}", said, sizeof said);
  puts(said);
  inlay_queue_free(queue);
  inlay_free(engine);
  return 0;
}
