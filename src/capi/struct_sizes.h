// Size of each struct in the ABI version that it appeared in: what is shorter cannot come from any header.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
#pragma once

#include <cstddef>

#include "src/capi/exported.h"

namespace inlay::capi {

template <class T>
inline constexpr size_t kFirstSize = 0;
template <>
inline constexpr size_t kFirstSize<inlay_device_info> = 288;
template <>
inline constexpr size_t kFirstSize<inlay_reader> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_load_params> = 80;
template <>
inline constexpr size_t kFirstSize<inlay_memory_info> = 56;
template <>
inline constexpr size_t kFirstSize<inlay_engine_info> = 88;
template <>
inline constexpr size_t kFirstSize<inlay_token_info> = 152;
template <>
inline constexpr size_t kFirstSize<inlay_sampler_params> = 64;
template <>
inline constexpr size_t kFirstSize<inlay_session_params> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_session_info> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_event> = 328;
template <>
inline constexpr size_t kFirstSize<inlay_stats> = 72;
template <>
inline constexpr size_t kFirstSize<inlay_profile_params> = 16;
template <>
inline constexpr size_t kFirstSize<inlay_convert_params> = 48;
template <>
inline constexpr size_t kFirstSize<inlay_chat_params> = 24;
template <>
inline constexpr size_t kFirstSize<inlay_embed_params> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_embed_input> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_score_params> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_token_score> = 24;
template <>
inline constexpr size_t kFirstSize<inlay_logits> = 24;
template <>
inline constexpr size_t kFirstSize<inlay_queue_params> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_request> = 128;
template <>
inline constexpr size_t kFirstSize<inlay_request_event> = 112;
template <>
inline constexpr size_t kFirstSize<inlay_run_params> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_run_info> = 24;
template <>
inline constexpr size_t kFirstSize<inlay_thread_params> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_constraint_params> = 96;
template <>
inline constexpr size_t kFirstSize<inlay_constraint_info> = 16;
template <>
inline constexpr size_t kFirstSize<inlay_state_writer> = 24;
template <>
inline constexpr size_t kFirstSize<inlay_state_reader> = 24;
template <>
inline constexpr size_t kFirstSize<inlay_chat_parser_params> = 72;
template <>
inline constexpr size_t kFirstSize<inlay_chat_delta> = 32;
template <>
inline constexpr size_t kFirstSize<inlay_chat_parser_info> = 16;

}  // namespace inlay::capi
