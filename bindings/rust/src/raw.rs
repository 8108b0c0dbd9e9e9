// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
//! The C API as it is: types, constants and functions under their C names, for what the safe layer does not say.
//!
//! Rules that hold for every function:
//! - One that can fail returns an [`inlay_status`] and describes the failure in `err`, which may be null. Any of them may
//!   return `INLAY_INVALID_ARGUMENT`, `INLAY_OUT_OF_MEMORY` or `INLAY_INTERNAL` besides the errors that it names.
//! - Thread: `any` may be called from any thread at any time; `exclusive(x)` while no other call uses x, apart from those
//!   of class `any`. A second call on a session returns `INLAY_BUSY` and changes nothing. No state belongs to a thread.
//! - In a child of `fork()`, calls on handles that the parent made return `INLAY_INVALID_STATE`, and freeing does nothing.
//! - A struct with a `struct_size` begins as its `Default`, which is all zero with the size set. Zero is every field's default.
//! - Text in: UTF-8 with a length, `usize::MAX` if a zero ends it. Text out: the caller's buffer; a null buffer of size 0
//!   asks for the needed size. Lengths never count the zero.
//! - Only handles have to be freed, in any order.
#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_void, CStr};
use core::marker::{PhantomData, PhantomPinned};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("Inlay supports 64-bit targets only");

/// Major version of the ABI that this file describes.
pub const INLAY_ABI_MAJOR: u32 = 1;
/// Minor version of the ABI that this file describes.
pub const INLAY_ABI_MINOR: u32 = 3;
/// Most alternatives that one event can report.
pub const INLAY_MAX_LOGPROBS: usize = 20;
/// Bytes of text that one event can carry; the rest is had with
/// [`inlay_session_take_text`](Functions::inlay_session_take_text).
pub const INLAY_EVENT_TEXT_BYTES: usize = 128;
/// Size of the message in [`inlay_error`], with its terminating zero.
pub const INLAY_ERROR_MESSAGE_BYTES: usize = 480;
/// Size of the texts in [`inlay_device_info`], with their terminating zero.
pub const INLAY_DEVICE_NAME_BYTES: usize = 128;
/// Bytes of a token's piece that [`inlay_token_info`] can carry.
pub const INLAY_TOKEN_PIECE_BYTES: usize = 128;

/// What a call came to.
pub type inlay_status = i32;
/// It worked.
pub const INLAY_OK: inlay_status = 0;
/// An argument is NULL, out of its range, or contradicts another.
pub const INLAY_INVALID_ARGUMENT: inlay_status = 1;
/// No such file, key, index or message.
pub const INLAY_NOT_FOUND: inlay_status = 2;
/// Reading failed; native_code is the system's error number.
pub const INLAY_IO: inlay_status = 3;
/// The model's bytes are damaged or contradict themselves.
pub const INLAY_FORMAT: inlay_status = 4;
/// Well formed, but this build or this model cannot do it.
pub const INLAY_UNSUPPORTED: inlay_status = 5;
/// Host memory ran out.
pub const INLAY_OUT_OF_MEMORY: inlay_status = 6;
/// Device memory, or the budget set for it, is too small.
pub const INLAY_DEVICE_OUT_OF_MEMORY: inlay_status = 7;
/// The tokens do not fit into the context; the session is unchanged. A generation that reaches the context's end is
/// no error: its finish reason is CONTEXT_FULL.
pub const INLAY_CONTEXT_FULL: inlay_status = 8;
/// The pool that all sessions share has no free block; the session is unchanged. Where some layers have a sliding
/// window, the message says whose pool.
pub const INLAY_KV_FULL: inlay_status = 9;
/// The caller's buffer is too small; the needed size was reported.
pub const INLAY_BUFFER_TOO_SMALL: inlay_status = 10;
/// A cancel request or a callback stopped the call.
pub const INLAY_CANCELLED: inlay_status = 11;
/// Another thread is using the object now.
pub const INLAY_BUSY: inlay_status = 12;
/// The machine or this build has no such device.
pub const INLAY_NO_DEVICE: inlay_status = 13;
/// The device failed; the engine can only be freed.
pub const INLAY_DEVICE_LOST: inlay_status = 14;
/// A fault in the library; the handle can only be freed.
pub const INLAY_INTERNAL: inlay_status = 15;
/// The engine already has max_sessions sessions.
pub const INLAY_SESSION_LIMIT: inlay_status = 16;
/// The object cannot do this now, as when a session has finished.
pub const INLAY_INVALID_STATE: inlay_status = 17;
/// The queue holds as many requests as it was made for; poll, then try again.
pub const INLAY_QUEUE_FULL: inlay_status = 18;

/// Where a model runs.
pub type inlay_device_kind = i32;
/// The fastest device that there is and that the model fits on.
pub const INLAY_DEVICE_AUTO: inlay_device_kind = 0;
/// The processor, with the widest instructions that it has.
pub const INLAY_DEVICE_CPU: inlay_device_kind = 1;
/// An NVIDIA GPU.
pub const INLAY_DEVICE_CUDA: inlay_device_kind = 2;
/// The scalar FP32 interpreter on the processor: slow, for checking results.
pub const INLAY_DEVICE_REFERENCE: inlay_device_kind = 3;

/// Type of the stored keys and values.
pub type inlay_kv_dtype = i32;
/// The device's own: F32 on REFERENCE, else F16.
pub const INLAY_KV_DEFAULT: inlay_kv_dtype = 0;
/// 2 bytes a value; not on REFERENCE.
pub const INLAY_KV_F16: inlay_kv_dtype = 1;
/// 4 bytes a value; on REFERENCE only.
pub const INLAY_KV_F32: inlay_kv_dtype = 2;
/// 1 byte a value (E4M3), and 4 bytes for every token and head; on CUDA only.
pub const INLAY_KV_FP8: inlay_kv_dtype = 3;
/// As FP8, with integers: finer for most values, coarser for small ones beside a large one.
pub const INLAY_KV_INT8: inlay_kv_dtype = 4;

/// How important a log message is.
pub type inlay_log_level = i32;
/// As a limit: nothing.
pub const INLAY_LOG_OFF: inlay_log_level = -1;
/// As a limit: INFO.
pub const INLAY_LOG_DEFAULT: inlay_log_level = 0;
/// Something failed.
pub const INLAY_LOG_ERROR: inlay_log_level = 1;
/// It works, but probably not as meant.
pub const INLAY_LOG_WARNING: inlay_log_level = 2;
/// What was found and chosen.
pub const INLAY_LOG_INFO: inlay_log_level = 3;
/// Details for those who look for a fault.
pub const INLAY_LOG_DEBUG: inlay_log_level = 4;

/// Why a session stopped generating.
pub type inlay_finish_reason = i32;
/// It has not.
pub const INLAY_FINISH_NONE: inlay_finish_reason = 0;
/// The model drew one of its end tokens.
pub const INLAY_FINISH_END_OF_GENERATION: inlay_finish_reason = 1;
/// The text reached a stop string; neither it nor anything behind it is part of the text.
pub const INLAY_FINISH_STOP_STRING: inlay_finish_reason = 2;
/// max_tokens tokens were drawn, accepted ones included.
pub const INLAY_FINISH_MAX_TOKENS: inlay_finish_reason = 3;
/// [`inlay_session_cancel`](Functions::inlay_session_cancel) or
/// [`inlay_request_cancel`](Functions::inlay_request_cancel) asked for it, or the engine or the session that it
/// continues was freed.
pub const INLAY_FINISH_CANCELLED: inlay_finish_reason = 4;
/// A stop token was drawn; it is the event's token and in the sequence, but not in the text.
pub const INLAY_FINISH_STOP_TOKEN: inlay_finish_reason = 5;
/// The context has no room for another token. The event's token is the last one; -1 where a prompt has filled the
/// context.
pub const INLAY_FINISH_CONTEXT_FULL: inlay_finish_reason = 6;
/// The request's time was over. Requests alone end so.
pub const INLAY_FINISH_TIMEOUT: inlay_finish_reason = 7;
/// The request failed: the event's status says how. Requests alone end so.
pub const INLAY_FINISH_ERROR: inlay_finish_reason = 8;
/// The text is whole under its constraint, which allows nothing more, and the model has no token that ends a text.
pub const INLAY_FINISH_CONSTRAINT_END: inlay_finish_reason = 9;
/// No token that the constraint allows could follow: a bias bans them all, or tokens were accepted that it does not
/// allow.
pub const INLAY_FINISH_DEAD_END: inlay_finish_reason = 10;
/// The prompt of a request of kind PREFILL is computed. Requests alone end so.
pub const INLAY_FINISH_PREFILLED: inlay_finish_reason = 11;
/// The vector of a request of kind EMBED is there:
/// [`inlay_request_take_values`](Functions::inlay_request_take_values) gives it. Requests alone end so.
pub const INLAY_FINISH_EMBEDDED: inlay_finish_reason = 12;

/// What happened to a session in one step.
pub type inlay_event_kind = i32;
/// Nothing: the session did not advance, status says why.
pub const INLAY_EVENT_NONE: inlay_event_kind = 0;
/// A token was drawn and appended; finish_reason tells if it was the last one.
pub const INLAY_EVENT_TOKEN: inlay_event_kind = 1;
/// The session finished without a new token.
pub const INLAY_EVENT_FINISHED: inlay_event_kind = 2;

/// What a vocabulary entry is.
pub type inlay_token_kind = i32;
/// Text.
pub const INLAY_TOKEN_NORMAL: inlay_token_kind = 0;
/// Stands for what the vocabulary cannot spell.
pub const INLAY_TOKEN_UNKNOWN: inlay_token_kind = 1;
/// Structure, such as the beginning of a turn; not text.
pub const INLAY_TOKEN_CONTROL: inlay_token_kind = 2;
/// Text that is never split.
pub const INLAY_TOKEN_USER_DEFINED: inlay_token_kind = 3;
/// No meaning.
pub const INLAY_TOKEN_UNUSED: inlay_token_kind = 4;
/// One byte of a character that has no token of its own.
pub const INLAY_TOKEN_BYTE: inlay_token_kind = 5;

/// Properties of a loaded model.
pub type inlay_engine_flags = u32;
/// Text functions work; without it only token ids do.
pub const INLAY_ENGINE_HAS_TOKENIZER: inlay_engine_flags = 1;
/// [`inlay_tokenize`](Functions::inlay_tokenize) begins with the BOS token unless told otherwise.
pub const INLAY_ENGINE_ADDS_BOS: inlay_engine_flags = 2;

/// How text becomes tokens.
pub type inlay_tokenize_flags = u32;
/// Leave out the BOS and EOS tokens that the model asks for; changes nothing where it asks for none.
pub const INLAY_TOKENIZE_NO_BOS_EOS: inlay_tokenize_flags = 1;
/// Control tokens written in the text become their ids. Not for untrusted text.
pub const INLAY_TOKENIZE_PARSE_SPECIAL: inlay_tokenize_flags = 2;

/// How tokens become text.
pub type inlay_detokenize_flags = u32;
/// Control tokens give their text instead of nothing.
pub const INLAY_DETOKENIZE_SHOW_SPECIAL: inlay_detokenize_flags = 1;

/// Properties of a token.
pub type inlay_token_flags = u32;
/// Drawing it ends the generation.
pub const INLAY_TOKEN_FLAG_END_OF_GENERATION: inlay_token_flags = 1;
/// It is not text.
pub const INLAY_TOKEN_FLAG_CONTROL: inlay_token_flags = 2;

/// How a session generates.
pub type inlay_session_flags = u32;
/// End tokens are drawn like others and do not finish the session. Changes nothing for a model without end tokens.
pub const INLAY_SESSION_IGNORE_END_OF_GENERATION: inlay_session_flags = 1;
/// Each prefill also takes the KV blocks for max_tokens, or up to the context without a limit, or ends with KV_FULL:
/// the generation after it does not. They go back when it ends. Blocks that forks share are not reserved for both.
pub const INLAY_SESSION_RESERVE: inlay_session_flags = 2;
/// The session is what requests continue ([`inlay_request`].continues): it keeps tokens and sampler from one to the
/// next. It has no place among max_sessions, and its KV blocks stay until their room is wanted; then they are
/// computed again. Prefill, decode steps and shift are refused with INVALID_STATE, and it has no logits. Calls are
/// BUSY while a request has it; freeing it ends these requests with CANCELLED. RESERVE changes nothing for it.
pub const INLAY_SESSION_FOR_REQUESTS: inlay_session_flags = 4;

/// How a profile is written.
pub type inlay_profile_form = i32;
/// The latest, one line a kind of operation, with the sums.
pub const INLAY_PROFILE_KINDS: inlay_profile_form = 0;
/// The latest, one line an operation.
pub const INLAY_PROFILE_TIMELINE: inlay_profile_form = 1;
/// All that the engine keeps, as JSON in Chrome's trace-event format.
pub const INLAY_PROFILE_TRACE: inlay_profile_form = 2;

/// How a model runs.
pub type inlay_load_flags = u32;
/// CUDA, without effect elsewhere, as the load's log says: prompts are multiplied by the library's own kernels, even
/// where the machine has cuBLASLt.
pub const INLAY_LOAD_NO_CUBLAS: inlay_load_flags = 1;
/// CUDA, likewise: a decode step begins the next one of the same sessions before it returns, so that the device need
/// not wait for the host. If anything else comes than that step, it waits until the device is done with it. Not of
/// sessions with penalties or biases, nor of models with sliding windows. Takes memory for one more row of logits a
/// session.
pub const INLAY_LOAD_RUN_AHEAD: inlay_load_flags = 4;
/// CPU, without effect elsewhere, as the load's log says: memory for the activations of long prompts is taken from
/// the system when it is first used, not beside the reading of weights. The process stays smaller until there are
/// long prompts; the first prompts take longer.
pub const INLAY_LOAD_TAKE_PAGES_LATER: inlay_load_flags = 8;
/// CPU, likewise: matrix products with quantized weights take all activations in 16 bits, not only the third of them
/// that holds most of the error. Logits then are those of the dequantized weights but for a KL divergence of about
/// 1e-6; prompts take longer.
pub const INLAY_LOAD_EXACT_ACTIVATIONS: inlay_load_flags = 16;
/// Requests compute all of their prompts. Without it, blocks of the KV pool stay after the requests that computed
/// them until their room is wanted, and requests that begin with the same tokens, at present 8 at least, find them
/// and do not compute these. Only blocks that are full stay ([`inlay_stats`].n_block_tokens). On CUDA the rest of a
/// prompt may then differ in its last bits. Changes nothing for models all of whose layers have a sliding window, of
/// which no blocks are kept.
pub const INLAY_LOAD_NO_PREFIX_CACHE: inlay_load_flags = 32;

/// Type in which weights are held.
pub type inlay_weight_dtype = i32;
/// The file's types.
pub const INLAY_WEIGHT_DEFAULT: inlay_weight_dtype = 0;
/// Matrices of F32, F16 and BF16 are quantized while they are loaded: E4M3 codes and an F16 scale for every 32
/// columns, 8.5 bits a weight. All else stays as it is: quantized matrices, norms, biases, rows that are no multiple
/// of 32 long, and an embedding that is not also the output matrix.
pub const INLAY_WEIGHT_FP8: inlay_weight_dtype = 1;
/// Matrices get the types that [`inlay_convert`](Functions::inlay_convert) gives them, while they are loaded; those
/// that take as few bits a weight already stay as they are.
pub const INLAY_WEIGHT_Q8_0: inlay_weight_dtype = 2;
/// Likewise.
pub const INLAY_WEIGHT_Q4_0: inlay_weight_dtype = 3;
/// Likewise.
pub const INLAY_WEIGHT_Q4_K_M: inlay_weight_dtype = 4;
/// Likewise.
pub const INLAY_WEIGHT_Q5_K_M: inlay_weight_dtype = 5;
/// Likewise.
pub const INLAY_WEIGHT_Q6_K: inlay_weight_dtype = 6;

/// What a sampler does otherwise.
pub type inlay_sampler_flags = u32;
/// Repetitions that DRY looks for reach across any text. Refused together with dry_breakers; changes nothing without
/// dry_multiplier.
pub const INLAY_SAMPLER_NO_DRY_BREAKERS: inlay_sampler_flags = 1;
/// The temperature comes behind the filters, which see the probabilities that the model gave: as llama.cpp orders
/// them. Changes nothing with mirostat_tau, and without a filter.
pub const INLAY_SAMPLER_TEMPERATURE_LAST: inlay_sampler_flags = 2;
/// Penalties leave the tokens alone that end a generation. Changes nothing without penalties.
pub const INLAY_SAMPLER_SPARE_END_TOKENS: inlay_sampler_flags = 4;

/// Types of the matrices of a GGUF file that is written, with the numbers of [`inlay_weight_dtype`]; FP8's is
/// refused, because no GGUF file has it. Norms and biases are F32 in all. Rows that are no whole blocks of a type get
/// one with smaller blocks.
pub type inlay_convert_type = i32;
/// F16.
pub const INLAY_CONVERT_DEFAULT: inlay_convert_type = 0;
/// 8.5 bits a weight.
pub const INLAY_CONVERT_Q8_0: inlay_convert_type = 2;
/// 4.5 bits a weight; the output matrix in Q6_K.
pub const INLAY_CONVERT_Q4_0: inlay_convert_type = 3;
/// Q4_K, and Q6_K for the output matrix and for the values and down projections of half of the layers.
pub const INLAY_CONVERT_Q4_K_M: inlay_convert_type = 4;
/// Q5_K, and Q6_K as in Q4_K_M.
pub const INLAY_CONVERT_Q5_K_M: inlay_convert_type = 5;
/// 6.6 bits a weight.
pub const INLAY_CONVERT_Q6_K: inlay_convert_type = 6;
/// Every matrix in F16.
pub const INLAY_CONVERT_F16: inlay_convert_type = 7;
/// Every matrix in BF16.
pub const INLAY_CONVERT_BF16: inlay_convert_type = 8;
/// Every matrix in F32.
pub const INLAY_CONVERT_F32: inlay_convert_type = 9;

/// How an explanation is written.
pub type inlay_explain_form = i32;
/// For people.
pub const INLAY_EXPLAIN_TEXT: inlay_explain_form = 0;
/// The same facts as one object with the members path, error, model, tokenizer, chat_template, tensors, devices and
/// contexts. An error is null or a message. Numbers have the names that they have in [`inlay_engine_info`] and
/// [`inlay_memory_info`]. Later minors may add members.
pub const INLAY_EXPLAIN_JSON: inlay_explain_form = 1;

/// How a conversation becomes text.
pub type inlay_chat_flags = u32;
/// The text ends where the model's answer begins: the template's variable add_generation_prompt is true. It changes
/// nothing for a template that does not read the variable, or where the conversation sets it itself.
pub const INLAY_CHAT_ADD_GENERATION_PROMPT: inlay_chat_flags = 1;
/// The text ends where the last message's text does, whatever the template writes behind it, so that the model goes
/// on with that message: an answer that was begun for it, or one that was cut off. Blanks at its end stay unless the
/// template trims them. Not together with ADD_GENERATION_PROMPT; UNSUPPORTED if the template does not write the
/// message as it is.
pub const INLAY_CHAT_CONTINUE_FINAL_MESSAGE: inlay_chat_flags = 2;

/// How the final hidden states of a text's tokens become one vector.
pub type inlay_pooling = i32;
/// As the model's metadata say: one of the others, or what only models ask for (the largest value, the sum divided by
/// the root of the length, a mean whose weights grow, several poolings one behind the other), with the layers that a
/// sentence-transformers folder has behind its pooling (Dense, Normalize), which may change the width; a model that
/// says nothing is refused. The others give the pooled states alone.
pub const INLAY_POOLING_DEFAULT: inlay_pooling = 0;
/// The mean of all tokens.
pub const INLAY_POOLING_MEAN: inlay_pooling = 1;
/// The last token, which has seen all others.
pub const INLAY_POOLING_LAST: inlay_pooling = 2;
/// The first token (CLS), which in a decoder has seen itself alone.
pub const INLAY_POOLING_FIRST: inlay_pooling = 3;

/// What an embedding is.
pub type inlay_embed_flags = u32;
/// Scaled to length 1, so that a scalar product of two is their cosine.
pub const INLAY_EMBED_NORMALIZE: inlay_embed_flags = 1;
/// Texts without the model's default prompt in front; nothing for a model without one. For programs that put another
/// prompt there: the metadata inlay.embedding.prompt.NAME have all prompts of the model.
pub const INLAY_EMBED_NO_PROMPT: inlay_embed_flags = 2;

/// What is to become of a request's prompt. Later minors have more.
pub type inlay_request_kind = i32;
/// Tokens are drawn behind it.
pub const INLAY_REQUEST_GENERATE: inlay_request_kind = 0;
/// It is computed but for its last token, and nothing is drawn: the request ends with PREFILLED. A request that
/// begins with the same tokens then begins sooner, as far as they fill whole blocks; one that continues the same
/// session finds all of them.
pub const INLAY_REQUEST_PREFILL: inlay_request_kind = 1;
/// It becomes a vector, the same as [`inlay_embed`](Functions::inlay_embed) makes: the request ends with EMBEDDED,
/// and [`inlay_request_take_values`](Functions::inlay_request_take_values) gives the vector. Of tokens or text; a
/// text becomes tokens as by [`inlay_embed`](Functions::inlay_embed). With a conversation, chat, session_params or
/// continues it is refused.
pub const INLAY_REQUEST_EMBED: inlay_request_kind = 2;

/// What became of a request. A kind that a program does not know is to be passed over.
pub type inlay_request_event_kind = i32;
/// Tokens, text or both; neither where the call of [`inlay_poll`](Functions::inlay_poll) wants none.
pub const INLAY_REQUEST_EVENT_TOKENS: inlay_request_event_kind = 1;
/// The last event of the request: each has exactly one.
pub const INLAY_REQUEST_EVENT_END: inlay_request_event_kind = 2;

/// What a handle to wait for is to the system.
pub type inlay_wait_kind = i32;
/// A file descriptor of eventfd, for poll, epoll and io_uring: readable while there is something to poll.
pub const INLAY_WAIT_EVENTFD: inlay_wait_kind = 1;
/// A HANDLE for WaitForMultipleObjects: signalled while there is something to poll.
pub const INLAY_WAIT_WINDOWS_EVENT: inlay_wait_kind = 2;

/// How a wait for a queue ended.
pub type inlay_wait_result = i32;
/// There is nothing to poll, and the time is over.
pub const INLAY_WAIT_RESULT_TIME_OVER: inlay_wait_result = 0;
/// There is something to poll.
pub const INLAY_WAIT_RESULT_READY: inlay_wait_result = 1;
/// [`inlay_queue_wake`](Functions::inlay_queue_wake) has ended it.
pub const INLAY_WAIT_RESULT_WOKEN: inlay_wait_result = 2;
/// Nobody would end it any more: the device was lost, or the engine's thread has ended and
/// [`inlay_run`](Functions::inlay_run) was never called. The next call says which.
pub const INLAY_WAIT_RESULT_NOBODY_COMPUTES: inlay_wait_result = 3;

/// How [`inlay_run`](Functions::inlay_run) computes.
pub type inlay_run_flags = u32;
/// One step at most: each request that draws gets one token.
pub const INLAY_RUN_ONE_STEP: inlay_run_flags = 1;
/// The call does not wait for a GPU: it collects what the GPU has computed since the last one and queues the next
/// part, one step at most; budget_us is then the GPU's time, host_budget_us the thread's. Calls of sessions wait for
/// what is queued. The CPU computes as without the flag.
pub const INLAY_RUN_NO_WAIT: inlay_run_flags = 2;

/// What [`inlay_run`](Functions::inlay_run) has left.
pub type inlay_run_info_flags = u32;
/// Another call may compute more; without it none would.
pub const INLAY_RUN_INFO_HAS_WORK: inlay_run_info_flags = 1;

/// How a constraint says which texts may be written.
pub type inlay_constraint_kind = i32;
/// JSON by a schema: Draft 2020-12, and what draft-04 to draft-07 spell otherwise. A keyword that is not supported is
/// refused by its name and place.
pub const INLAY_CONSTRAINT_JSON_SCHEMA: inlay_constraint_kind = 0;
/// Any JSON value.
pub const INLAY_CONSTRAINT_ANY_JSON: inlay_constraint_kind = 1;
/// A grammar as llama.cpp writes them; its rule is root.
pub const INLAY_CONSTRAINT_GBNF: inlay_constraint_kind = 2;
/// A regular expression that the whole text matches, as ECMA-262 has them, without look-around and references.
pub const INLAY_CONSTRAINT_REGEX: inlay_constraint_kind = 3;
/// One of some texts.
pub const INLAY_CONSTRAINT_CHOICES: inlay_constraint_kind = 4;
/// A message with calls of tools, as the model's format writes them, or content by a schema; reasoning before is free
/// or limited. The text is JSON, whose keys are in docs/design/tool-constraints.md: {"tools", "tool_choice",
/// "parallel_tool_calls", "response_format"}, as OpenAI's protocol has them, and {"reasoning": {"max_tokens": N}},
/// which closes reasoning behind N tokens.
pub const INLAY_CONSTRAINT_MESSAGE: inlay_constraint_kind = 5;

/// How constraints write JSON; refused with GBNF, REGEX and CHOICES.
pub type inlay_constraint_flags = u32;
/// No whitespace between values. Else none, one space, or a line end and up to 19 spaces or tabs. Use it unless a
/// person reads the JSON: without it a model pads with blanks, and answers may get twice as long.
pub const INLAY_CONSTRAINT_FLAG_COMPACT: inlay_constraint_flags = 1;
/// Strings that are values may have any escape, such as \u00e9. Else short ones, where JSON needs them.
pub const INLAY_CONSTRAINT_FLAG_ESCAPES: inlay_constraint_flags = 2;
/// JSON_SCHEMA and MESSAGE: keywords that are not supported are dropped and remarked, not refused.
pub const INLAY_CONSTRAINT_FLAG_LENIENT: inlay_constraint_flags = 4;

/// Where a session's text stands under its constraint.
pub type inlay_constraint_state = i32;
/// There is no constraint.
pub const INLAY_CONSTRAINT_STATE_NONE: inlay_constraint_state = 0;
/// Something must follow.
pub const INLAY_CONSTRAINT_STATE_INCOMPLETE: inlay_constraint_state = 1;
/// The text is whole; more may be allowed.
pub const INLAY_CONSTRAINT_STATE_COMPLETE: inlay_constraint_state = 2;
/// It is none that the constraint allows, and none could become of it.
pub const INLAY_CONSTRAINT_STATE_DEAD: inlay_constraint_state = 3;

/// What a part of a message is.
pub type inlay_chat_delta_kind = i32;
/// Text that the model wrote for itself.
pub const INLAY_CHAT_DELTA_REASONING: inlay_chat_delta_kind = 0;
/// Text of the answer.
pub const INLAY_CHAT_DELTA_CONTENT: inlay_chat_delta_kind = 1;
/// A call of a tool begins; the text is the tool's name.
pub const INLAY_CHAT_DELTA_CALL_BEGIN: inlay_chat_delta_kind = 2;
/// The call's id, directly behind CALL_BEGIN. Where the model wrote none before, it is made: at present 9 letters and
/// digits.
pub const INLAY_CHAT_DELTA_CALL_ID: inlay_chat_delta_kind = 3;
/// Of the call's arguments, which all parts together are: a JSON object, as far as the model keeps to its format.
pub const INLAY_CHAT_DELTA_ARGUMENTS: inlay_chat_delta_kind = 4;
/// The call ends. Calls do not overlap. The text is empty.
pub const INLAY_CHAT_DELTA_CALL_END: inlay_chat_delta_kind = 5;

/// What is to be known of a part of a message.
pub type inlay_chat_delta_flags = u32;
/// With CALL_END: the arguments are one JSON value. Without it the call was cut, or went on as the format does not
/// have it.
pub const INLAY_CHAT_DELTA_FLAG_WHOLE: inlay_chat_delta_flags = 1;

/// How a parser reads.
pub type inlay_chat_parser_flags = u32;
/// Letters of markers count, also those that the vocabulary has as tokens: for text in which control tokens are
/// written out. Without it such letters are text, so that a model can speak of them.
pub const INLAY_CHAT_PARSER_WRITTEN_MARKERS: inlay_chat_parser_flags = 1;

/// Where a parser is.
pub type inlay_chat_parser_info_flags = u32;
/// [`inlay_chat_parser_finish`](Functions::inlay_chat_parser_finish) was called.
pub const INLAY_CHAT_PARSER_INFO_FINISHED: inlay_chat_parser_info_flags = 1;
/// With FINISHED: neither reasoning nor a call is open. A message that was cut need not be.
pub const INLAY_CHAT_PARSER_INFO_COMPLETE: inlay_chat_parser_info_flags = 2;
/// Some text was not as the format says. It is content; a control character in a call's JSON is written as JSON has
/// it.
pub const INLAY_CHAT_PARSER_INFO_MALFORMED: inlay_chat_parser_info_flags = 4;

/// One model's weights on one device, with the KV pool and the statistics of its sessions.
#[derive(Debug)]
#[repr(C)]
pub struct inlay_engine {
    _opaque: [u8; 0],
    _neither_send_nor_sync: PhantomData<(*mut u8, PhantomPinned)>,
}

/// One token sequence of an engine, which it keeps alive.
#[derive(Debug)]
#[repr(C)]
pub struct inlay_session {
    _opaque: [u8; 0],
    _neither_send_nor_sync: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Where a part of a program submits requests to an engine, and collects what becomes of them. It keeps no engine
/// alive and may outlive it.
#[derive(Debug)]
#[repr(C)]
pub struct inlay_queue {
    _opaque: [u8; 0],
    _neither_send_nor_sync: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Which texts may be written, compiled for an engine's vocabulary. Any number of sessions and threads may use one at
/// a time. It keeps no engine alive.
#[derive(Debug)]
#[repr(C)]
pub struct inlay_constraint {
    _opaque: [u8; 0],
    _neither_send_nor_sync: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Takes a message apart while a model writes it: reasoning, content and calls of tools. It keeps no engine alive.
#[derive(Debug)]
#[repr(C)]
pub struct inlay_chat_parser {
    _opaque: [u8; 0],
    _neither_send_nor_sync: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Receives one log message. Called on the thread of the call that caused it, and on a thread of the engine only
/// where the host asked for such a thread, with the host's floating-point settings; must not call the library. It
/// must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
pub type inlay_log_fn = unsafe extern "C" fn(user: *mut c_void, level: inlay_log_level, text: *const c_char, text_len: usize);

/// Told how far a load, a conversion, a scoring or an embedding is; while files are read or texts become tokens at
/// least once a second, however slow the reader is. Return non-zero to cancel it. Called on the calling thread, with
/// the host's floating-point settings; must not call the library. It must not leave by an exception, a panic, longjmp
/// or pthread_exit; a C++ exception ends the process.
pub type inlay_progress_fn = unsafe extern "C" fn(user: *mut c_void, n_done: u64, n_total: u64) -> i32;

/// Fills `into` with the model's bytes \[offset, offset + n), at most 4 MiB at a time. Returns 0, or a system error
/// number. Called on the loading thread only, with the host's floating-point settings; must not call the library. It
/// must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
pub type inlay_read_fn = unsafe extern "C" fn(user: *mut c_void, offset: u64, into: *mut c_void, n: u64) -> i32;

/// Told that a queue has something to poll which had nothing before. Called on whatever thread brought that about, an
/// engine's own among them, with the host's floating-point settings; must not call the library, and should do no more
/// than wake somebody. It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the
/// process.
pub type inlay_wake_fn = unsafe extern "C" fn(user: *mut c_void);

/// Takes the next bytes of a saved session, some MiB at most. Returns 0, or a system error number. Called on the
/// saving thread, with the host's floating-point settings; must not call the library. It must not leave by an
/// exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
pub type inlay_state_write_fn = unsafe extern "C" fn(user: *mut c_void, state: *const c_void, n: u64) -> i32;

/// Fills `into` with the next n bytes of a saved session, some MiB at most. Returns 0, or a system error number; also
/// where there are fewer. Called on the restoring thread, with the host's floating-point settings; must not call the
/// library. It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
pub type inlay_state_read_fn = unsafe extern "C" fn(user: *mut c_void, into: *mut c_void, n: u64) -> i32;

/// What went wrong. Owned by the caller, needs no initialisation; every call that takes it writes it, also on
/// success.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_error {
    /// The same as the call returned.
    pub status: inlay_status,
    /// The system's or the driver's error number, 0 if there is none.
    pub native_code: i32,
    /// What was needed, in the unit that the message names; 0 where that makes no sense.
    pub required: u64,
    /// What there was, in the same unit.
    pub available: u64,
    /// Length of the message without its terminating zero. (bytes)
    pub message_len: u32,
    /// 0.
    pub reserved: u32,
    /// What is wrong and where, in English; empty on success. Control characters in what it quotes are escapes, \x1b.
    pub message: [c_char; INLAY_ERROR_MESSAGE_BYTES],
}

impl Default for inlay_error {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// A UTF-8 text of the caller.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_text {
    /// The bytes; may be NULL if len is 0.
    pub data: *const c_char,
    /// Their number, or SIZE_MAX if a zero ends them. (bytes)
    pub len: usize,
}

impl Default for inlay_text {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// A change of one token's logit.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_logit_bias {
    /// Token id.
    pub token: i32,
    /// Added to the logit; minus infinity bans the token.
    pub bias: f32,
}

impl Default for inlay_logit_bias {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// A token and its probability under the model, before any sampling step.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_token_logprob {
    /// Token id.
    pub token: i32,
    /// Natural logarithm of the probability. (nats)
    pub logprob: f32,
}

impl Default for inlay_token_logprob {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// A device that can run a model.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_device_info {
    /// sizeof([`inlay_device_info`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// CPU or CUDA.
    pub kind: inlay_device_kind,
    /// Its number among the devices of its kind: device_index of [`inlay_load_params`].
    pub index: i32,
    /// Processors that this process may use, by affinity and CPU quota; multiprocessors of a GPU.
    pub n_units: i32,
    /// Its memory; of the processor what control groups and resource limits let this process use. (bytes)
    pub total_bytes: u64,
    /// Memory free now. (bytes)
    pub free_bytes: u64,
    /// Product name, ended by a zero.
    pub name: [c_char; INLAY_DEVICE_NAME_BYTES],
    /// What the kernels will use of it, such as an instruction set; ended by a zero.
    pub features: [c_char; INLAY_DEVICE_NAME_BYTES],
}

impl Default for inlay_device_info {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// A model's bytes behind a callback: an archive, an asset pack, a decrypting reader.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_reader {
    /// sizeof([`inlay_reader`]). (bytes)
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Given to the callback.
    pub user: *mut c_void,
    /// Size of the model; must not be 0. (bytes)
    pub size: u64,
    /// Reads a range; must not be NULL.
    pub read: Option<inlay_read_fn>,
}

impl Default for inlay_reader {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// How a model is loaded. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_load_params {
    /// sizeof([`inlay_load_params`]). (bytes)
    pub struct_size: u32,
    /// Where the model runs. (default AUTO)
    pub device: inlay_device_kind,
    /// Which device of that kind. (0 or more, default 0)
    pub device_index: i32,
    /// Longest sequence of one session; at most what the model was trained for. (tokens, 0 or more, default what the
    /// model was trained for, at most 4096)
    pub n_context: i32,
    /// Sessions that may exist at a time, and requests that run: together. Sessions made with FOR_REQUESTS do not
    /// count. (0 to 1024, default 8)
    pub max_sessions: i32,
    /// Threads that compute, the calling one included; on CUDA they load the weights. REFERENCE computes on one, and
    /// the log says so. (0 to 1024, default all processors that the calling thread may use: its affinity, and the CPU
    /// quota of the process)
    pub n_threads: i32,
    /// Size of the KV pool that the sessions share; the log says where they cannot use all of it. Layers with a
    /// sliding window take of it what the windows of all sessions need, at most. Less than one block is refused.
    /// (bytes, default max_sessions x n_context, at most 2 GiB but one n_context at least)
    pub kv_budget_bytes: u64,
    /// Type of the stored keys and values. (default F32 on REFERENCE, else F16)
    pub kv_dtype: inlay_kv_dtype,
    /// Tokens that prefill runs at a time; a cancel is seen between them. The longest text that can be embedded where
    /// tokens see those behind them. More than n_context is as n_context, and the log says so. (tokens, 0 to 4096,
    /// default 512, on a GPU with the memory for it 1024; 2048 where tokens see those behind them)
    pub prefill_chunk: i32,
    /// Least important messages to keep and to report. (default INFO)
    pub log_level: inlay_log_level,
    /// Of [`inlay_load_flags`]; others are refused. (default 0)
    pub flags: u32,
    /// Called with every message, for as long as the engine lives. (default none)
    pub log: Option<inlay_log_fn>,
    /// Given to log; unused without it. (default NULL)
    pub log_user: *mut c_void,
    /// Called during the load only. (default none)
    pub progress: Option<inlay_progress_fn>,
    /// Given to progress; unused without it. (default NULL)
    pub progress_user: *mut c_void,
    /// Type in which the weights are held, on every device. (default the file's types)
    pub weight_dtype: inlay_weight_dtype,
    /// 0.
    pub reserved: u32,
    /// How byte-level BPE of a GGUF file splits text into words: a name as in tokenizer.ggml.pre, instead of the
    /// file's. Files from before that key have none, and get `default` with a warning. Copied. An unknown name is
    /// refused, and so is any where the model has another tokenizer. (default NULL: the file's)
    pub pre_tokenizer: *const c_char,
    /// Its length. (bytes, default 0)
    pub pre_tokenizer_len: usize,
    /// What changes speed alone, for those who measure: key=value pairs with blanks or commas between. Copied. Keys
    /// and values may come and go in any version; an unknown one is refused, and the error lists the known ones. On
    /// CUDA token_kernel=0 (decode steps launch every operation, even where one launch could run all layers),
    /// cublas=0 (as NO_CUBLAS), mixed_gemm=0 (prompts multiply weights that were dequantized before) and group_rows=1
    /// (matrix products of 9 to 32 rows always share weights among several multiprocessors); on the CPU isa=generic,
    /// avx2 or avx512 (instructions that the processor lacks are refused). The load's log names those that change
    /// nothing on the device. (default NULL: none)
    pub tuning: *const c_char,
    /// Its length. (bytes, default 0)
    pub tuning_len: usize,
    /// Memory of the host for blocks that requests may find again, but whose room in the KV pool is wanted: they go
    /// there by a copy that nobody waits for, and come back when a request begins with them. Whole blocks count; less
    /// than one is refused, and so is any beside NO_PREFIX_CACHE. A thread of the engine takes all of the memory once
    /// the engine is loaded, page-locked on a GPU; [`inlay_stats`] says how much is there. It changes nothing for
    /// models with sliding windows or without text, and the log says so. (bytes, default 0: none)
    pub prefix_cache_host_bytes: u64,
}

impl Default for inlay_load_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// Memory that a load would take, and what its parameters come to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_memory_info {
    /// sizeof([`inlay_memory_info`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// Where the model would run.
    pub device: inlay_device_kind,
    /// Longest sequence of one session. (tokens)
    pub n_context: i32,
    /// Sessions that may exist at a time.
    pub max_sessions: i32,
    /// Weights in the form that the device computes with. (bytes)
    pub weight_bytes: u64,
    /// The KV pool. (bytes)
    pub kv_bytes: u64,
    /// Activations, logits and buffers. (bytes)
    pub scratch_bytes: u64,
    /// The sum. (bytes)
    pub total_bytes: u64,
    /// Free memory of the device now. (bytes)
    pub available_bytes: u64,
    /// What was asked for if it changes the type of any matrix, else DEFAULT.
    pub weight_dtype: inlay_weight_dtype,
    /// 0.
    pub reserved: u32,
    /// Memory of the host for blocks whose room in the KV pool is wanted, at most; not in the sum. (bytes)
    pub prefix_cache_host_bytes: u64,
}

impl Default for inlay_memory_info {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// A loaded model's sizes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_engine_info {
    /// sizeof([`inlay_engine_info`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// Where it runs; never AUTO.
    pub device: inlay_device_kind,
    /// Weights.
    pub n_params: u64,
    /// Memory of the weights. (bytes)
    pub weight_bytes: u64,
    /// Memory of the KV pool. (bytes)
    pub kv_bytes: u64,
    /// Rows of logits: ids 0 to n_vocab - 1 can be drawn, and are taken wherever an id is given. One that is no token
    /// of the tokenizer has kind UNUSED and no text. Tokens of the tokenizer from n_vocab on are ones that the model
    /// has no row for: they are described and detokenized, and a text or a sequence with one is refused by its name.
    pub n_vocab: i32,
    /// Layers.
    pub n_layers: i32,
    /// Width of the residual stream.
    pub d_model: i32,
    /// Query heads a layer.
    pub n_heads: i32,
    /// Key and value heads a layer.
    pub n_kv_heads: i32,
    /// Width of a head.
    pub d_head: i32,
    /// Width of the feed-forward part.
    pub d_ff: i32,
    /// Context that the model was trained for. (tokens)
    pub n_context_train: i32,
    /// Longest sequence of one session. (tokens)
    pub n_context: i32,
    /// Sessions that may exist at a time.
    pub max_sessions: i32,
    /// Beginning-of-sequence token, -1 if there is none.
    pub bos: i32,
    /// End-of-sequence token, -1 if there is none.
    pub eos: i32,
    /// Threads that compute.
    pub n_threads: i32,
    /// What the model has.
    pub flags: inlay_engine_flags,
    /// What was asked for if it changed the type of any matrix, else DEFAULT.
    pub weight_dtype: inlay_weight_dtype,
    /// 0.
    pub reserved: u32,
}

impl Default for inlay_engine_info {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// One entry of the vocabulary.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_token_info {
    /// sizeof([`inlay_token_info`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// What it is.
    pub kind: inlay_token_kind,
    /// Properties.
    pub flags: inlay_token_flags,
    /// The vocabulary's score, 0 where it has none.
    pub score: f32,
    /// Length of the whole piece, which may be more than fits here. (bytes)
    pub piece_bytes: u32,
    /// 0.
    pub reserved: u32,
    /// The bytes that the token stands for in the middle of a text; they need not be whole characters.
    pub piece: [u8; INLAY_TOKEN_PIECE_BYTES],
}

impl Default for inlay_token_info {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// How a token is drawn. The steps run in this order: bias and DRY, penalties, top_n_sigma, temperature, top_k,
/// typical_p, top_p, min_p, XTC, draw. All zero is greedy. Where temperature is 0 only bias, DRY, penalties and
/// n_logprobs change anything. Where mirostat_tau is set top_k, typical_p, top_p, min_p and XTC change nothing.
/// Mirostat's and adaptive-p's averages are the session's: a fork takes them along, a prefill and a truncation let
/// them begin anew, another sampler goes on with them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_sampler_params {
    /// sizeof([`inlay_sampler_params`]). (bytes)
    pub struct_size: u32,
    /// Divides the logits. (0 or more, default 0: greedy, the likeliest token, the lower id at a tie)
    pub temperature: f32,
    /// Keep the k likeliest tokens; all where the vocabulary has fewer. (0 or more, default 0: off)
    pub top_k: i32,
    /// Keep the likeliest tokens whose probabilities reach this sum. (0 to 1, default 0: off, as 1 is)
    pub top_p: f32,
    /// Drop tokens less likely than this part of the likeliest one's probability. (0 to 1, default 0: off)
    pub min_p: f32,
    /// Divides positive and multiplies negative logits of tokens in the window. (0 or more, default 0: off, as 1 is)
    pub repetition_penalty: f32,
    /// Subtracted once for every time that the token is in the window. (any number, default 0: off)
    pub frequency_penalty: f32,
    /// Subtracted if the token is in the window. (any number, default 0: off)
    pub presence_penalty: f32,
    /// Last tokens of the sequence that the penalties look at; -1 for all. Changes nothing without penalties.
    /// (tokens, -1 or more, default 0: the last 64)
    pub penalty_window: i32,
    /// Likeliest tokens to report in events, at most [`INLAY_MAX_LOGPROBS`]; fewer where fewer have a probability. (0
    /// to 20, default 0: none)
    pub n_logprobs: i32,
    /// Same seed, stream, tokens and logits: same draw, whatever else is in the step. Logits may differ in their last
    /// bits between devices and versions, and on a GPU between cuts of a prompt. (default 0: the seed 0)
    pub seed: u64,
    /// Logit changes, each token once; copied. (default NULL: none)
    pub bias: *const inlay_logit_bias,
    /// Their number. (0 to 1024, default 0)
    pub n_bias: usize,
    /// Locally typical sampling: keep the tokens whose surprise is nearest to the mean surprise and whose
    /// probabilities reach this sum. (0 to 1, default 0: off, as 1 is)
    pub typical_p: f32,
    /// Keep logits that are at most this many standard deviations below the largest. (0 or more, default 0: off)
    pub top_n_sigma: f32,
    /// Dynamic temperature: up to this much below `temperature` where the model is sure of the next token, up to this
    /// much above where it is not. (0 or more, default 0: off)
    pub dynatemp_range: f32,
    /// Power of the entropy, from 0 to 1, that says where in that range the temperature is. Changes nothing without
    /// dynatemp_range. (0 or more, default 0: 1)
    pub dynatemp_exponent: f32,
    /// Exclude top choices: the chance with which, of the tokens that reach xtc_threshold, only the least likely
    /// stays. (0 to 1, default 0: off)
    pub xtc_probability: f32,
    /// Probability that makes a token a top choice; above 0.5 there is no more than one, and nothing changes. Changes
    /// nothing without xtc_probability. (0 to 1, default 0: 0.1)
    pub xtc_threshold: f32,
    /// Mirostat 2: the mean surprise of the drawn tokens that is aimed at. It stands in the place of the filters from
    /// top_k to XTC. Refused together with adaptive_target. (bits, 0 or more, default 0: off)
    pub mirostat_tau: f32,
    /// How much of its error Mirostat corrects with each token. Changes nothing without mirostat_tau. (0 or more,
    /// default 0: 0.1)
    pub mirostat_eta: f32,
    /// Adaptive-p: tokens near a probability are preferred such that the mean of the drawn tokens' probabilities
    /// becomes this one. To be used with a filter as min_p, because it prefers unlikely tokens, too. (0 to 1, default
    /// 0: off)
    pub adaptive_target: f32,
    /// What that mean keeps of itself with each token. Changes nothing without adaptive_target. (0 to 0.99, default
    /// 0: 0.9)
    pub adaptive_decay: f32,
    /// DRY: a token that would go on with a repetition of the sequence's end loses dry_multiplier \* dry_base ^
    /// (length of the repetition - dry_allowed_length) of its logit. (0 or more, default 0: off)
    pub dry_multiplier: f32,
    /// Base of that power. Changes nothing without dry_multiplier. (1 or more, default 0: 1.75)
    pub dry_base: f32,
    /// Shorter repetitions cost nothing. Changes nothing without dry_multiplier. (tokens, 0 or more, default 0: 2)
    pub dry_allowed_length: i32,
    /// Last tokens of the sequence in which repetitions are looked for. Changes nothing without dry_multiplier.
    /// (tokens, -1 or more, default 0: all, as -1 is)
    pub dry_window: i32,
    /// Texts that no repetition reaches across and whose tokens DRY leaves alone, each of 1 to 128 bytes; copied.
    /// Changes nothing without dry_multiplier. (default NULL: a line feed, a colon, a quotation mark, an asterisk)
    pub dry_breakers: *const inlay_text,
    /// Their number. (0 to 64, default 0)
    pub n_dry_breakers: usize,
    /// Others than the named ones are refused. (default 0)
    pub flags: inlay_sampler_flags,
    /// 0. (default 0)
    pub reserved: u32,
}

impl Default for inlay_sampler_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// How a session generates. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_session_params {
    /// sizeof([`inlay_session_params`]). (bytes)
    pub struct_size: u32,
    /// Others than the named ones are refused. (default 0)
    pub flags: inlay_session_flags,
    /// How tokens are drawn; copied. (default NULL: greedy)
    pub sampler: *const inlay_sampler_params,
    /// Tells sessions with one seed apart: another stream, other random numbers. Changes nothing where temperature is
    /// 0. (default 0)
    pub stream: u64,
    /// Tokens to draw after each prefill before the session finishes. The context may be full before. (tokens, 0 or
    /// more, default 0: no limit but the context)
    pub max_tokens: i32,
    /// 0. (default 0)
    pub reserved: u32,
    /// Token ids that end the generation when drawn; copied. Ids outside of the vocabulary are refused; one that is
    /// named twice counts once. End tokens may be among them: then the reason is STOP_TOKEN, also with
    /// IGNORE_END_OF_GENERATION. (default NULL: none)
    pub stop_tokens: *const i32,
    /// Their number. (0 to 1024, default 0)
    pub n_stop_tokens: usize,
    /// Texts that end the generation, as [`inlay_session_set_stop`](Functions::inlay_session_set_stop) takes them;
    /// copied. (default NULL: none)
    pub stops: *const inlay_text,
    /// Their number. (0 to 64, default 0)
    pub n_stops: usize,
    /// What each generation may write, from its first drawn token on. The session shares it: the handle may be freed.
    /// Of the same engine; refused with IGNORE_END_OF_GENERATION, since the constraint says where a text ends.
    /// (default NULL: anything may be written)
    pub constraint: *const inlay_constraint,
}

impl Default for inlay_session_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// Where a session stands.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_session_info {
    /// sizeof([`inlay_session_info`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// NONE while it can go on.
    pub finish_reason: inlay_finish_reason,
    /// Length of the sequence, the last drawn token included. (tokens)
    pub n_tokens: i32,
    /// Longest that it can become. (tokens)
    pub n_context: i32,
    /// Tokens drawn or accepted since the last prefill or truncation. (tokens)
    pub n_generated: i32,
    /// Blocks of the KV pool that it uses, those shared with forks included. Layers with a sliding window have blocks
    /// of their own, those of the window.
    pub n_kv_blocks: i32,
    /// Text that [`inlay_session_take_text`](Functions::inlay_session_take_text) would give. (bytes)
    pub text_pending: u64,
    /// Number of the generation, for [`inlay_session_cancel_generation`](Functions::inlay_session_cancel_generation):
    /// how many have begun. A fork counts from where its parent was.
    pub generation: u64,
    /// Where the generation's text stands under the constraint.
    pub constraint_state: inlay_constraint_state,
    /// 0.
    pub reserved: i32,
}

impl Default for inlay_session_info {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What one session did in one decode step. Arrays of events come with a stride, sizeof([`inlay_event`]) as the
/// caller knows it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_event {
    /// OK, or why this session did not advance.
    pub status: inlay_status,
    /// What happened.
    pub kind: inlay_event_kind,
    /// Position of the session in the call's array.
    pub session_index: i32,
    /// The drawn token, -1 if there is none.
    pub token: i32,
    /// Not NONE: this was the session's last event until its next prefill.
    pub finish_reason: inlay_finish_reason,
    /// Natural logarithm of the token's probability under the model, before any sampling step. (nats)
    pub logprob: f32,
    /// Entries of top.
    pub n_logprobs: i32,
    /// Length of text. (bytes)
    pub text_bytes: u32,
    /// Text that did not fit and is to be had with [`inlay_session_take_text`](Functions::inlay_session_take_text).
    /// (bytes)
    pub text_pending: u64,
    /// The likeliest tokens, the likeliest first.
    pub top: [inlay_token_logprob; INLAY_MAX_LOGPROBS],
    /// New text, whole characters, not ended by a zero. What may begin a stop string is held back until that is
    /// clear. A character whose first bytes end the prompt comes whole with the token that completes it.
    pub text: [c_char; INLAY_EVENT_TEXT_BYTES],
    /// Tokens that were drawn: 1 with TOKEN, else 0. More only where the session asked for it by a flag of a later
    /// minor: then they are the last ones of the sequence, to be read with
    /// [`inlay_session_get_tokens`](Functions::inlay_session_get_tokens), and token is the last of them. (tokens)
    pub n_tokens: i32,
    /// 0.
    pub reserved: i32,
}

impl Default for inlay_event {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// What an engine has done since it was loaded.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_stats {
    /// sizeof([`inlay_stats`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// Sessions that have a place among max_sessions: those made with FOR_REQUESTS have none.
    pub n_sessions: i32,
    /// Tokens that prefill ran. (tokens)
    pub n_prefill_tokens: u64,
    /// Tokens that decode steps drew. (tokens)
    pub n_decode_tokens: u64,
    /// Decode steps in which a session took part.
    pub n_decode_steps: u64,
    /// Time that the load took. (seconds)
    pub load_seconds: f64,
    /// Time in prefill. (seconds)
    pub prefill_seconds: f64,
    /// Time in decode steps. (seconds)
    pub decode_seconds: f64,
    /// Blocks of the KV pool, those of layers with a sliding window included.
    pub n_kv_blocks: i32,
    /// Blocks in use now; a block that forks share counts once.
    pub n_kv_blocks_used: i32,
    /// Most blocks that were ever in use at once.
    pub n_kv_blocks_peak: i32,
    /// Tokens of a block. (tokens)
    pub n_block_tokens: i32,
    /// Blocks that went to the host's memory when their room in the pool was wanted (prefix_cache_host_bytes).
    pub n_kv_blocks_to_host: u64,
    /// Of these, blocks that came back for a request that begins with them.
    pub n_kv_blocks_from_host: u64,
    /// Of these, blocks that were given up there for others.
    pub n_kv_blocks_host_dropped: u64,
    /// Of the load's prefix_cache_host_bytes, what was taken of the host's memory so far. (bytes)
    pub prefix_cache_host_bytes_taken: u64,
    /// Blocks that are there now; they are not among n_kv_blocks.
    pub n_kv_blocks_on_host: i32,
    /// 0.
    pub reserved: u32,
}

impl Default for inlay_stats {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// Which step is profiled. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_profile_params {
    /// sizeof([`inlay_profile_params`]). (bytes)
    pub struct_size: u32,
    /// Tokens of the step; at most prefill_chunk. (tokens, 0 or more, default 1: a decode step, which draws)
    pub n_tokens: i32,
    /// Tokens in the session before the step. (tokens, 0 or more, default 0)
    pub n_past: i32,
    /// How often it is run; times are medians. (0 to 10000, default 20)
    pub n_repetitions: i32,
}

impl Default for inlay_profile_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// How a model is converted. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_convert_params {
    /// sizeof([`inlay_convert_params`]). (bytes)
    pub struct_size: u32,
    /// Type of the matrices. (default F16)
    pub r#type: inlay_convert_type,
    /// Threads that compute, the calling one included. (0 to 1024, default as of a load)
    pub n_threads: i32,
    /// 0.
    pub reserved: u32,
    /// Called with the bytes of the source that are done, and all. (default none)
    pub progress: Option<inlay_progress_fn>,
    /// Given to progress; unused without it. (default NULL)
    pub progress_user: *mut c_void,
    /// Called with warnings: what of a folder's tokenizer other programs will not read in the file. (default none)
    pub log: Option<inlay_log_fn>,
    /// Given to log; unused without it. (default NULL)
    pub log_user: *mut c_void,
}

impl Default for inlay_convert_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// How a conversation is written. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_chat_params {
    /// sizeof([`inlay_chat_params`]). (bytes)
    pub struct_size: u32,
    /// Others than the named ones are refused. (default 0: the conversation alone)
    pub flags: inlay_chat_flags,
    /// A template. Not used after the call. (default NULL: the model's own)
    pub chat_template: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, default 0)
    pub template_len: usize,
}

impl Default for inlay_chat_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What embeddings are made of. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_embed_params {
    /// sizeof([`inlay_embed_params`]). (bytes)
    pub struct_size: u32,
    /// How tokens become one vector. (default DEFAULT)
    pub pooling: inlay_pooling,
    /// Others than the named ones are refused. (default 0)
    pub flags: inlay_embed_flags,
    /// 0.
    pub reserved: u32,
    /// Called while texts become tokens, then after each step with the tokens that were run, and all that will be.
    /// (default none)
    pub progress: Option<inlay_progress_fn>,
    /// Given to progress; unused without it. (default NULL)
    pub progress_user: *mut c_void,
}

impl Default for inlay_embed_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What one embedding is of: tokens or text, not both. Arrays come with a stride, sizeof([`inlay_embed_input`]) as
/// the caller knows it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_embed_input {
    /// Token ids, at least 1. (default NULL: text is given)
    pub tokens: *const i32,
    /// Their number. (tokens, default 0)
    pub n_tokens: usize,
    /// A text, which becomes tokens as by [`inlay_tokenize`](Functions::inlay_tokenize) without flags. Where the
    /// model comes from a sentence-transformers folder, by itself or converted, that library's rules hold before: the
    /// default prompt stands in front, the text is put in lower case if the folder says so, and tokens beyond
    /// max_seq_length are cut off at the end, or at the beginning where truncation_side is left; BOS and EOS stay.
    /// None of this is done to tokens. (default NULL: tokens are given)
    pub text: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, default 0)
    pub text_len: usize,
}

impl Default for inlay_embed_input {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// What is scored. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_score_params {
    /// sizeof([`inlay_score_params`]). (bytes)
    pub struct_size: u32,
    /// At the beginning of each text: context that gets no scores. (tokens, 0 or more, default 1)
    pub n_given: i32,
    /// Likeliest tokens to report beside each token, at most [`INLAY_MAX_LOGPROBS`]. (0 to 20, default 0: none)
    pub n_logprobs: i32,
    /// 0.
    pub reserved: u32,
    /// Called after each step with the tokens that were run, and all that will be. (default none)
    pub progress: Option<inlay_progress_fn>,
    /// Given to progress; unused without it. (default NULL)
    pub progress_user: *mut c_void,
}

impl Default for inlay_score_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// How likely a token of a text is, given those before it. Arrays come with a stride, sizeof([`inlay_token_score`])
/// as the caller knows it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_token_score {
    /// Natural logarithm of the token's probability; NaN where the token has no score: it was given. (nats)
    pub logprob: f32,
    /// Tokens that are likelier, or as likely with a lower id; 0: a greedy draw takes this one. -1 without a score.
    pub rank: i32,
    /// The same for the engine that is compared with; NaN without one. (nats)
    pub against_logprob: f32,
    /// Likewise; -1 without one.
    pub against_rank: i32,
    /// Kullback-Leibler divergence of this engine's distribution from that of the other one, which counts as the
    /// exact one: the sum over all tokens t of P(t) (ln P(t) - ln Q(t)), P of the other. NaN without one. (nats)
    pub divergence: f32,
    /// 1: the likeliest token of both engines is the same; 0: it is not; -1 without another engine.
    pub same_best: i32,
}

impl Default for inlay_token_score {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// Logits where they lie. They are not to be written.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_logits {
    /// sizeof([`inlay_logits`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// As the model gives them.
    pub values: *const f32,
    /// n_vocab. (values)
    pub n_values: usize,
}

impl Default for inlay_logits {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What a queue holds. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_queue_params {
    /// sizeof([`inlay_queue_params`]). (bytes)
    pub struct_size: u32,
    /// 0. (default 0)
    pub reserved: u32,
    /// Requests that were submitted and whose ends were not polled, or whose vectors were not taken: one more is
    /// QUEUE_FULL. (0 to 1048576, default 1024)
    pub max_requests: i32,
    /// A request of which as many tokens wait to be polled rests until some are. It loses nothing, and holds no other
    /// up. (tokens, 0 to 1048576, default 256)
    pub max_unread_tokens: i32,
    /// Called when there comes something to poll; never after [`inlay_queue_free`](Functions::inlay_queue_free) has
    /// returned. (default none)
    pub wake: Option<inlay_wake_fn>,
    /// Given to wake; unused without it. (default NULL)
    pub wake_user: *mut c_void,
}

impl Default for inlay_queue_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// A prompt and what is to become of it. One of tokens, text and conversation is given. Zero means default for every
/// other field. Nothing of it is used after [`inlay_submit`](Functions::inlay_submit).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_request {
    /// sizeof([`inlay_request`]). (bytes)
    pub struct_size: u32,
    /// What is to become of the prompt. (default GENERATE)
    pub kind: inlay_request_kind,
    /// The prompt as token ids, at least 1. (default NULL: not given)
    pub tokens: *const i32,
    /// Their number. (tokens, 0 or more, default 0)
    pub n_tokens: usize,
    /// The prompt as a text, which becomes tokens as by [`inlay_tokenize`](Functions::inlay_tokenize) without flags:
    /// ill-formed UTF-8 is read as U+FFFD. (default NULL: not given)
    pub text: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, 0 or more, default 0: an empty prompt)
    pub text_len: usize,
    /// The prompt as a conversation, as [`inlay_chat_tokenize`](Functions::inlay_chat_tokenize) takes it: ill-formed
    /// UTF-8 is refused with FORMAT. (default NULL: not given)
    pub conversation: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, 0 or more, default 0)
    pub conversation_len: usize,
    /// How the conversation is written; refused without one. (default NULL: ADD_GENERATION_PROMPT)
    pub chat: *const inlay_chat_params,
    /// How tokens are drawn and what ends the request; with continues from now on. The flags RESERVE and FOR_REQUESTS
    /// are refused: they are of sessions. (default NULL: all defaults; with continues what the session has)
    pub session_params: *const inlay_session_params,
    /// Who has more comes first, and may put out who has less where the pool or all places are taken. What waits to
    /// begin, or for a prompt's next chunk, rises by one every 250 ms at present, and puts out no equal. (0 to 7,
    /// default 0)
    pub priority: i32,
    /// 0. (default 0)
    pub reserved: u32,
    /// From now on. Among waiting requests of one level, which is their priority and what waiting has added, the
    /// earliest comes first, behind those that were put out; it is no promise. (microseconds, 0 or more, default 0:
    /// none)
    pub deadline_us: u64,
    /// From now on, the time that it waits included. Then the request ends with TIMEOUT, and keeps its text so far;
    /// where a budget has left its step pending, only with the next computation. (microseconds, 0 or more, default 0:
    /// none)
    pub timeout_us: u64,
    /// Comes back in each event. (any number, default 0)
    pub user: u64,
    /// A session made with FOR_REQUESTS, of the same engine, that the request continues: tokens and text come behind
    /// what it has, a text without special tokens in front unless the session is empty and no other request for it
    /// waits when this one is submitted. A conversation takes the place of its tokens; what both begin with is not
    /// computed again. Requests for one session run one after the other, as they were submitted. The sequence stays
    /// in the session, with drawn tokens, also of a request that is cancelled. Whether the prompt fits behind the one
    /// before is known only when the request gets the session: if not, it ends with reason ERROR and CONTEXT_FULL or
    /// KV_FULL, and the session is as it was. (default NULL: a sequence of its own)
    pub continues: *const inlay_session,
    /// EMBED: what the vector is made of, without progress. Of no other kind. (default NULL: all defaults)
    pub embed: *const inlay_embed_params,
    /// The request goes on behind what requests of the same number have computed, and nobody else's, and behind what
    /// the session has that it continues: so that nobody can tell by the time of an answer what others have asked. Of
    /// EMBED it changes nothing. (any number, default 0)
    pub cache_salt: u64,
}

impl Default for inlay_request {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What became of a request since its last event. Arrays of events come with a stride,
/// sizeof([`inlay_request_event`]) as the caller knows it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_request_event {
    /// Number that [`inlay_submit`](Functions::inlay_submit) gave.
    pub request_id: u64,
    /// 1 for the first event that was polled from the queue, then one more for each.
    pub number: u64,
    /// Of the request.
    pub user: u64,
    /// What it is.
    pub kind: inlay_request_event_kind,
    /// Tokens of this event: tokens\[first_token\] to tokens\[first_token + n_tokens - 1\] of the call. (tokens)
    pub n_tokens: i32,
    /// See n_tokens.
    pub first_token: usize,
    /// Where this event's text begins in the call's text. (bytes)
    pub first_byte: usize,
    /// Its length: whole characters, not ended by a zero. What may begin a stop string is held back until that is
    /// clear. With END and reason ERROR it is the error's message, cut to the room that the call has. (bytes)
    pub text_bytes: usize,
    /// With END: why. Else NONE.
    pub finish_reason: inlay_finish_reason,
    /// With END and reason ERROR: what failed. Else OK.
    pub status: inlay_status,
    /// With END: tokens of the prompt, and with a session that it continues those before it, once it has got the
    /// session. (tokens)
    pub n_prompt: i32,
    /// With END: those of them that were not computed for this request. (tokens)
    pub n_cached: i32,
    /// With END: tokens that were drawn. (tokens)
    pub n_drawn: i32,
    /// Likeliest tokens of each of them, the n_logprobs of the request's sampler: behind the event's tokens the
    /// call's tokens has n_tokens x n_top of them, for each token in its place the likeliest first; token -1 where
    /// fewer have a probability. (tokens)
    pub n_top: i32,
    /// With END: from its submission until it began, or until its end if it never did. (microseconds)
    pub queued_us: u64,
    /// With END: from there to its first token, or to its end if it drew none. (microseconds)
    pub prompt_us: u64,
    /// With END: from there to its end. (microseconds)
    pub decode_us: u64,
    /// With END and reason EMBEDDED: of the vector that
    /// [`inlay_request_take_values`](Functions::inlay_request_take_values) gives. Else 0. (values)
    pub n_values: usize,
}

impl Default for inlay_request_event {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// How long [`inlay_run`](Functions::inlay_run) may compute. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_run_params {
    /// sizeof([`inlay_run_params`]). (bytes)
    pub struct_size: u32,
    /// Others than the named ones are refused. (default 0)
    pub flags: inlay_run_flags,
    /// The call begins no part of a step that it does not expect to end within this time, by what parts like it have
    /// taken, but the first, so that requests go on with any budget. (microseconds, 0 or more, default 0: until no
    /// request can go on)
    pub budget_us: u64,
    /// The longest that a step with prompts is to take: so it bounds the time from one token to the next of those
    /// that draw. Chunks of prompts are cut for it; the least chunk has 16 tokens at present. (microseconds, 0 or
    /// more, default 0: no bound)
    pub max_step_us: u64,
    /// The same for the calling thread's time. It matters with NO_WAIT on a GPU, where budget_us bounds the GPU's
    /// time alone. Where the call waits for what it computes, the smaller of the two counts. (microseconds, 0 or
    /// more, default 0: no bound of its own)
    pub host_budget_us: u64,
}

impl Default for inlay_run_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What a call of [`inlay_run`](Functions::inlay_run) came to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_run_info {
    /// sizeof([`inlay_run_info`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// What is left.
    pub flags: inlay_run_info_flags,
    /// Tokens that were drawn. (tokens)
    pub n_tokens: u64,
    /// Requests of the engine that have not ended.
    pub n_requests: i32,
    /// 0.
    pub reserved: u32,
}

impl Default for inlay_run_info {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// How an engine's own thread computes. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_thread_params {
    /// sizeof([`inlay_thread_params`]). (bytes)
    pub struct_size: u32,
    /// 0. (default 0)
    pub reserved: u32,
    /// It computes for at most this long in each period, as far as that can be foretold. (microseconds, 0 or more,
    /// default 0: all the time)
    pub busy_us: u64,
    /// Of at least busy_us; both are set or neither. (microseconds, 0 or more, default 0: all the time)
    pub period_us: u64,
    /// As in [`inlay_run_params`]. (microseconds, 0 or more, default 0: no bound)
    pub max_step_us: u64,
}

impl Default for inlay_thread_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What a constraint is made of. Nothing of it is used after the call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_constraint_params {
    /// sizeof([`inlay_constraint_params`]). (bytes)
    pub struct_size: u32,
    /// What the text is. (default JSON_SCHEMA)
    pub kind: inlay_constraint_kind,
    /// Others than the named ones are refused. (default 0)
    pub flags: inlay_constraint_flags,
    /// 0. (default 0)
    pub reserved: u32,
    /// The schema, grammar, expression, or JSON of a message. Not of ANY_JSON and CHOICES. (default NULL: none)
    pub text: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, default 0)
    pub text_len: usize,
    /// The texts of CHOICES; of no other kind. (default NULL: none)
    pub choices: *const inlay_text,
    /// Their number, at least 1 with CHOICES. (0 to 65536, default 0)
    pub n_choices: usize,
    /// MESSAGE: tokens of the prompt, or its last ones, which say whether reasoning is open. Of no other kind.
    /// (default NULL: nothing of the answer is in it)
    pub prompt: *const i32,
    /// Their number. (tokens, 0 or more, default 0)
    pub n_prompt: usize,
    /// MESSAGE: how reasoning and calls are written, as in [`inlay_chat_parser_params`]. Of no other kind. (default
    /// NULL: the one that the template writes)
    pub format: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, default 0)
    pub format_len: usize,
    /// MESSAGE: the chat template that wrote the prompt, where it is not the model's own. Of no other kind. (default
    /// NULL: the model's own)
    pub chat_template: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, default 0)
    pub template_len: usize,
}

impl Default for inlay_constraint_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What a constraint takes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_constraint_info {
    /// sizeof([`inlay_constraint_info`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// Remarks, for [`inlay_constraint_get_remark`](Functions::inlay_constraint_get_remark).
    pub n_remarks: i32,
    /// Host memory that it has now, without the vocabulary's, which all constraints of an engine share. It grows
    /// while it is used, within a bound: by tens of megabytes at most, and the choices or the grammar themselves.
    /// (bytes)
    pub memory_bytes: u64,
}

impl Default for inlay_constraint_info {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// Where a saved session's bytes go.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_state_writer {
    /// sizeof([`inlay_state_writer`]). (bytes)
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Given to the callback.
    pub user: *mut c_void,
    /// Takes the bytes, one part behind the other; must not be NULL.
    pub write: Option<inlay_state_write_fn>,
}

impl Default for inlay_state_writer {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// Where a saved session's bytes come from.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_state_reader {
    /// sizeof([`inlay_state_reader`]). (bytes)
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Given to the callback.
    pub user: *mut c_void,
    /// Gives the bytes, one part behind the other; must not be NULL.
    pub read: Option<inlay_state_read_fn>,
}

impl Default for inlay_state_reader {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// What a message is read by. Nothing of it is used after the call. Zero means default for every field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_chat_parser_params {
    /// sizeof([`inlay_chat_parser_params`]). (bytes)
    pub struct_size: u32,
    /// Others than the named ones are refused. (default 0)
    pub flags: inlay_chat_parser_flags,
    /// A format as JSON, at most 1 MiB: docs/design/chat-parsing.md has its keys. (default NULL: the one that the
    /// template writes)
    pub format: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, default 0)
    pub format_len: usize,
    /// The chat template that wrote the prompt, where it is not the model's own. (default NULL: the model's own)
    pub chat_template: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, default 0)
    pub template_len: usize,
    /// The tools as a JSON array: {"type": "function", "function": {"name", "parameters": JSON Schema}}, or the inner
    /// object alone. What formats write without quotes becomes JSON by their types. (default NULL: none)
    pub tools: *const c_char,
    /// Its length, or SIZE_MAX if a zero ends it. (bytes, default 0)
    pub tools_len: usize,
    /// Tokens of the prompt, or its last ones. Templates may begin the answer, as those do that open the reasoning.
    /// (default NULL: not known)
    pub prompt: *const i32,
    /// Their number. (tokens, 0 or more, default 0)
    pub n_prompt: usize,
}

impl Default for inlay_chat_parser_params {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// A part of a message. Arrays of them come with a stride, sizeof([`inlay_chat_delta`]) as the caller knows it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_chat_delta {
    /// What it is.
    pub kind: inlay_chat_delta_kind,
    /// What is to be known of it.
    pub flags: inlay_chat_delta_flags,
    /// The call that it is of, 0 for the message's first. 0 with REASONING and CONTENT.
    pub call: i32,
    /// 0.
    pub reserved: i32,
    /// Where its text begins in the call's text. (bytes)
    pub first_byte: usize,
    /// Its length: whole characters, not ended by a zero. (bytes)
    pub text_bytes: usize,
}

impl Default for inlay_chat_delta {
    /// All zero.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        unsafe { core::mem::zeroed() }
    }
}

/// Where a parser is.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct inlay_chat_parser_info {
    /// sizeof([`inlay_chat_parser_info`]), set by the caller. (bytes)
    pub struct_size: u32,
    /// Where it is.
    pub flags: inlay_chat_parser_info_flags,
    /// Calls that have begun.
    pub n_calls: i32,
    /// 0.
    pub reserved: i32,
}

impl Default for inlay_chat_parser_info {
    /// All zero, with `struct_size` set.
    fn default() -> Self {
        // SAFETY: numbers, null pointers and absent callbacks are all zero bits.
        Self { struct_size: size_of::<Self>() as u32, ..unsafe { core::mem::zeroed() } }
    }
}

/// Every function of the library, wherever it was found.
///
/// All of them are unsafe to call: pointers must be valid for what the function does with them, and the thread class
/// must be kept.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Functions {
    /// Loads a model: a GGUF file, of which a split one is named by its first file, or a Hugging Face folder with
    /// config.json and safetensors files.
    ///
    /// - Thread: any.
    /// - Blocks: on disk and processor for the whole load; progress is called meanwhile; takes device memory.
    /// - Ownership: `*engine` is the caller's, to be freed with [`inlay_free`](Functions::inlay_free). The file is
    ///   not needed after the call.
    /// - On error: `*engine` is NULL.
    /// - Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `path`: The file's path.
    /// - `path_len`: Its length, or SIZE_MAX. (bytes)
    /// - `params`: NULL: all defaults. (may be null)
    /// - `engine`: The new engine.
    pub inlay_load: unsafe extern "C" fn(path: *const c_char, path_len: usize, params: *const inlay_load_params, engine: *mut *mut inlay_engine, err: *mut inlay_error) -> inlay_status,
    /// Appends tokens to a session and runs them, chunk by chunk. It begins a new generation: finish reason and
    /// max_tokens start over, text that was not taken is dropped.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: on the device until all tokens are run; other threads' calls that compute on the engine run before
    ///   it and after each chunk.
    /// - Ownership: The tokens are copied.
    /// - On error: The session keeps the first `*n_done` tokens, whole chunks; none unless it was cancelled, or the
    ///   device or memory failed.
    /// - Errors: CONTEXT_FULL, KV_FULL, CANCELLED, INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `tokens`: Token ids.
    /// - `n_tokens`: At least 1. (tokens)
    /// - `n_done`: How many of them the session has now. (tokens, may be null)
    pub inlay_prefill: unsafe extern "C" fn(session: *mut inlay_session, tokens: *const i32, n_tokens: usize, n_done: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Draws one token for each of the sessions, reading the weights once for all. One event a session, in the order
    /// given. A session that cannot advance is unchanged and says so in its event's status; the others advance, and
    /// the first such status is returned. Sessions are of one engine, each named once. Calls of several threads that
    /// wait for their turn share a step; each is told of its own sessions alone.
    ///
    /// - Thread: exclusive(sessions).
    /// - Blocks: on the device for one step; waits for other threads' calls that compute on the engine, at most for
    ///   one chunk of each prefill, and up to a millisecond or half a step for calls that shared the last step.
    /// - Ownership: Events are copies.
    /// - On error: Wrong arguments: nothing happened, events are untouched. Otherwise each event has its own status.
    ///   UNSUPPORTED: the session's constraint needs more than its limits at this place of its text.
    /// - Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, FORMAT, DEVICE_LOST.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `sessions`: The sessions.
    /// - `n_sessions`: At least 1.
    /// - `events`: One event a session.
    /// - `event_stride`: sizeof([`inlay_event`]): from one event to the next. (bytes)
    pub inlay_decode_step: unsafe extern "C" fn(sessions: *const *mut inlay_session, n_sessions: usize, events: *mut inlay_event, event_stride: usize, err: *mut inlay_error) -> inlay_status,
    /// Gives up an engine. Its memory goes when its last session is freed, too. Its requests end as CANCELLED, its
    /// thread ends, and its queues' wake functions are called on this one. NULL is allowed.
    ///
    /// - Thread: exclusive(engine).
    /// - Blocks: until the device is idle; not where other threads are inside the engine: the last of them to leave
    ///   does all of this, on its thread. [`inlay_run`](Functions::inlay_run) leaves soon, with INVALID_STATE.
    /// - Ownership: The handle is invalid afterwards.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine. (may be null)
    pub inlay_free: unsafe extern "C" fn(engine: *mut inlay_engine),
    /// The library's version, such as 0.1.0.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - Since: 1.0.
    pub inlay_version_string: unsafe extern "C" fn() -> *const c_char,
    /// The ABI that the library offers: major x 65536 + minor. It serves every client of the same major and a minor
    /// up to its own.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - Since: 1.0.
    pub inlay_abi_version: unsafe extern "C" fn() -> u32,
    /// A status as it is written in the header, without the prefix: KV_FULL. A number that is none gives UNKNOWN.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `status`: The status.
    pub inlay_status_name: unsafe extern "C" fn(status: inlay_status) -> *const c_char,
    /// Number of devices; device 0 is the processor.
    ///
    /// - Thread: any.
    /// - Blocks: on drivers at the first call.
    /// - Ownership: Nothing is kept.
    /// - Since: 1.0.
    pub inlay_device_count: unsafe extern "C" fn() -> i32,
    /// Describes a device.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: NOT_FOUND.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `index`: 0 to [`inlay_device_count`](Functions::inlay_device_count)() - 1.
    /// - `info`: The device.
    pub inlay_device_get: unsafe extern "C" fn(index: i32, info: *mut inlay_device_info, err: *mut inlay_error) -> inlay_status,
    /// Loads a model that lies in memory.
    ///
    /// - Thread: any.
    /// - Blocks: on the processor for the whole load; progress is called meanwhile; takes device memory.
    /// - Ownership: `*engine` is the caller's, to be freed with [`inlay_free`](Functions::inlay_free). `data` is not
    ///   needed after the call.
    /// - On error: `*engine` is NULL.
    /// - Errors: FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `data`: The model's bytes.
    /// - `n_bytes`: Their number. (bytes)
    /// - `params`: NULL: all defaults. (may be null)
    /// - `engine`: The new engine.
    pub inlay_load_memory: unsafe extern "C" fn(data: *const c_void, n_bytes: usize, params: *const inlay_load_params, engine: *mut *mut inlay_engine, err: *mut inlay_error) -> inlay_status,
    /// Loads a model through a callback, which is called on this thread and during this call only.
    ///
    /// - Thread: any.
    /// - Blocks: on the callback and the processor for the whole load; takes device memory.
    /// - Ownership: `*engine` is the caller's, to be freed with [`inlay_free`](Functions::inlay_free). The reader is
    ///   not needed after the call.
    /// - On error: `*engine` is NULL.
    /// - Errors: IO, FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `reader`: Where the bytes come from.
    /// - `params`: NULL: all defaults. (may be null)
    /// - `engine`: The new engine.
    pub inlay_load_reader: unsafe extern "C" fn(reader: *const inlay_reader, params: *const inlay_load_params, engine: *mut *mut inlay_engine, err: *mut inlay_error) -> inlay_status,
    /// Tells what [`inlay_load`](Functions::inlay_load) would need, from the file's header alone.
    ///
    /// - Thread: any.
    /// - Blocks: on disk, for the header.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, NO_DEVICE.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `path`: The file's path.
    /// - `path_len`: Its length, or SIZE_MAX. (bytes)
    /// - `params`: NULL: all defaults. (may be null)
    /// - `info`: The needs.
    pub inlay_memory_plan: unsafe extern "C" fn(path: *const c_char, path_len: usize, params: *const inlay_load_params, info: *mut inlay_memory_info, err: *mut inlay_error) -> inlay_status,
    /// Sizes of the model and of what was allocated for it.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: only the common ones.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `info`: The sizes.
    pub inlay_engine_get_info: unsafe extern "C" fn(engine: *const inlay_engine, info: *mut inlay_engine_info, err: *mut inlay_error) -> inlay_status,
    /// Number of the model file's metadata entries.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: only the common ones.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `count`: The number.
    pub inlay_meta_count: unsafe extern "C" fn(engine: *const inlay_engine, count: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Key of a metadata entry, in the file's order.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: NOT_FOUND, BUFFER_TOO_SMALL.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `index`: 0 to the count - 1.
    /// - `buf`: The key, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the key. (bytes, may be null)
    pub inlay_meta_key: unsafe extern "C" fn(engine: *const inlay_engine, index: usize, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// A metadata value as text. An array is written as \[a, b, c\]; a long one is cut short and says how many
    /// elements there are.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: NOT_FOUND, BUFFER_TOO_SMALL.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `key`: The key, such as general.architecture.
    /// - `key_len`: Its length, or SIZE_MAX. (bytes)
    /// - `buf`: The value, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the value. (bytes, may be null)
    pub inlay_meta_value: unsafe extern "C" fn(engine: *const inlay_engine, key: *const c_char, key_len: usize, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Turns text into token ids, which can all be prefilled. There may be more of them than bytes of text:
    /// ill-formed UTF-8 becomes U+FFFD, a vocabulary's normalizer may lengthen the text, tokens are added around it.
    /// The same text and flags always give the same ids, so `*n_tokens` of one call is room for the next: ask with
    /// tokens NULL and cap 0, or grow at BUFFER_TOO_SMALL.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*n_tokens` is what is needed, tokens are unspecified.
    /// - Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CANCELLED.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `text`: The text; ill-formed UTF-8 is read as U+FFFD.
    /// - `text_len`: Its length, or SIZE_MAX. (bytes)
    /// - `flags`: 0 adds BOS and EOS as the model asks and reads control tokens as plain text.
    /// - `tokens`: The ids. (may be null)
    /// - `cap`: Room in tokens. (tokens)
    /// - `n_tokens`: Their number. (tokens)
    pub inlay_tokenize: unsafe extern "C" fn(engine: *const inlay_engine, text: *const c_char, text_len: usize, flags: inlay_tokenize_flags, tokens: *mut i32, cap: usize, n_tokens: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Turns token ids into text. If the ids begin or end inside a character, so does the text.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified.
    /// - Errors: UNSUPPORTED, BUFFER_TOO_SMALL.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `tokens`: The ids. (may be null)
    /// - `n_tokens`: Their number. (tokens)
    /// - `flags`: 0 leaves out control tokens.
    /// - `buf`: The text, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the text. (bytes, may be null)
    pub inlay_detokenize: unsafe extern "C" fn(engine: *const inlay_engine, tokens: *const i32, n_tokens: usize, flags: inlay_detokenize_flags, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Describes one token.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: UNSUPPORTED.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `token`: Its id.
    /// - `info`: The token.
    pub inlay_token_get_info: unsafe extern "C" fn(engine: *const inlay_engine, token: i32, info: *mut inlay_token_info, err: *mut inlay_error) -> inlay_status,
    /// Makes an empty session. UNSUPPORTED of a model whose tokens see those behind them (`attention.causal` false):
    /// it makes embeddings and writes no text.
    ///
    /// - Thread: any.
    /// - Blocks: no; where running requests have all places: for their step, after which one of them gives way; takes
    ///   device memory.
    /// - Ownership: `*session` is the caller's, to be freed with
    ///   [`inlay_session_free`](Functions::inlay_session_free); it keeps the engine alive.
    /// - On error: `*session` is NULL.
    /// - Errors: UNSUPPORTED, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `params`: NULL: all defaults. (may be null)
    /// - `session`: The new session.
    pub inlay_session_create: unsafe extern "C" fn(engine: *const inlay_engine, params: *const inlay_session_params, session: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status,
    /// Frees a session and gives its KV blocks back. NULL is allowed.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no; the last session of an engine that was freed: until the device is idle.
    /// - Ownership: The handle is invalid afterwards.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session. (may be null)
    pub inlay_session_free: unsafe extern "C" fn(session: *mut inlay_session),
    /// Tells where a session stands; as of the last finished step while another thread runs one.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: only the common ones.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `info`: The state.
    pub inlay_session_get_info: unsafe extern "C" fn(session: *const inlay_session, info: *mut inlay_session_info, err: *mut inlay_error) -> inlay_status,
    /// Takes text that did not fit into events: as many whole characters as fit. Call it until `*n_bytes` is 0; what
    /// is not taken stays, also past later steps, and comes before newer text.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: buf has no room for the next character.
    /// - Errors: BUFFER_TOO_SMALL.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `buf`: The text, not ended by a zero.
    /// - `cap`: Room in buf; 4 bytes hold any character. (bytes)
    /// - `n_bytes`: Bytes taken. (bytes)
    pub inlay_session_take_text: unsafe extern "C" fn(session: *mut inlay_session, buf: *mut c_char, cap: usize, n_bytes: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Makes a second session with the same sequence, parameters and state. Keys and values are shared until one of
    /// the two writes. Give the child another seed if the two are to differ.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no; takes device memory.
    /// - Ownership: `*child` is the caller's, to be freed with [`inlay_session_free`](Functions::inlay_session_free),
    ///   in any order.
    /// - On error: `*child` is NULL.
    /// - Errors: SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `child`: The new session.
    pub inlay_session_fork: unsafe extern "C" fn(session: *mut inlay_session, child: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status,
    /// Cuts the sequence back to its first tokens. It begins a new generation: finish reason and max_tokens start
    /// over, text that was not taken is dropped. Where a sliding window reaches back to keys that are no longer kept,
    /// the next prefill or step first runs the sequence from its beginning again.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `n_tokens`: Tokens to keep, at most the present length. (tokens)
    pub inlay_session_truncate: unsafe extern "C" fn(session: *mut inlay_session, n_tokens: usize, err: *mut inlay_error) -> inlay_status,
    /// Changes how the following tokens are drawn.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: Everything is copied.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `params`: NULL: greedy. (may be null)
    pub inlay_session_set_sampler: unsafe extern "C" fn(session: *mut inlay_session, params: *const inlay_sampler_params, err: *mut inlay_error) -> inlay_status,
    /// Sets the texts that end a generation, at most 64 of at most 1024 bytes each; an empty one is refused, one that
    /// is given twice counts once. They are looked for in the text, and in what it is with the names of control
    /// tokens in it: \<|user|\> stops at that token. Text held back for the old ones stays held until the next step.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: The texts are copied.
    /// - On error: Nothing has changed.
    /// - Errors: only the common ones.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `stops`: The texts, each of 1 to 1024 bytes. (may be null)
    /// - `n_stops`: Their number, at most 64; 0 removes all.
    pub inlay_session_set_stop: unsafe extern "C" fn(session: *mut inlay_session, stops: *const inlay_text, n_stops: usize, err: *mut inlay_error) -> inlay_status,
    /// Copies the logits of the last position that was run: those that the last token was drawn from, or the next one
    /// will be.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE, BUFFER_TOO_SMALL, FORMAT.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `logits`: n_vocab values, as the model gives them. (may be null)
    /// - `cap`: Room in logits. (values)
    /// - `needed`: n_vocab. (values, may be null)
    pub inlay_session_copy_logits: unsafe extern "C" fn(session: *mut inlay_session, logits: *mut f32, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Asks a session to stop. A prefill under way ends with CANCELLED after its chunk; otherwise the session's next
    /// step, or its next prefill, sees the request, once. NULL is allowed. It may be called from a signal handler: it
    /// takes no lock and no memory. The session must not be freed meanwhile, also not by the thread that the signal
    /// interrupts.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `session`: The session. (may be null)
    pub inlay_session_cancel: unsafe extern "C" fn(session: *const inlay_session),
    /// What the engine has done so far.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: only the common ones.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `stats`: The figures.
    pub inlay_engine_get_stats: unsafe extern "C" fn(engine: *const inlay_engine, stats: *mut inlay_stats, err: *mut inlay_error) -> inlay_status,
    /// The list of operations that a step runs, as text: one line an operation, with its bytes and its floating-point
    /// operations for one token.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: BUFFER_TOO_SMALL.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `buf`: The text, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the text. (bytes, may be null)
    pub inlay_plan_text: unsafe extern "C" fn(engine: *const inlay_engine, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Reads one message from the engine's ring of the latest messages. `*cursor` is the number of the message read
    /// before, 0 for none, and becomes that of this one; numbers count from 1, and those that the ring no longer
    /// holds are passed over.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: `*cursor` is unchanged. NOT_FOUND: there is no newer message yet.
    /// - Errors: NOT_FOUND, BUFFER_TOO_SMALL.
    /// - Since: 1.0.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `cursor`: Which message.
    /// - `level`: Its importance. (may be null)
    /// - `buf`: Its text, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the text. (bytes, may be null)
    pub inlay_log_read: unsafe extern "C" fn(engine: *const inlay_engine, cursor: *mut u64, level: *mut inlay_log_level, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Runs a step of fixed tokens again and again, in a session of its own: whole, then with a time for each
    /// operation, and measures how fast the device reads memory. The engine keeps its latest 16 profiles;
    /// [`inlay_profile_text`](Functions::inlay_profile_text) writes them.
    ///
    /// - Thread: any.
    /// - Blocks: on the device for all repetitions; other calls that compute on the engine run between them; takes
    ///   device memory.
    /// - Ownership: Nothing is kept.
    /// - On error: No profile is added.
    /// - Errors: UNSUPPORTED, SESSION_LIMIT, KV_FULL, DEVICE_OUT_OF_MEMORY, INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.1.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `params`: The step; NULL for defaults. (may be null)
    pub inlay_profile_step: unsafe extern "C" fn(engine: *const inlay_engine, params: *const inlay_profile_params, err: *mut inlay_error) -> inlay_status,
    /// What [`inlay_profile_step`](Functions::inlay_profile_step) measured: time, bytes, bytes a second and the share
    /// of the read bandwidth, operation by operation. Bytes are those that the operation must move at least, each
    /// weight as it is held.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: NOT_FOUND: nothing was profiled yet.
    /// - Errors: NOT_FOUND, BUFFER_TOO_SMALL.
    /// - Since: 1.1.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `form`: Table or trace.
    /// - `buf`: The text, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the text. (bytes, may be null)
    pub inlay_profile_text: unsafe extern "C" fn(engine: *const inlay_engine, form: inlay_profile_form, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Runs the same tokens in two engines, all but the last as one step and the last as another, and writes how far
    /// apart each operation's values are: cosine, squared error over squares (NMSE), largest difference. For finding
    /// where two devices, or two files of a model, begin to differ.
    ///
    /// - Thread: any.
    /// - Blocks: on both devices for two steps, on each call, also one for the size; takes device memory.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: SESSION_LIMIT, CONTEXT_FULL, KV_FULL, BUFFER_TOO_SMALL, UNSUPPORTED, INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.1.
    ///
    /// Parameters:
    /// - `engine_a`: The engine whose values count as right.
    /// - `engine_b`: The other one; it may be the same.
    /// - `tokens`: Token ids.
    /// - `n_tokens`: At least 1; one less than these at most prefill_chunk of both engines. (tokens)
    /// - `nmse_limit`: An NMSE above it, or one that is no number, counts as different.
    /// - `first`: The first operation that differs, counted over both steps; -1 if none does. (may be null)
    /// - `buf`: The table, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the text. (bytes, may be null)
    pub inlay_compare_text: unsafe extern "C" fn(engine_a: *const inlay_engine, engine_b: *const inlay_engine, tokens: *const i32, n_tokens: usize, nmse_limit: f64, first: *mut i32, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Writes a model as a GGUF file with matrices of another type, under the names that GGUF files use. The source
    /// is a path as [`inlay_load`](Functions::inlay_load) takes it. With a quantized type, quantized matrices that
    /// take as few bits a weight already stay as they are. A folder's tokenizer gives the same tokens, texts and ends
    /// from the file; the log names what other programs will not read there.
    ///
    /// - Thread: any.
    /// - Blocks: on disk, and to quantize.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing is left; a file that was there before stays. Where only the folder cannot be brought to
    ///   the disk, IO: the file is in place, but its name may not outlive a power failure; the message says so.
    /// - Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, CANCELLED.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `path`: The source.
    /// - `path_len`: Its length, or SIZE_MAX. (bytes)
    /// - `out_path`: The file to write, which is named so when it is whole.
    /// - `out_path_len`: Its length, or SIZE_MAX. (bytes)
    /// - `params`: NULL: all defaults. (may be null)
    pub inlay_convert: unsafe extern "C" fn(path: *const c_char, path_len: usize, out_path: *const c_char, out_path_len: usize, params: *const inlay_convert_params, err: *mut inlay_error) -> inlay_status,
    /// Writes a conversation as the text that the model was trained on, by the model's chat template or a given one
    /// (Jinja, as Hugging Face transformers sets it up). A conversation is JSON: an array of messages such as
    /// {"role": "user", "content": "Hi"}, or an object of all the template's variables: messages, tools, documents,
    /// enable_thinking and so on. The text holds control tokens in writing, BOS where the template writes it:
    /// tokenize it with NO_BOS_EOS and PARSE_SPECIAL. Those that messages write pass as they are, too;
    /// [`inlay_chat_tokenize`](Functions::inlay_chat_tokenize) takes messages as text alone.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified.
    /// - Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `conversation`: JSON, as said above.
    /// - `conversation_len`: Its length, or SIZE_MAX. (bytes)
    /// - `params`: NULL: all defaults. (may be null)
    /// - `buf`: The text, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the text. (bytes, may be null)
    pub inlay_chat_render: unsafe extern "C" fn(engine: *const inlay_engine, conversation: *const c_char, conversation_len: usize, params: *const inlay_chat_params, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Turns texts into vectors: the final hidden states of a text's tokens, normalized as before the output matrix,
    /// pooled. Texts run together where sessions are free; one longer than prefill_chunk runs in chunks, or is
    /// CONTEXT_FULL where tokens see later ones.
    ///
    /// - Thread: any.
    /// - Blocks: on the device until all texts are run; other threads' calls that compute on the engine run between
    ///   its steps; progress is called meanwhile.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*needed` is set, nothing was run. Otherwise `out` is unspecified.
    /// - Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, INVALID_STATE, DEVICE_LOST,
    ///   FORMAT, CANCELLED.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `inputs`: The texts. (may be null)
    /// - `n_inputs`: Their number.
    /// - `input_stride`: sizeof([`inlay_embed_input`]): from one text to the next. (bytes)
    /// - `params`: NULL: all defaults. (may be null)
    /// - `out`: n_inputs x width values, text after text. The width is d_model. With pooling DEFAULT it is d_model
    ///   times the number of the model's poolings, or that of its last Dense layer. (may be null)
    /// - `cap`: Room in out. (values)
    /// - `needed`: n_inputs x width. (values, may be null)
    pub inlay_embed: unsafe extern "C" fn(engine: *const inlay_engine, inputs: *const inlay_embed_input, n_inputs: usize, input_stride: usize, params: *const inlay_embed_params, out: *mut f32, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Says how likely each token of texts is, given those before it: one run of the model in steps, nothing is
    /// drawn. Each text runs in a session of its own, several at once where sessions are free and a step has room; a
    /// longer one runs chunk by chunk. With another engine of the same vocabulary both run, and their distributions
    /// are compared: what a quantization costs.
    ///
    /// - Thread: any.
    /// - Blocks: on the device until all texts are run; other threads' calls that compute on the engine run between
    ///   its steps; progress is called meanwhile.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: nothing was run. Otherwise scores and top are unspecified.
    /// - Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, INVALID_STATE, DEVICE_LOST,
    ///   FORMAT, CANCELLED.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `against`: Another engine to compare with, whose distributions count as exact; or NULL. (may be null)
    /// - `tokens`: The texts' token ids, one text after the other. (may be null)
    /// - `n_tokens`: Of all texts together. (tokens)
    /// - `lengths`: Tokens of each text, 1 at least. NULL: all tokens are one text. (may be null)
    /// - `n_texts`: Their number; without lengths 0.
    /// - `params`: NULL: all defaults. (may be null)
    /// - `scores`: One for each token.
    /// - `score_stride`: sizeof([`inlay_token_score`]): from one score to the next. (bytes)
    /// - `top`: n_tokens x n_logprobs entries: of each token the likeliest in its place, the likeliest first; token
    ///   -1 where there is none. NULL without n_logprobs. (may be null)
    /// - `top_cap`: Room in top.
    pub inlay_score: unsafe extern "C" fn(engine: *const inlay_engine, against: *const inlay_engine, tokens: *const i32, n_tokens: usize, lengths: *const i32, n_texts: usize, params: *const inlay_score_params, scores: *mut inlay_token_score, score_stride: usize, top: *mut inlay_token_logprob, top_cap: usize, err: *mut inlay_error) -> inlay_status,
    /// Says what a model is, from its files' headers alone: family, features, types of its tensors, which devices
    /// would run it and why others would not, and the memory that contexts of several lengths take. A model that no
    /// device runs is no error here; files that cannot be read are.
    ///
    /// - Thread: any.
    /// - Blocks: on disk, for headers and the tokenizer, and on drivers.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `path`: As [`inlay_load`](Functions::inlay_load) takes it.
    /// - `path_len`: Its length, or SIZE_MAX. (bytes)
    /// - `params`: NULL: all defaults. Contexts are shown for its device. (may be null)
    /// - `form`: Text or JSON.
    /// - `n_devices`: How many devices would run it with these parameters. (may be null)
    /// - `buf`: The text, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Length of the text. (bytes, may be null)
    pub inlay_explain: unsafe extern "C" fn(path: *const c_char, path_len: usize, params: *const inlay_load_params, form: inlay_explain_form, n_devices: *mut i32, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// The logits that [`inlay_session_copy_logits`](Functions::inlay_session_copy_logits) copies, without a copy:
    /// for hosts that read those of many sessions after every step.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: The values are the engine's. They are there until the session's next call that is `exclusive`,
    ///   decode steps that it takes part in included, or its end.
    /// - On error: `view` is unspecified.
    /// - Errors: INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `view`: Where they are.
    pub inlay_session_view_logits: unsafe extern "C" fn(session: *mut inlay_session, view: *mut inlay_logits, err: *mut inlay_error) -> inlay_status,
    /// Runs a part of a decode step, for hosts that give the model a little time in every frame. The first call
    /// begins it, the next ones go on, until `*units_left` is 0: then events and status are those of
    /// [`inlay_decode_step`](Functions::inlay_decode_step), bit for bit. Units take about the same time, but for what
    /// a truncation has left to be run first. Meanwhile calls that compute on the engine (those under way on other
    /// threads wait), and those that fork its sessions, change them or set a sampler, return INVALID_STATE; later
    /// minors may refuse fewer. Freeing one of the sessions drops the step.
    ///
    /// - Thread: exclusive(sessions).
    /// - Blocks: on the device for max_units units; waits for other calls that compute on the engine, of a prefill
    ///   for one chunk.
    /// - Ownership: Events are copies.
    /// - On error: Wrong arguments: nothing happened, events are untouched. Otherwise each event has its own status.
    /// - Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, BUSY, FORMAT, DEVICE_LOST.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `sessions`: The sessions; of a pending step those that it began with, in their order.
    /// - `n_sessions`: At least 1; at most 64 on a GPU.
    /// - `max_units`: Most units to run now. 0 begins a step, if none is pending, and tells its units.
    /// - `events`: One event a session, untouched until the step has ended.
    /// - `event_stride`: sizeof([`inlay_event`]): from one event to the next. (bytes)
    /// - `units_left`: Units that the step still has; 0: it has ended, or the call failed.
    pub inlay_decode_slice: unsafe extern "C" fn(sessions: *const *mut inlay_session, n_sessions: usize, max_units: i32, events: *mut inlay_event, event_stride: usize, units_left: *mut i32, err: *mut inlay_error) -> inlay_status,
    /// Drops the pending step that [`inlay_decode_slice`](Functions::inlay_decode_slice) has begun for these
    /// sessions: they are as they were before it, except that one which it found cancelled has finished. If no step
    /// is pending, nothing happens.
    ///
    /// - Thread: exclusive(sessions).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `sessions`: The sessions that it began with, in their order.
    /// - `n_sessions`: At least 1.
    pub inlay_decode_abandon: unsafe extern "C" fn(sessions: *const *mut inlay_session, n_sessions: usize, err: *mut inlay_error) -> inlay_status,
    /// Sets the token ids that end a generation when drawn, in place of those that there were.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: The ids are copied.
    /// - On error: Nothing has changed.
    /// - Errors: only the common ones.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `tokens`: Token ids; those outside of the vocabulary are refused. (may be null)
    /// - `n_tokens`: At most 1024; 0: none. (tokens)
    pub inlay_session_set_stop_tokens: unsafe extern "C" fn(session: *mut inlay_session, tokens: *const i32, n_tokens: usize, err: *mut inlay_error) -> inlay_status,
    /// Asks for the end of one generation: as [`inlay_session_cancel`](Functions::inlay_session_cancel), but a
    /// request for one that is over has no effect on later ones. A generation begins with a prefill or a truncation;
    /// its number is one more than the last one's, and [`inlay_session_info`] tells it. A request for the coming one
    /// is seen by the prefill that begins it. Of requests for several the session knows the highest.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: only the common ones.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `generation`: Its number.
    pub inlay_session_cancel_generation: unsafe extern "C" fn(session: *const inlay_session, generation: u64, err: *mut inlay_error) -> inlay_status,
    /// Sets how many tokens may be drawn after a prefill: with the last of them the session finishes, the reason is
    /// MAX_TOKENS. It counts for the generation under way, too; one that has drawn as many already ends with its next
    /// token. With [`INLAY_SESSION_RESERVE`] a generation under way also gets the KV blocks for a higher limit, or
    /// KV_FULL.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: KV_FULL.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `max_tokens`: 0 or more; 0: no limit but the context. (tokens)
    pub inlay_session_set_max_tokens: unsafe extern "C" fn(session: *mut inlay_session, max_tokens: i32, err: *mut inlay_error) -> inlay_status,
    /// Writes a conversation as [`inlay_chat_render`](Functions::inlay_chat_render) does, and tokenizes it, so that
    /// only the template's own control tokens count: those that the conversation writes, in messages, tools or any
    /// other of its values, or that arise only together with what it writes, are text. Where it writes none the
    /// tokens are those of [`inlay_chat_render`](Functions::inlay_chat_render) and
    /// [`inlay_tokenize`](Functions::inlay_tokenize) with NO_BOS_EOS and PARSE_SPECIAL, behind BOS where the model
    /// asks for it and its own template writes none. Whatever a template makes of the conversation's texts counts as
    /// theirs; where it changes a text that mixes both (replace, upper, tojson), all of it does.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*n_tokens` is set, nothing is written.
    /// - Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL, CANCELLED.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `conversation`: As [`inlay_chat_render`](Functions::inlay_chat_render) takes it.
    /// - `conversation_len`: Its length, or SIZE_MAX. (bytes)
    /// - `params`: NULL: all defaults. (may be null)
    /// - `tokens`: The tokens. (may be null)
    /// - `cap`: Room in tokens. (tokens)
    /// - `n_tokens`: How many tokens the conversation has. (tokens)
    pub inlay_chat_tokenize: unsafe extern "C" fn(engine: *const inlay_engine, conversation: *const c_char, conversation_len: usize, params: *const inlay_chat_params, tokens: *mut i32, cap: usize, n_tokens: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Takes tokens out of the sequence: those behind them move to the front. Their keys and values stay, keys are
    /// rotated to the new positions (RoPE), in about the time of a copy. They still carry what they have seen of the
    /// tokens that went: logits are close to those of the shorter sequence, not the same; FP8 and INT8 keys are
    /// rounded once more. A generation goes on, also one that ended with CONTEXT_FULL; where the last token goes,
    /// this is [`inlay_session_truncate`](Functions::inlay_session_truncate). Where a sliding window needs keys that
    /// are gone, the next prefill or step first runs the shorter sequence from its beginning. UNSUPPORTED: the model
    /// has a state that cannot lose tokens; no present model has.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: while the device moves keys and values; waits for other calls that compute on the engine.
    /// - Ownership: Nothing is kept.
    /// - On error: DEVICE_LOST: unspecified. Otherwise nothing has changed.
    /// - Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `first`: The first token to go, at most the present length. (tokens)
    /// - `n_tokens`: How many go; 0: nothing happens. (tokens)
    pub inlay_session_shift: unsafe extern "C" fn(session: *mut inlay_session, first: usize, n_tokens: usize, err: *mut inlay_error) -> inlay_status,
    /// Appends tokens that the host chose, as if they had been drawn: they count toward max_tokens, penalties and DRY
    /// see them, their text comes with the next event or
    /// [`inlay_session_take_text`](Functions::inlay_session_take_text). A stop string, a stop or end token,
    /// max_tokens or the context's end finishes the generation as in a step; what comes behind is not accepted.
    /// Averages of Mirostat and adaptive-p stay. Nothing is run: logits remain those of before, and the next step
    /// runs the tokens before it draws.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: The ids are copied.
    /// - On error: OUT_OF_MEMORY: the first `*n_accepted` tokens stay. Otherwise nothing has changed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `session`: A session that has tokens and has not finished.
    /// - `tokens`: Token ids. (may be null)
    /// - `n_tokens`: 0: nothing happens. (tokens)
    /// - `n_accepted`: How many of them the sequence has now; fewer only where the generation has finished, as
    ///   [`inlay_session_get_info`](Functions::inlay_session_get_info) tells, or memory ran out. (tokens, may be
    ///   null)
    pub inlay_session_accept: unsafe extern "C" fn(session: *mut inlay_session, tokens: *const i32, n_tokens: usize, n_accepted: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Reads a session's tokens back: those of prompts, drawn and accepted ones.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*n_tokens` is set, nothing is written.
    /// - Errors: BUFFER_TOO_SMALL.
    /// - Since: 1.2.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `first`: The first token to read, at most the length of the sequence. (tokens)
    /// - `tokens`: Their ids, up to the end of the sequence. (may be null)
    /// - `cap`: Room in tokens. (tokens)
    /// - `n_tokens`: How many there are from the first one on. (tokens)
    pub inlay_session_get_tokens: unsafe extern "C" fn(session: *mut inlay_session, first: usize, tokens: *mut i32, cap: usize, n_tokens: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Makes a queue of an engine. An engine may have several; none sees what becomes of another's requests. All of
    /// them share the device.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: `*queue` is the caller's, to be freed with [`inlay_queue_free`](Functions::inlay_queue_free). It
    ///   does not keep the engine alive.
    /// - On error: `*queue` is NULL.
    /// - Errors: only the common ones.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `params`: NULL: all defaults. (may be null)
    /// - `queue`: The new queue.
    pub inlay_queue_create: unsafe extern "C" fn(engine: *const inlay_engine, params: *const inlay_queue_params, queue: *mut *mut inlay_queue, err: *mut inlay_error) -> inlay_status,
    /// Cancels the queue's requests and frees it; nobody is told. Calls that wait for it end with INVALID_STATE. NULL
    /// is allowed. Not from within the queue's wake function.
    ///
    /// - Thread: exclusive(queue).
    /// - Blocks: while the queue's wake function runs on another thread.
    /// - Ownership: The handle is invalid afterwards.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `queue`: The queue. (may be null)
    pub inlay_queue_free: unsafe extern "C" fn(queue: *mut inlay_queue),
    /// Hands a request over; [`inlay_run`](Functions::inlay_run) or the engine's own thread computes it, together
    /// with others. What can be wrong with it is refused here. Rendering and tokenization happen in this call. The
    /// number that it gets is never used again, and there is nothing to free.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: The request is copied.
    /// - On error: `*request_id` is 0 and nothing was submitted.
    /// - Errors: UNSUPPORTED, FORMAT, CONTEXT_FULL, KV_FULL, QUEUE_FULL, CANCELLED, INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `queue`: The queue.
    /// - `request`: The request.
    /// - `request_id`: Its number, at least 1.
    pub inlay_submit: unsafe extern "C" fn(queue: *const inlay_queue, request: *const inlay_request, request_id: *mut u64, err: *mut inlay_error) -> inlay_status,
    /// Ends a request of the queue: no token is added once this has returned. Those to be polled still arrive, then
    /// its END, with the next computation where a budget has left its step pending. An unknown number, or one whose
    /// END was there, changes nothing.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `queue`: The queue.
    /// - `request_id`: Of [`inlay_submit`](Functions::inlay_submit).
    pub inlay_request_cancel: unsafe extern "C" fn(queue: *const inlay_queue, request_id: u64, err: *mut inlay_error) -> inlay_status,
    /// Moves the vector of a request of kind EMBED that has ended with EMBEDDED to the caller, once. Until then it
    /// stays, and the request counts among the queue's max_requests. A request that ended otherwise has none.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: The vector stays. BUFFER_TOO_SMALL: `*needed` is set. NOT_FOUND: the queue has no vector of such a
    ///   request: the number is unknown, the vector was taken, or the request ended without one. INVALID_STATE: the
    ///   request has not ended.
    /// - Errors: BUFFER_TOO_SMALL, NOT_FOUND, INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `queue`: The queue.
    /// - `request_id`: Of [`inlay_submit`](Functions::inlay_submit).
    /// - `values`: The vector. NULL with cap 0 only asks for the number of values. (may be null)
    /// - `cap`: Room in values. (values)
    /// - `needed`: Values of the vector. (values, may be null)
    pub inlay_request_take_values: unsafe extern "C" fn(queue: *const inlay_queue, request_id: u64, values: *mut f32, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Collects what became of the queue's requests, as far as there is room; what there is no room for stays. A
    /// request's events come in order, its END last; nothing is ever lost but what is not wanted: with tokens NULL
    /// the tokens, with text NULL the texts.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: no room for the next event. 1 event, 1 + n_logprobs tokens and 4 bytes of text,
    ///   where these are wanted, are room for any; the error's required is 4 whatever lacks. INVALID_STATE: the
    ///   engine was freed, and all was polled.
    /// - Errors: BUFFER_TOO_SMALL, INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `queue`: The queue.
    /// - `events`: The events.
    /// - `cap_events`: Room in events.
    /// - `event_stride`: sizeof([`inlay_request_event`]): from one event to the next. (bytes)
    /// - `tokens`: The events' tokens. NULL with cap_tokens 0: none are wanted. They are dropped, and n_tokens and
    ///   n_top are 0 in each event. (may be null)
    /// - `cap_tokens`: Room in tokens. (tokens)
    /// - `text`: The events' texts, one behind the other. NULL with cap_text 0: none are wanted. They are dropped,
    ///   and text_bytes is 0 in each event. (may be null)
    /// - `cap_text`: Room in text. (bytes)
    /// - `n_events`: Events that were written; 0 where there are none.
    pub inlay_poll: unsafe extern "C" fn(queue: *const inlay_queue, events: *mut inlay_request_event, cap_events: usize, event_stride: usize, tokens: *mut inlay_token_logprob, cap_tokens: usize, text: *mut c_char, cap_text: usize, n_events: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Waits until the queue has something to poll. Refused with INVALID_STATE where nobody would ever wake it: the
    /// engine has no thread of its own and [`inlay_run`](Functions::inlay_run) was never called; with timeout_us 0
    /// never refused for that.
    ///
    /// - Thread: any.
    /// - Blocks: until there is something to poll, the time is over, somebody calls
    ///   [`inlay_queue_wake`](Functions::inlay_queue_wake), the device is lost, the engine's thread ends where
    ///   [`inlay_run`](Functions::inlay_run) was never called, or the queue or its engine is freed.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `queue`: The queue.
    /// - `timeout_us`: The longest wait; 0 asks only, a negative number waits for ever. (microseconds)
    /// - `result`: How it ended.
    pub inlay_wait: unsafe extern "C" fn(queue: *const inlay_queue, timeout_us: i64, result: *mut inlay_wait_result, err: *mut inlay_error) -> inlay_status,
    /// Ends every [`inlay_wait`](Functions::inlay_wait) of the queue that is under way. Where none is, the next one
    /// that would wait ends at once; calls until then count as one. Nothing else changes: there is no event, the
    /// system's handle stays as it is, and the wake function is not called.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `queue`: The queue.
    pub inlay_queue_wake: unsafe extern "C" fn(queue: *const inlay_queue, err: *mut inlay_error) -> inlay_status,
    /// Gives what a loop of the system can wait for: ready while there is something to poll.
    /// [`inlay_poll`](Functions::inlay_poll) alone makes it unready. Once the engine is freed it is ready for ever,
    /// and [`inlay_poll`](Functions::inlay_poll) says INVALID_STATE when all was polled: then leave it out.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: The handle belongs to the queue and is closed with it; do not read, write, set or close it.
    /// - On error: Nothing has changed.
    /// - Errors: UNSUPPORTED, IO, INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `queue`: The queue.
    /// - `kind`: What it is to the system.
    /// - `handle`: A file descriptor, or a HANDLE as a number.
    pub inlay_queue_get_handle: unsafe extern "C" fn(queue: *const inlay_queue, kind: *mut inlay_wait_kind, handle: *mut i64, err: *mut inlay_error) -> inlay_status,
    /// Computes the engine's requests, of all queues, on the calling thread. A step that the budget cuts goes on at
    /// the next call; other calls that compute end it first, and fail no more than without it. It draws together what
    /// requests have to draw and runs prompts in chunks beside that.
    ///
    /// - Thread: any.
    /// - Blocks: on the device for the budget, on a GPU with NO_WAIT not at all; waits for other threads' calls that
    ///   compute on the engine.
    /// - Ownership: Nothing is kept.
    /// - On error: `*info` is as before; what was drawn is polled. BUSY: another thread is in it. INVALID_STATE: the
    ///   engine has a thread of its own, or a decode step in slices is pending, which may have begun between two
    ///   steps of this call.
    /// - Errors: BUSY, INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `params`: NULL: all defaults. (may be null)
    /// - `info`: What it came to.
    pub inlay_run: unsafe extern "C" fn(engine: *const inlay_engine, params: *const inlay_run_params, info: *mut inlay_run_info, err: *mut inlay_error) -> inlay_status,
    /// Gives the engine a thread of its own that computes its requests, changes how that one computes, or ends it.
    /// Without any thread the host calls [`inlay_run`](Functions::inlay_run). The engine's log may then come from
    /// that thread.
    ///
    /// - Thread: any.
    /// - Blocks: to end the thread: for the step at hand.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE, DEVICE_LOST.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `params`: NULL: the thread ends. (may be null)
    pub inlay_engine_set_thread: unsafe extern "C" fn(engine: *const inlay_engine, params: *const inlay_thread_params, err: *mut inlay_error) -> inlay_status,
    /// Compiles which texts may be written. The mask of tokens that may come next is exact: each of them begins what
    /// some allowed text goes on with, and control tokens never count for their letters. The first constraint of an
    /// engine reads its vocabulary, which takes a moment. Compiling has limits of steps and memory, so that no text
    /// makes it endless.
    ///
    /// - Thread: any.
    /// - Blocks: while it compiles.
    /// - Ownership: `*constraint` is the caller's, to be freed with
    ///   [`inlay_constraint_free`](Functions::inlay_constraint_free).
    /// - On error: `*constraint` is NULL. FORMAT: the text is no such schema, grammar or expression, or nothing can
    ///   match it; UNSUPPORTED: it needs what is not supported, or more than the limits. The message names the place.
    /// - Errors: FORMAT, UNSUPPORTED.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `engine`: The engine, whose model has a tokenizer.
    /// - `params`: What it is made of.
    /// - `constraint`: The new constraint.
    pub inlay_constraint_create: unsafe extern "C" fn(engine: *const inlay_engine, params: *const inlay_constraint_params, constraint: *mut *mut inlay_constraint, err: *mut inlay_error) -> inlay_status,
    /// Frees a constraint. Sessions and requests that have it keep what they need. NULL is allowed.
    ///
    /// - Thread: exclusive(constraint).
    /// - Blocks: no.
    /// - Ownership: The handle is invalid afterwards.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `constraint`: The constraint. (may be null)
    pub inlay_constraint_free: unsafe extern "C" fn(constraint: *mut inlay_constraint),
    /// Tells what a constraint takes.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `constraint`: The constraint.
    /// - `info`: What it takes.
    pub inlay_constraint_get_info: unsafe extern "C" fn(constraint: *const inlay_constraint, info: *mut inlay_constraint_info, err: *mut inlay_error) -> inlay_status,
    /// Gives one of the remarks that compiling a schema left: a keyword or a format that is not known and demands
    /// nothing, or what LENIENT dropped, with its place.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*needed` is set, nothing is written.
    /// - Errors: NOT_FOUND, BUFFER_TOO_SMALL, INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `constraint`: The constraint.
    /// - `index`: 0 to n_remarks - 1.
    /// - `buf`: The remark, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Its length. (bytes, may be null)
    pub inlay_constraint_get_remark: unsafe extern "C" fn(constraint: *const inlay_constraint, index: usize, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Says what the session may write from now on, and in every later generation. A truncation inside of what was
    /// written under it goes back in it, a fork takes it along, a shift changes nothing.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: The session shares the constraint: its handle may be freed.
    /// - On error: The session is as before. INVALID_ARGUMENT: the constraint is another engine's, or does not allow
    ///   what was written.
    /// - Errors: UNSUPPORTED, INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `constraint`: The constraint; NULL: anything may be written. (may be null)
    /// - `written`: What of the text is in the sequence already, of the present generation alone; NULL: nothing. (may
    ///   be null)
    /// - `written_len`: Its length, or SIZE_MAX if a zero ends it. (bytes)
    pub inlay_session_set_constraint: unsafe extern "C" fn(session: *mut inlay_session, constraint: *const inlay_constraint, written: *const c_char, written_len: usize, err: *mut inlay_error) -> inlay_status,
    /// Gives the text that must follow under the session's constraint, up to where there is a choice or the text may
    /// end. Empty without a constraint. It is drawn all the same; a host may show it at once, or append its tokens
    /// with [`inlay_session_accept`](Functions::inlay_session_accept).
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. UNSUPPORTED: the constraint needs more
    ///   than its limits at this place of the text.
    /// - Errors: BUFFER_TOO_SMALL, UNSUPPORTED, INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `session`: The session.
    /// - `buf`: Whole characters, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Its length, at present at most 4096. (bytes, may be null)
    pub inlay_session_get_forced_text: unsafe extern "C" fn(session: *mut inlay_session, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Writes all that a session is: tokens, keys and values, undrawn logits, sampler, limits, text that is held
    /// back, constraint. A session that is restored from it goes on as this one would. Other sessions compute
    /// meanwhile.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: while it copies.
    /// - Ownership: The bytes are the caller's, with a version and a checksum (docs/design/session-state.md). Another
    ///   version of the library may refuse them: who must outlive it keeps the tokens beside them.
    /// - On error: The session is as before. BUFFER_TOO_SMALL: `*needed` is set, nothing is written.
    /// - Errors: BUFFER_TOO_SMALL, INVALID_STATE, UNSUPPORTED, DEVICE_LOST.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `session`: The session; not one in a decode step in slices.
    /// - `state`: The bytes; NULL with cap 0 to ask for their number. (may be null)
    /// - `cap`: Room in bytes. (bytes)
    /// - `needed`: How many there are. (bytes, may be null)
    pub inlay_session_save: unsafe extern "C" fn(session: *mut inlay_session, state: *mut c_void, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// [`inlay_session_save`](Functions::inlay_session_save) through a callback, part by part.
    ///
    /// - Thread: exclusive(session).
    /// - Blocks: on the callback, and while it copies.
    /// - Ownership: Nothing is kept.
    /// - On error: The session is as before; some bytes may be written. IO: the callback failed, native_code is what
    ///   it returned.
    /// - Errors: IO, INVALID_STATE, UNSUPPORTED, DEVICE_LOST.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `session`: The session; not one in a decode step in slices.
    /// - `writer`: Where the bytes go.
    pub inlay_session_save_to: unsafe extern "C" fn(session: *mut inlay_session, writer: *const inlay_state_writer, err: *mut inlay_error) -> inlay_status,
    /// Makes a session of what [`inlay_session_save`](Functions::inlay_session_save) has written, on an engine of the
    /// same model with the same weight and KV types. Pool, threads, chunks and device may differ, and the context, as
    /// long as the tokens fit and positions are scaled alike. Nothing is computed.
    ///
    /// - Thread: any.
    /// - Blocks: for one chunk of each prefill under way, and while it copies and compiles a constraint; takes device
    ///   memory.
    /// - Ownership: `*session` is the caller's, to be freed with
    ///   [`inlay_session_free`](Functions::inlay_session_free); it keeps the engine alive.
    /// - On error: `*session` is NULL, nothing has changed, whatever the bytes are: all that they say is checked.
    ///   FORMAT: the bytes are damaged or no saved session; UNSUPPORTED: of another model, KV type, scaling of
    ///   positions or version.
    /// - Errors: FORMAT, UNSUPPORTED, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `state`: The bytes.
    /// - `n_bytes`: How many there are. (bytes)
    /// - `session`: The new session.
    pub inlay_session_restore: unsafe extern "C" fn(engine: *const inlay_engine, state: *const c_void, n_bytes: usize, session: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status,
    /// [`inlay_session_restore`](Functions::inlay_session_restore) through a callback, part by part. What lies behind
    /// the saved session is not read.
    ///
    /// - Thread: any.
    /// - Blocks: on the callback, for one chunk of each prefill under way, and while it copies and compiles a
    ///   constraint; takes device memory.
    /// - Ownership: `*session` is the caller's, to be freed with
    ///   [`inlay_session_free`](Functions::inlay_session_free); it keeps the engine alive.
    /// - On error: `*session` is NULL, nothing has changed. As
    ///   [`inlay_session_restore`](Functions::inlay_session_restore); IO: the callback failed, native_code is what it
    ///   returned.
    /// - Errors: IO, FORMAT, UNSUPPORTED, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `engine`: The engine.
    /// - `reader`: Where the bytes come from.
    /// - `session`: The new session.
    pub inlay_session_restore_from: unsafe extern "C" fn(engine: *const inlay_engine, reader: *const inlay_state_reader, session: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status,
    /// Says in which format the model writes reasoning and calls of tools, by its chat template or as it is given.
    /// JSON: {"name", "reasoning": whether it has any, "calls": whether it has any, "arguments": "object" or "text",
    /// as the template takes those of earlier calls, "remark": what was not recognized, empty if all was}.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. FORMAT: the format or the tools are not as
    ///   they should be.
    /// - Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `engine`: The engine, whose model has a tokenizer.
    /// - `params`: NULL: all defaults. The prompt is unused. (may be null)
    /// - `buf`: The JSON, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Its length. (bytes, may be null)
    pub inlay_chat_get_format: unsafe extern "C" fn(engine: *const inlay_engine, params: *const inlay_chat_parser_params, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Makes a parser of one message: tokens or text go in while they are drawn, parts of the message come out. What
    /// came out is never taken back, and parts together are the same however the message is cut. Whatever a model
    /// writes is a message: what is not as the format says is content, and MALFORMED is set.
    ///
    /// - Thread: any.
    /// - Blocks: no.
    /// - Ownership: `*parser` is the caller's, to be freed with
    ///   [`inlay_chat_parser_free`](Functions::inlay_chat_parser_free); the engine may be freed before.
    /// - On error: `*parser` is NULL. FORMAT: the format or the tools are not as they should be; the message names
    ///   the place.
    /// - Errors: FORMAT, UNSUPPORTED.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `engine`: The engine, whose model has a tokenizer.
    /// - `params`: NULL: all defaults. (may be null)
    /// - `parser`: The new parser.
    pub inlay_chat_parser_create: unsafe extern "C" fn(engine: *const inlay_engine, params: *const inlay_chat_parser_params, parser: *mut *mut inlay_chat_parser, err: *mut inlay_error) -> inlay_status,
    /// Frees a parser. NULL is allowed.
    ///
    /// - Thread: exclusive(parser).
    /// - Blocks: no.
    /// - Ownership: The handle is invalid afterwards.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `parser`: The parser. (may be null)
    pub inlay_chat_parser_free: unsafe extern "C" fn(parser: *mut inlay_chat_parser),
    /// Reads tokens that the model drew. A token that is a marker of the format counts as one, the same letters in
    /// other tokens do not; other control tokens are nothing.
    ///
    /// - Thread: exclusive(parser).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing was read. INVALID_STATE: [`inlay_chat_parser_finish`](Functions::inlay_chat_parser_finish)
    ///   was called. OUT_OF_MEMORY: the parser is unspecified and can only be freed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `parser`: The parser.
    /// - `tokens`: Token ids.
    /// - `n_tokens`: Their number; 0 reads nothing. (tokens)
    pub inlay_chat_parser_append: unsafe extern "C" fn(parser: *mut inlay_chat_parser, tokens: *const i32, n_tokens: usize, err: *mut inlay_error) -> inlay_status,
    /// Reads text, which may be cut anywhere, inside of characters too. Letters of markers count where the vocabulary
    /// has no such token, and with WRITTEN_MARKERS.
    ///
    /// - Thread: exclusive(parser).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing was read. INVALID_STATE: [`inlay_chat_parser_finish`](Functions::inlay_chat_parser_finish)
    ///   was called. OUT_OF_MEMORY: the parser is unspecified and can only be freed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `parser`: The parser.
    /// - `text`: The text. (may be null)
    /// - `text_len`: Its length, or SIZE_MAX if a zero ends it. (bytes)
    pub inlay_chat_parser_append_text: unsafe extern "C" fn(parser: *mut inlay_chat_parser, text: *const c_char, text_len: usize, err: *mut inlay_error) -> inlay_status,
    /// Says that the message ended, or was cut: what was held back is given. A second call changes nothing.
    ///
    /// - Thread: exclusive(parser).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: OUT_OF_MEMORY: the parser is unspecified and can only be freed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `parser`: The parser.
    pub inlay_chat_parser_finish: unsafe extern "C" fn(parser: *mut inlay_chat_parser, err: *mut inlay_error) -> inlay_status,
    /// Takes the parts of the message that are ready, in the order of the text, as far as there is room; what there
    /// is no room for stays. Texts of REASONING, CONTENT and ARGUMENTS may be cut between characters.
    ///
    /// - Thread: exclusive(parser).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: no room for the next part; 1 part and 512 bytes of text are room for any.
    ///   Nothing is taken.
    /// - Errors: BUFFER_TOO_SMALL, INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `parser`: The parser.
    /// - `deltas`: The parts.
    /// - `cap_deltas`: Room in deltas.
    /// - `delta_stride`: sizeof([`inlay_chat_delta`]): from one part to the next. (bytes)
    /// - `text`: Their texts, one behind the other. (may be null)
    /// - `cap_text`: Room in text. (bytes)
    /// - `n_deltas`: Parts that were written; 0 where there are none.
    pub inlay_chat_parser_take: unsafe extern "C" fn(parser: *mut inlay_chat_parser, deltas: *mut inlay_chat_delta, cap_deltas: usize, delta_stride: usize, text: *mut c_char, cap_text: usize, n_deltas: *mut usize, err: *mut inlay_error) -> inlay_status,
    /// Tells where a parser is.
    ///
    /// - Thread: exclusive(parser).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: Nothing has changed.
    /// - Errors: INVALID_STATE.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `parser`: The parser.
    /// - `info`: Where it is.
    pub inlay_chat_parser_get_info: unsafe extern "C" fn(parser: *mut inlay_chat_parser, info: *mut inlay_chat_parser_info, err: *mut inlay_error) -> inlay_status,
    /// Gives the whole message, whether its parts were taken or not, as JSON that can be appended to the
    /// conversation: {"role": "assistant", "content"}, with "reasoning_content" and "tool_calls" where there are any.
    /// A call is {"id", "type": "function", "function": {"name", "arguments"}}; its arguments are an object, or the
    /// text of one where the chat template wants text, or what there is of a call that was cut, as text.
    ///
    /// - Thread: exclusive(parser).
    /// - Blocks: no.
    /// - Ownership: Nothing is kept.
    /// - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. INVALID_STATE:
    ///   [`inlay_chat_parser_finish`](Functions::inlay_chat_parser_finish) was not called.
    /// - Errors: INVALID_STATE, BUFFER_TOO_SMALL.
    /// - Since: 1.3.
    ///
    /// Parameters:
    /// - `parser`: The parser.
    /// - `buf`: The JSON, ended by a zero if there is room. (may be null)
    /// - `cap`: Room in buf. (bytes)
    /// - `needed`: Its length. (bytes, may be null)
    pub inlay_chat_parser_get_message: unsafe extern "C" fn(parser: *mut inlay_chat_parser, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status,
}

/// Names of all functions, in the header's order.
pub const FUNCTION_NAMES: [&str; 80] = [
    "inlay_load",
    "inlay_prefill",
    "inlay_decode_step",
    "inlay_free",
    "inlay_version_string",
    "inlay_abi_version",
    "inlay_status_name",
    "inlay_device_count",
    "inlay_device_get",
    "inlay_load_memory",
    "inlay_load_reader",
    "inlay_memory_plan",
    "inlay_engine_get_info",
    "inlay_meta_count",
    "inlay_meta_key",
    "inlay_meta_value",
    "inlay_tokenize",
    "inlay_detokenize",
    "inlay_token_get_info",
    "inlay_session_create",
    "inlay_session_free",
    "inlay_session_get_info",
    "inlay_session_take_text",
    "inlay_session_fork",
    "inlay_session_truncate",
    "inlay_session_set_sampler",
    "inlay_session_set_stop",
    "inlay_session_copy_logits",
    "inlay_session_cancel",
    "inlay_engine_get_stats",
    "inlay_plan_text",
    "inlay_log_read",
    "inlay_profile_step",
    "inlay_profile_text",
    "inlay_compare_text",
    "inlay_convert",
    "inlay_chat_render",
    "inlay_embed",
    "inlay_score",
    "inlay_explain",
    "inlay_session_view_logits",
    "inlay_decode_slice",
    "inlay_decode_abandon",
    "inlay_session_set_stop_tokens",
    "inlay_session_cancel_generation",
    "inlay_session_set_max_tokens",
    "inlay_chat_tokenize",
    "inlay_session_shift",
    "inlay_session_accept",
    "inlay_session_get_tokens",
    "inlay_queue_create",
    "inlay_queue_free",
    "inlay_submit",
    "inlay_request_cancel",
    "inlay_request_take_values",
    "inlay_poll",
    "inlay_wait",
    "inlay_queue_wake",
    "inlay_queue_get_handle",
    "inlay_run",
    "inlay_engine_set_thread",
    "inlay_constraint_create",
    "inlay_constraint_free",
    "inlay_constraint_get_info",
    "inlay_constraint_get_remark",
    "inlay_session_set_constraint",
    "inlay_session_get_forced_text",
    "inlay_session_save",
    "inlay_session_save_to",
    "inlay_session_restore",
    "inlay_session_restore_from",
    "inlay_chat_get_format",
    "inlay_chat_parser_create",
    "inlay_chat_parser_free",
    "inlay_chat_parser_append",
    "inlay_chat_parser_append_text",
    "inlay_chat_parser_finish",
    "inlay_chat_parser_take",
    "inlay_chat_parser_get_info",
    "inlay_chat_parser_get_message",
];

#[cfg(feature = "link")]
#[link(name = "inlay")]
unsafe extern "C" {
    /// See [`Functions::inlay_load`].
    pub fn inlay_load(path: *const c_char, path_len: usize, params: *const inlay_load_params, engine: *mut *mut inlay_engine, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_prefill`].
    pub fn inlay_prefill(session: *mut inlay_session, tokens: *const i32, n_tokens: usize, n_done: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_decode_step`].
    pub fn inlay_decode_step(sessions: *const *mut inlay_session, n_sessions: usize, events: *mut inlay_event, event_stride: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_free`].
    pub fn inlay_free(engine: *mut inlay_engine);
    /// See [`Functions::inlay_version_string`].
    pub fn inlay_version_string() -> *const c_char;
    /// See [`Functions::inlay_abi_version`].
    pub fn inlay_abi_version() -> u32;
    /// See [`Functions::inlay_status_name`].
    pub fn inlay_status_name(status: inlay_status) -> *const c_char;
    /// See [`Functions::inlay_device_count`].
    pub fn inlay_device_count() -> i32;
    /// See [`Functions::inlay_device_get`].
    pub fn inlay_device_get(index: i32, info: *mut inlay_device_info, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_load_memory`].
    pub fn inlay_load_memory(data: *const c_void, n_bytes: usize, params: *const inlay_load_params, engine: *mut *mut inlay_engine, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_load_reader`].
    pub fn inlay_load_reader(reader: *const inlay_reader, params: *const inlay_load_params, engine: *mut *mut inlay_engine, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_memory_plan`].
    pub fn inlay_memory_plan(path: *const c_char, path_len: usize, params: *const inlay_load_params, info: *mut inlay_memory_info, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_engine_get_info`].
    pub fn inlay_engine_get_info(engine: *const inlay_engine, info: *mut inlay_engine_info, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_meta_count`].
    pub fn inlay_meta_count(engine: *const inlay_engine, count: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_meta_key`].
    pub fn inlay_meta_key(engine: *const inlay_engine, index: usize, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_meta_value`].
    pub fn inlay_meta_value(engine: *const inlay_engine, key: *const c_char, key_len: usize, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_tokenize`].
    pub fn inlay_tokenize(engine: *const inlay_engine, text: *const c_char, text_len: usize, flags: inlay_tokenize_flags, tokens: *mut i32, cap: usize, n_tokens: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_detokenize`].
    pub fn inlay_detokenize(engine: *const inlay_engine, tokens: *const i32, n_tokens: usize, flags: inlay_detokenize_flags, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_token_get_info`].
    pub fn inlay_token_get_info(engine: *const inlay_engine, token: i32, info: *mut inlay_token_info, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_create`].
    pub fn inlay_session_create(engine: *const inlay_engine, params: *const inlay_session_params, session: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_free`].
    pub fn inlay_session_free(session: *mut inlay_session);
    /// See [`Functions::inlay_session_get_info`].
    pub fn inlay_session_get_info(session: *const inlay_session, info: *mut inlay_session_info, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_take_text`].
    pub fn inlay_session_take_text(session: *mut inlay_session, buf: *mut c_char, cap: usize, n_bytes: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_fork`].
    pub fn inlay_session_fork(session: *mut inlay_session, child: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_truncate`].
    pub fn inlay_session_truncate(session: *mut inlay_session, n_tokens: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_set_sampler`].
    pub fn inlay_session_set_sampler(session: *mut inlay_session, params: *const inlay_sampler_params, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_set_stop`].
    pub fn inlay_session_set_stop(session: *mut inlay_session, stops: *const inlay_text, n_stops: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_copy_logits`].
    pub fn inlay_session_copy_logits(session: *mut inlay_session, logits: *mut f32, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_cancel`].
    pub fn inlay_session_cancel(session: *const inlay_session);
    /// See [`Functions::inlay_engine_get_stats`].
    pub fn inlay_engine_get_stats(engine: *const inlay_engine, stats: *mut inlay_stats, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_plan_text`].
    pub fn inlay_plan_text(engine: *const inlay_engine, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_log_read`].
    pub fn inlay_log_read(engine: *const inlay_engine, cursor: *mut u64, level: *mut inlay_log_level, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_profile_step`].
    pub fn inlay_profile_step(engine: *const inlay_engine, params: *const inlay_profile_params, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_profile_text`].
    pub fn inlay_profile_text(engine: *const inlay_engine, form: inlay_profile_form, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_compare_text`].
    pub fn inlay_compare_text(engine_a: *const inlay_engine, engine_b: *const inlay_engine, tokens: *const i32, n_tokens: usize, nmse_limit: f64, first: *mut i32, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_convert`].
    pub fn inlay_convert(path: *const c_char, path_len: usize, out_path: *const c_char, out_path_len: usize, params: *const inlay_convert_params, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_render`].
    pub fn inlay_chat_render(engine: *const inlay_engine, conversation: *const c_char, conversation_len: usize, params: *const inlay_chat_params, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_embed`].
    pub fn inlay_embed(engine: *const inlay_engine, inputs: *const inlay_embed_input, n_inputs: usize, input_stride: usize, params: *const inlay_embed_params, out: *mut f32, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_score`].
    pub fn inlay_score(engine: *const inlay_engine, against: *const inlay_engine, tokens: *const i32, n_tokens: usize, lengths: *const i32, n_texts: usize, params: *const inlay_score_params, scores: *mut inlay_token_score, score_stride: usize, top: *mut inlay_token_logprob, top_cap: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_explain`].
    pub fn inlay_explain(path: *const c_char, path_len: usize, params: *const inlay_load_params, form: inlay_explain_form, n_devices: *mut i32, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_view_logits`].
    pub fn inlay_session_view_logits(session: *mut inlay_session, view: *mut inlay_logits, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_decode_slice`].
    pub fn inlay_decode_slice(sessions: *const *mut inlay_session, n_sessions: usize, max_units: i32, events: *mut inlay_event, event_stride: usize, units_left: *mut i32, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_decode_abandon`].
    pub fn inlay_decode_abandon(sessions: *const *mut inlay_session, n_sessions: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_set_stop_tokens`].
    pub fn inlay_session_set_stop_tokens(session: *mut inlay_session, tokens: *const i32, n_tokens: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_cancel_generation`].
    pub fn inlay_session_cancel_generation(session: *const inlay_session, generation: u64, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_set_max_tokens`].
    pub fn inlay_session_set_max_tokens(session: *mut inlay_session, max_tokens: i32, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_tokenize`].
    pub fn inlay_chat_tokenize(engine: *const inlay_engine, conversation: *const c_char, conversation_len: usize, params: *const inlay_chat_params, tokens: *mut i32, cap: usize, n_tokens: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_shift`].
    pub fn inlay_session_shift(session: *mut inlay_session, first: usize, n_tokens: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_accept`].
    pub fn inlay_session_accept(session: *mut inlay_session, tokens: *const i32, n_tokens: usize, n_accepted: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_get_tokens`].
    pub fn inlay_session_get_tokens(session: *mut inlay_session, first: usize, tokens: *mut i32, cap: usize, n_tokens: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_queue_create`].
    pub fn inlay_queue_create(engine: *const inlay_engine, params: *const inlay_queue_params, queue: *mut *mut inlay_queue, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_queue_free`].
    pub fn inlay_queue_free(queue: *mut inlay_queue);
    /// See [`Functions::inlay_submit`].
    pub fn inlay_submit(queue: *const inlay_queue, request: *const inlay_request, request_id: *mut u64, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_request_cancel`].
    pub fn inlay_request_cancel(queue: *const inlay_queue, request_id: u64, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_request_take_values`].
    pub fn inlay_request_take_values(queue: *const inlay_queue, request_id: u64, values: *mut f32, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_poll`].
    pub fn inlay_poll(queue: *const inlay_queue, events: *mut inlay_request_event, cap_events: usize, event_stride: usize, tokens: *mut inlay_token_logprob, cap_tokens: usize, text: *mut c_char, cap_text: usize, n_events: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_wait`].
    pub fn inlay_wait(queue: *const inlay_queue, timeout_us: i64, result: *mut inlay_wait_result, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_queue_wake`].
    pub fn inlay_queue_wake(queue: *const inlay_queue, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_queue_get_handle`].
    pub fn inlay_queue_get_handle(queue: *const inlay_queue, kind: *mut inlay_wait_kind, handle: *mut i64, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_run`].
    pub fn inlay_run(engine: *const inlay_engine, params: *const inlay_run_params, info: *mut inlay_run_info, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_engine_set_thread`].
    pub fn inlay_engine_set_thread(engine: *const inlay_engine, params: *const inlay_thread_params, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_constraint_create`].
    pub fn inlay_constraint_create(engine: *const inlay_engine, params: *const inlay_constraint_params, constraint: *mut *mut inlay_constraint, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_constraint_free`].
    pub fn inlay_constraint_free(constraint: *mut inlay_constraint);
    /// See [`Functions::inlay_constraint_get_info`].
    pub fn inlay_constraint_get_info(constraint: *const inlay_constraint, info: *mut inlay_constraint_info, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_constraint_get_remark`].
    pub fn inlay_constraint_get_remark(constraint: *const inlay_constraint, index: usize, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_set_constraint`].
    pub fn inlay_session_set_constraint(session: *mut inlay_session, constraint: *const inlay_constraint, written: *const c_char, written_len: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_get_forced_text`].
    pub fn inlay_session_get_forced_text(session: *mut inlay_session, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_save`].
    pub fn inlay_session_save(session: *mut inlay_session, state: *mut c_void, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_save_to`].
    pub fn inlay_session_save_to(session: *mut inlay_session, writer: *const inlay_state_writer, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_restore`].
    pub fn inlay_session_restore(engine: *const inlay_engine, state: *const c_void, n_bytes: usize, session: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_session_restore_from`].
    pub fn inlay_session_restore_from(engine: *const inlay_engine, reader: *const inlay_state_reader, session: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_get_format`].
    pub fn inlay_chat_get_format(engine: *const inlay_engine, params: *const inlay_chat_parser_params, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_parser_create`].
    pub fn inlay_chat_parser_create(engine: *const inlay_engine, params: *const inlay_chat_parser_params, parser: *mut *mut inlay_chat_parser, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_parser_free`].
    pub fn inlay_chat_parser_free(parser: *mut inlay_chat_parser);
    /// See [`Functions::inlay_chat_parser_append`].
    pub fn inlay_chat_parser_append(parser: *mut inlay_chat_parser, tokens: *const i32, n_tokens: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_parser_append_text`].
    pub fn inlay_chat_parser_append_text(parser: *mut inlay_chat_parser, text: *const c_char, text_len: usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_parser_finish`].
    pub fn inlay_chat_parser_finish(parser: *mut inlay_chat_parser, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_parser_take`].
    pub fn inlay_chat_parser_take(parser: *mut inlay_chat_parser, deltas: *mut inlay_chat_delta, cap_deltas: usize, delta_stride: usize, text: *mut c_char, cap_text: usize, n_deltas: *mut usize, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_parser_get_info`].
    pub fn inlay_chat_parser_get_info(parser: *mut inlay_chat_parser, info: *mut inlay_chat_parser_info, err: *mut inlay_error) -> inlay_status;
    /// See [`Functions::inlay_chat_parser_get_message`].
    pub fn inlay_chat_parser_get_message(parser: *mut inlay_chat_parser, buf: *mut c_char, cap: usize, needed: *mut usize, err: *mut inlay_error) -> inlay_status;
}

impl Functions {
    /// The functions of the library that the program is linked with.
    #[cfg(feature = "link")]
    pub const fn linked() -> Self {
        Self {
            inlay_load,
            inlay_prefill,
            inlay_decode_step,
            inlay_free,
            inlay_version_string,
            inlay_abi_version,
            inlay_status_name,
            inlay_device_count,
            inlay_device_get,
            inlay_load_memory,
            inlay_load_reader,
            inlay_memory_plan,
            inlay_engine_get_info,
            inlay_meta_count,
            inlay_meta_key,
            inlay_meta_value,
            inlay_tokenize,
            inlay_detokenize,
            inlay_token_get_info,
            inlay_session_create,
            inlay_session_free,
            inlay_session_get_info,
            inlay_session_take_text,
            inlay_session_fork,
            inlay_session_truncate,
            inlay_session_set_sampler,
            inlay_session_set_stop,
            inlay_session_copy_logits,
            inlay_session_cancel,
            inlay_engine_get_stats,
            inlay_plan_text,
            inlay_log_read,
            inlay_profile_step,
            inlay_profile_text,
            inlay_compare_text,
            inlay_convert,
            inlay_chat_render,
            inlay_embed,
            inlay_score,
            inlay_explain,
            inlay_session_view_logits,
            inlay_decode_slice,
            inlay_decode_abandon,
            inlay_session_set_stop_tokens,
            inlay_session_cancel_generation,
            inlay_session_set_max_tokens,
            inlay_chat_tokenize,
            inlay_session_shift,
            inlay_session_accept,
            inlay_session_get_tokens,
            inlay_queue_create,
            inlay_queue_free,
            inlay_submit,
            inlay_request_cancel,
            inlay_request_take_values,
            inlay_poll,
            inlay_wait,
            inlay_queue_wake,
            inlay_queue_get_handle,
            inlay_run,
            inlay_engine_set_thread,
            inlay_constraint_create,
            inlay_constraint_free,
            inlay_constraint_get_info,
            inlay_constraint_get_remark,
            inlay_session_set_constraint,
            inlay_session_get_forced_text,
            inlay_session_save,
            inlay_session_save_to,
            inlay_session_restore,
            inlay_session_restore_from,
            inlay_chat_get_format,
            inlay_chat_parser_create,
            inlay_chat_parser_free,
            inlay_chat_parser_append,
            inlay_chat_parser_append_text,
            inlay_chat_parser_finish,
            inlay_chat_parser_take,
            inlay_chat_parser_get_info,
            inlay_chat_parser_get_message,
        }
    }

    /// Looks every function up; `find` gives a function's address, or null. `minor` is the minor version that the library
    /// says it has: a later function that is not there is replaced by one that returns [`INLAY_UNSUPPORTED`], or nothing. That any
    /// other is not there is an error, which is its name.
    ///
    /// # Safety
    /// An address that `find` gives must be that of the function with that name, for as long as the table is used.
    pub unsafe fn resolve(minor: u32, mut find: impl FnMut(&CStr) -> *mut c_void) -> Result<Self, &'static str> {
        Ok(Self {
            inlay_load: match find(c"inlay_load") {
                p if p.is_null() => return Err("inlay_load"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_prefill: match find(c"inlay_prefill") {
                p if p.is_null() => return Err("inlay_prefill"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_decode_step: match find(c"inlay_decode_step") {
                p if p.is_null() => return Err("inlay_decode_step"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_free: match find(c"inlay_free") {
                p if p.is_null() => return Err("inlay_free"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_version_string: match find(c"inlay_version_string") {
                p if p.is_null() => return Err("inlay_version_string"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_abi_version: match find(c"inlay_abi_version") {
                p if p.is_null() => return Err("inlay_abi_version"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_status_name: match find(c"inlay_status_name") {
                p if p.is_null() => return Err("inlay_status_name"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_device_count: match find(c"inlay_device_count") {
                p if p.is_null() => return Err("inlay_device_count"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_device_get: match find(c"inlay_device_get") {
                p if p.is_null() => return Err("inlay_device_get"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_load_memory: match find(c"inlay_load_memory") {
                p if p.is_null() => return Err("inlay_load_memory"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_load_reader: match find(c"inlay_load_reader") {
                p if p.is_null() => return Err("inlay_load_reader"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_memory_plan: match find(c"inlay_memory_plan") {
                p if p.is_null() => return Err("inlay_memory_plan"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_engine_get_info: match find(c"inlay_engine_get_info") {
                p if p.is_null() => return Err("inlay_engine_get_info"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_meta_count: match find(c"inlay_meta_count") {
                p if p.is_null() => return Err("inlay_meta_count"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_meta_key: match find(c"inlay_meta_key") {
                p if p.is_null() => return Err("inlay_meta_key"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_meta_value: match find(c"inlay_meta_value") {
                p if p.is_null() => return Err("inlay_meta_value"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_tokenize: match find(c"inlay_tokenize") {
                p if p.is_null() => return Err("inlay_tokenize"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_detokenize: match find(c"inlay_detokenize") {
                p if p.is_null() => return Err("inlay_detokenize"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_token_get_info: match find(c"inlay_token_get_info") {
                p if p.is_null() => return Err("inlay_token_get_info"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_create: match find(c"inlay_session_create") {
                p if p.is_null() => return Err("inlay_session_create"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_free: match find(c"inlay_session_free") {
                p if p.is_null() => return Err("inlay_session_free"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_get_info: match find(c"inlay_session_get_info") {
                p if p.is_null() => return Err("inlay_session_get_info"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_take_text: match find(c"inlay_session_take_text") {
                p if p.is_null() => return Err("inlay_session_take_text"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_fork: match find(c"inlay_session_fork") {
                p if p.is_null() => return Err("inlay_session_fork"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_truncate: match find(c"inlay_session_truncate") {
                p if p.is_null() => return Err("inlay_session_truncate"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_set_sampler: match find(c"inlay_session_set_sampler") {
                p if p.is_null() => return Err("inlay_session_set_sampler"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_set_stop: match find(c"inlay_session_set_stop") {
                p if p.is_null() => return Err("inlay_session_set_stop"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_copy_logits: match find(c"inlay_session_copy_logits") {
                p if p.is_null() => return Err("inlay_session_copy_logits"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_cancel: match find(c"inlay_session_cancel") {
                p if p.is_null() => return Err("inlay_session_cancel"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_engine_get_stats: match find(c"inlay_engine_get_stats") {
                p if p.is_null() => return Err("inlay_engine_get_stats"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_plan_text: match find(c"inlay_plan_text") {
                p if p.is_null() => return Err("inlay_plan_text"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_log_read: match find(c"inlay_log_read") {
                p if p.is_null() => return Err("inlay_log_read"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_profile_step: match find(c"inlay_profile_step") {
                p if p.is_null() && minor < 1 => absent_inlay_profile_step,
                p if p.is_null() => return Err("inlay_profile_step"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_profile_text: match find(c"inlay_profile_text") {
                p if p.is_null() && minor < 1 => absent_inlay_profile_text,
                p if p.is_null() => return Err("inlay_profile_text"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_compare_text: match find(c"inlay_compare_text") {
                p if p.is_null() && minor < 1 => absent_inlay_compare_text,
                p if p.is_null() => return Err("inlay_compare_text"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_convert: match find(c"inlay_convert") {
                p if p.is_null() && minor < 2 => absent_inlay_convert,
                p if p.is_null() => return Err("inlay_convert"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_render: match find(c"inlay_chat_render") {
                p if p.is_null() && minor < 2 => absent_inlay_chat_render,
                p if p.is_null() => return Err("inlay_chat_render"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_embed: match find(c"inlay_embed") {
                p if p.is_null() && minor < 2 => absent_inlay_embed,
                p if p.is_null() => return Err("inlay_embed"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_score: match find(c"inlay_score") {
                p if p.is_null() && minor < 2 => absent_inlay_score,
                p if p.is_null() => return Err("inlay_score"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_explain: match find(c"inlay_explain") {
                p if p.is_null() && minor < 2 => absent_inlay_explain,
                p if p.is_null() => return Err("inlay_explain"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_view_logits: match find(c"inlay_session_view_logits") {
                p if p.is_null() && minor < 2 => absent_inlay_session_view_logits,
                p if p.is_null() => return Err("inlay_session_view_logits"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_decode_slice: match find(c"inlay_decode_slice") {
                p if p.is_null() && minor < 2 => absent_inlay_decode_slice,
                p if p.is_null() => return Err("inlay_decode_slice"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_decode_abandon: match find(c"inlay_decode_abandon") {
                p if p.is_null() && minor < 2 => absent_inlay_decode_abandon,
                p if p.is_null() => return Err("inlay_decode_abandon"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_set_stop_tokens: match find(c"inlay_session_set_stop_tokens") {
                p if p.is_null() && minor < 2 => absent_inlay_session_set_stop_tokens,
                p if p.is_null() => return Err("inlay_session_set_stop_tokens"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_cancel_generation: match find(c"inlay_session_cancel_generation") {
                p if p.is_null() && minor < 2 => absent_inlay_session_cancel_generation,
                p if p.is_null() => return Err("inlay_session_cancel_generation"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_set_max_tokens: match find(c"inlay_session_set_max_tokens") {
                p if p.is_null() && minor < 2 => absent_inlay_session_set_max_tokens,
                p if p.is_null() => return Err("inlay_session_set_max_tokens"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_tokenize: match find(c"inlay_chat_tokenize") {
                p if p.is_null() && minor < 2 => absent_inlay_chat_tokenize,
                p if p.is_null() => return Err("inlay_chat_tokenize"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_shift: match find(c"inlay_session_shift") {
                p if p.is_null() && minor < 2 => absent_inlay_session_shift,
                p if p.is_null() => return Err("inlay_session_shift"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_accept: match find(c"inlay_session_accept") {
                p if p.is_null() && minor < 2 => absent_inlay_session_accept,
                p if p.is_null() => return Err("inlay_session_accept"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_get_tokens: match find(c"inlay_session_get_tokens") {
                p if p.is_null() && minor < 2 => absent_inlay_session_get_tokens,
                p if p.is_null() => return Err("inlay_session_get_tokens"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_queue_create: match find(c"inlay_queue_create") {
                p if p.is_null() && minor < 3 => absent_inlay_queue_create,
                p if p.is_null() => return Err("inlay_queue_create"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_queue_free: match find(c"inlay_queue_free") {
                p if p.is_null() && minor < 3 => absent_inlay_queue_free,
                p if p.is_null() => return Err("inlay_queue_free"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_submit: match find(c"inlay_submit") {
                p if p.is_null() && minor < 3 => absent_inlay_submit,
                p if p.is_null() => return Err("inlay_submit"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_request_cancel: match find(c"inlay_request_cancel") {
                p if p.is_null() && minor < 3 => absent_inlay_request_cancel,
                p if p.is_null() => return Err("inlay_request_cancel"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_request_take_values: match find(c"inlay_request_take_values") {
                p if p.is_null() && minor < 3 => absent_inlay_request_take_values,
                p if p.is_null() => return Err("inlay_request_take_values"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_poll: match find(c"inlay_poll") {
                p if p.is_null() && minor < 3 => absent_inlay_poll,
                p if p.is_null() => return Err("inlay_poll"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_wait: match find(c"inlay_wait") {
                p if p.is_null() && minor < 3 => absent_inlay_wait,
                p if p.is_null() => return Err("inlay_wait"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_queue_wake: match find(c"inlay_queue_wake") {
                p if p.is_null() && minor < 3 => absent_inlay_queue_wake,
                p if p.is_null() => return Err("inlay_queue_wake"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_queue_get_handle: match find(c"inlay_queue_get_handle") {
                p if p.is_null() && minor < 3 => absent_inlay_queue_get_handle,
                p if p.is_null() => return Err("inlay_queue_get_handle"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_run: match find(c"inlay_run") {
                p if p.is_null() && minor < 3 => absent_inlay_run,
                p if p.is_null() => return Err("inlay_run"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_engine_set_thread: match find(c"inlay_engine_set_thread") {
                p if p.is_null() && minor < 3 => absent_inlay_engine_set_thread,
                p if p.is_null() => return Err("inlay_engine_set_thread"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_constraint_create: match find(c"inlay_constraint_create") {
                p if p.is_null() && minor < 3 => absent_inlay_constraint_create,
                p if p.is_null() => return Err("inlay_constraint_create"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_constraint_free: match find(c"inlay_constraint_free") {
                p if p.is_null() && minor < 3 => absent_inlay_constraint_free,
                p if p.is_null() => return Err("inlay_constraint_free"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_constraint_get_info: match find(c"inlay_constraint_get_info") {
                p if p.is_null() && minor < 3 => absent_inlay_constraint_get_info,
                p if p.is_null() => return Err("inlay_constraint_get_info"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_constraint_get_remark: match find(c"inlay_constraint_get_remark") {
                p if p.is_null() && minor < 3 => absent_inlay_constraint_get_remark,
                p if p.is_null() => return Err("inlay_constraint_get_remark"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_set_constraint: match find(c"inlay_session_set_constraint") {
                p if p.is_null() && minor < 3 => absent_inlay_session_set_constraint,
                p if p.is_null() => return Err("inlay_session_set_constraint"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_get_forced_text: match find(c"inlay_session_get_forced_text") {
                p if p.is_null() && minor < 3 => absent_inlay_session_get_forced_text,
                p if p.is_null() => return Err("inlay_session_get_forced_text"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_save: match find(c"inlay_session_save") {
                p if p.is_null() && minor < 3 => absent_inlay_session_save,
                p if p.is_null() => return Err("inlay_session_save"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_save_to: match find(c"inlay_session_save_to") {
                p if p.is_null() && minor < 3 => absent_inlay_session_save_to,
                p if p.is_null() => return Err("inlay_session_save_to"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_restore: match find(c"inlay_session_restore") {
                p if p.is_null() && minor < 3 => absent_inlay_session_restore,
                p if p.is_null() => return Err("inlay_session_restore"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_session_restore_from: match find(c"inlay_session_restore_from") {
                p if p.is_null() && minor < 3 => absent_inlay_session_restore_from,
                p if p.is_null() => return Err("inlay_session_restore_from"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_get_format: match find(c"inlay_chat_get_format") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_get_format,
                p if p.is_null() => return Err("inlay_chat_get_format"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_parser_create: match find(c"inlay_chat_parser_create") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_parser_create,
                p if p.is_null() => return Err("inlay_chat_parser_create"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_parser_free: match find(c"inlay_chat_parser_free") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_parser_free,
                p if p.is_null() => return Err("inlay_chat_parser_free"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_parser_append: match find(c"inlay_chat_parser_append") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_parser_append,
                p if p.is_null() => return Err("inlay_chat_parser_append"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_parser_append_text: match find(c"inlay_chat_parser_append_text") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_parser_append_text,
                p if p.is_null() => return Err("inlay_chat_parser_append_text"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_parser_finish: match find(c"inlay_chat_parser_finish") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_parser_finish,
                p if p.is_null() => return Err("inlay_chat_parser_finish"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_parser_take: match find(c"inlay_chat_parser_take") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_parser_take,
                p if p.is_null() => return Err("inlay_chat_parser_take"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_parser_get_info: match find(c"inlay_chat_parser_get_info") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_parser_get_info,
                p if p.is_null() => return Err("inlay_chat_parser_get_info"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
            inlay_chat_parser_get_message: match find(c"inlay_chat_parser_get_message") {
                p if p.is_null() && minor < 3 => absent_inlay_chat_parser_get_message,
                p if p.is_null() => return Err("inlay_chat_parser_get_message"),
                // SAFETY: the caller promises what lies there.
                p => unsafe { function_at(p) },
            },
        })
    }
}

unsafe extern "C" fn absent_inlay_profile_step(_: *const inlay_engine, _: *const inlay_profile_params, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_profile_step, which is since ABI 1.1") }
}

unsafe extern "C" fn absent_inlay_profile_text(_: *const inlay_engine, _: inlay_profile_form, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_profile_text, which is since ABI 1.1") }
}

unsafe extern "C" fn absent_inlay_compare_text(_: *const inlay_engine, _: *const inlay_engine, _: *const i32, _: usize, _: f64, _: *mut i32, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_compare_text, which is since ABI 1.1") }
}

unsafe extern "C" fn absent_inlay_convert(_: *const c_char, _: usize, _: *const c_char, _: usize, _: *const inlay_convert_params, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_convert, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_chat_render(_: *const inlay_engine, _: *const c_char, _: usize, _: *const inlay_chat_params, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_render, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_embed(_: *const inlay_engine, _: *const inlay_embed_input, _: usize, _: usize, _: *const inlay_embed_params, _: *mut f32, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_embed, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_score(_: *const inlay_engine, _: *const inlay_engine, _: *const i32, _: usize, _: *const i32, _: usize, _: *const inlay_score_params, _: *mut inlay_token_score, _: usize, _: *mut inlay_token_logprob, _: usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_score, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_explain(_: *const c_char, _: usize, _: *const inlay_load_params, _: inlay_explain_form, _: *mut i32, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_explain, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_session_view_logits(_: *mut inlay_session, _: *mut inlay_logits, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_view_logits, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_decode_slice(_: *const *mut inlay_session, _: usize, _: i32, _: *mut inlay_event, _: usize, _: *mut i32, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_decode_slice, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_decode_abandon(_: *const *mut inlay_session, _: usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_decode_abandon, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_session_set_stop_tokens(_: *mut inlay_session, _: *const i32, _: usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_set_stop_tokens, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_session_cancel_generation(_: *const inlay_session, _: u64, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_cancel_generation, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_session_set_max_tokens(_: *mut inlay_session, _: i32, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_set_max_tokens, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_chat_tokenize(_: *const inlay_engine, _: *const c_char, _: usize, _: *const inlay_chat_params, _: *mut i32, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_tokenize, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_session_shift(_: *mut inlay_session, _: usize, _: usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_shift, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_session_accept(_: *mut inlay_session, _: *const i32, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_accept, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_session_get_tokens(_: *mut inlay_session, _: usize, _: *mut i32, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_get_tokens, which is since ABI 1.2") }
}

unsafe extern "C" fn absent_inlay_queue_create(_: *const inlay_engine, _: *const inlay_queue_params, _: *mut *mut inlay_queue, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_queue_create, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_queue_free(_: *mut inlay_queue) {}

unsafe extern "C" fn absent_inlay_submit(_: *const inlay_queue, _: *const inlay_request, _: *mut u64, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_submit, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_request_cancel(_: *const inlay_queue, _: u64, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_request_cancel, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_request_take_values(_: *const inlay_queue, _: u64, _: *mut f32, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_request_take_values, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_poll(_: *const inlay_queue, _: *mut inlay_request_event, _: usize, _: usize, _: *mut inlay_token_logprob, _: usize, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_poll, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_wait(_: *const inlay_queue, _: i64, _: *mut inlay_wait_result, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_wait, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_queue_wake(_: *const inlay_queue, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_queue_wake, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_queue_get_handle(_: *const inlay_queue, _: *mut inlay_wait_kind, _: *mut i64, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_queue_get_handle, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_run(_: *const inlay_engine, _: *const inlay_run_params, _: *mut inlay_run_info, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_run, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_engine_set_thread(_: *const inlay_engine, _: *const inlay_thread_params, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_engine_set_thread, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_constraint_create(_: *const inlay_engine, _: *const inlay_constraint_params, _: *mut *mut inlay_constraint, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_constraint_create, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_constraint_free(_: *mut inlay_constraint) {}

unsafe extern "C" fn absent_inlay_constraint_get_info(_: *const inlay_constraint, _: *mut inlay_constraint_info, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_constraint_get_info, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_constraint_get_remark(_: *const inlay_constraint, _: usize, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_constraint_get_remark, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_session_set_constraint(_: *mut inlay_session, _: *const inlay_constraint, _: *const c_char, _: usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_set_constraint, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_session_get_forced_text(_: *mut inlay_session, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_get_forced_text, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_session_save(_: *mut inlay_session, _: *mut c_void, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_save, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_session_save_to(_: *mut inlay_session, _: *const inlay_state_writer, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_save_to, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_session_restore(_: *const inlay_engine, _: *const c_void, _: usize, _: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_restore, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_session_restore_from(_: *const inlay_engine, _: *const inlay_state_reader, _: *mut *mut inlay_session, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_session_restore_from, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_chat_get_format(_: *const inlay_engine, _: *const inlay_chat_parser_params, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_get_format, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_chat_parser_create(_: *const inlay_engine, _: *const inlay_chat_parser_params, _: *mut *mut inlay_chat_parser, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_parser_create, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_chat_parser_free(_: *mut inlay_chat_parser) {}

unsafe extern "C" fn absent_inlay_chat_parser_append(_: *mut inlay_chat_parser, _: *const i32, _: usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_parser_append, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_chat_parser_append_text(_: *mut inlay_chat_parser, _: *const c_char, _: usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_parser_append_text, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_chat_parser_finish(_: *mut inlay_chat_parser, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_parser_finish, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_chat_parser_take(_: *mut inlay_chat_parser, _: *mut inlay_chat_delta, _: usize, _: usize, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_parser_take, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_chat_parser_get_info(_: *mut inlay_chat_parser, _: *mut inlay_chat_parser_info, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_parser_get_info, which is since ABI 1.3") }
}

unsafe extern "C" fn absent_inlay_chat_parser_get_message(_: *mut inlay_chat_parser, _: *mut c_char, _: usize, _: *mut usize, err: *mut inlay_error) -> inlay_status {
    // SAFETY: the caller's promise about `err` is the same.
    unsafe { absent(err, "the loaded library has no inlay_chat_parser_get_message, which is since ABI 1.3") }
}

/// Makes a pointer to a function of its address.
///
/// # Safety
/// `F` must be the type of a pointer to the function that lies there.
unsafe fn function_at<F: Copy>(address: *mut c_void) -> F {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the sizes are the same; the caller promises the rest.
    unsafe { core::mem::transmute_copy(&address) }
}

/// Stands in for a function that an older library does not have.
///
/// # Safety
/// `err` is null or may be written.
unsafe fn absent(err: *mut inlay_error, message: &str) -> inlay_status {
    if !err.is_null() {
        let mut out = inlay_error { status: INLAY_UNSUPPORTED, message_len: message.len() as u32, ..Default::default() };
        for (to, from) in out.message.iter_mut().zip(message.bytes()) {
            *to = from as c_char;
        }
        // SAFETY: not null, and the caller promises the rest.
        unsafe { err.write(out) };
    }
    INLAY_UNSUPPORTED
}
