// The model that is served.
#pragma once

#include <cstdint>
#include <string>

#include "include/capi/inlay.h"

namespace inlay::server {

// A struct of the API with its size set and all else zero.
template <class T>
T sized() {
  T value = {};
  value.struct_size = sizeof value;
  return value;
}

struct Model {
  const inlay_engine* engine = nullptr;
  const inlay_queue* queue = nullptr;
  inlay_engine_info info = {};
  std::string name;         // as clients say it
  int64_t loaded = 0;       // when, in seconds since 1970
  int32_t max_tokens = 0;   // of an answer, where the client says nothing; 0: as many as the context has room for
  uint64_t timeout_us = 0;  // of an answer; 0: none
  inlay_pooling pooling = INLAY_POOLING_DEFAULT;
  std::string chat_template, own_format;  // in the place of the model's; empty: the model's
  // What its chat template writes.
  std::string chat_format;
  bool has_reasoning = false, has_calls = false;
  bool takes_text = false;  // the arguments of earlier calls as text
};

// By which format and template messages are read (inlay_chat_parser_params) or constrained (inlay_constraint_params).
template <class Params>
void set_format(const Model& model, Params& params) {
  if (!model.own_format.empty()) params.format = model.own_format.data();
  params.format_len = model.own_format.size();
  if (!model.chat_template.empty()) params.chat_template = model.chat_template.data();
  params.template_len = model.chat_template.size();
}

}  // namespace inlay::server
