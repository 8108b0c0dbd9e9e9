// Inlay: run a language model inside your program.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
//
// The simple case takes four calls and a session: inlay_load, inlay_prefill, inlay_decode_step, inlay_free.
//
// Holds for every function:
// - Calls that can fail return an inlay_status and describe the failure in `err`, which may be NULL. Any of them may return
//   INLAY_INVALID_ARGUMENT, INLAY_OUT_OF_MEMORY or INLAY_INTERNAL besides the errors that it names.
// - Thread: `any` may be called from any thread at any time; exclusive(x) while no other call uses x, apart from those of class
//   `any`. A second call on a session returns INLAY_BUSY and changes nothing; in a step of several sessions the event of that one
//   says so. Freeing waits for no call: one that is under way goes on to its end, but for
//   long texts: where the engine is freed while they become tokens, the call ends with INLAY_CANCELLED. No state belongs to a thread.
// - fork(): in the child, calls on handles that the parent made return INLAY_INVALID_STATE, and freeing them does nothing. It may
//   load its own, on the CPU, and call everything on that, whatever the parent's other threads were in at the fork. No child of a
//   process that used CUDA can. In a child of vfork() nothing may be called.
// - The process may end (exit, a return from main) while other threads are in calls: what they use stays until the process is gone.
// - Signal handlers may call inlay_session_cancel, and nothing else.
// - Structs: zero everything, then set struct_size. Zero is the default of every field. A shorter struct of an older header is
//   fine; of a newer one the fields that the library does not know must be zero in, and come back as zero.
// - Strings in: UTF-8 with a length, SIZE_MAX if a zero ends it. Strings out: the caller's buffer; a NULL buffer of size 0 asks for
//   the needed size. Lengths never count the zero.
// - Only handles have to be freed, in any order. What a call is given is not used after it returned, unless it says so.
// - Later minors may return numbers that this header does not have. An unknown status is a failure, an unknown finish reason an
//   end; an event or a part of a message of an unknown kind is to be skipped, an unknown state says nothing, a handle of an unknown
//   kind cannot be waited for. Unknown bits of flags and unknown members of JSON that the library writes are to be ignored.
// - Times in microseconds of params and requests are at most 2^60, 36,000 years; 0 is none.
// - Only calls marked so take device memory. Others may give some back and take it again, within the budget that was set at load.
// - Results do not depend on the thread's floating-point settings (rounding, denormals, traps). A call gives them back as they
//   were, with their sticky flags; callbacks run with them.
// - A thread inside of a call must not be cancelled (pthread_cancel), and no callback may end its thread or jump out: pthread_exit
//   or a cancellation inside of a callback ends the process; after longjmp the handle and the settings are undefined.
// - A call takes at most 96 KiB of its thread's stack; inlay_prefill, inlay_decode_step and inlay_decode_slice take 48. What
//   callbacks and a GPU's driver take comes on top.
// - Threads of the library are named inlay-..., have a stack of 1 MiB, take no signal that is meant for the host, and start with the
//   scheduling class and priority, the niceness and the affinity of the thread that made the call: for those that compute, the load.
//   They wait a moment for work without sleeping; under a real-time class they may keep lower threads from the processor meanwhile.
// - Files: a model's folder is opened once, and all of its files found in that one, wherever its path leads meanwhile. A file that is
//   written to while it is read is an INLAY_IO; it is told by its size and its time of last write, as finely as the file system has
//   them. A file that is written appears in its place when it is whole, with the time of its writing.

#ifndef INLAY_H
#define INLAY_H

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error "Inlay supports 64-bit targets only"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define INLAY_ABI_MAJOR 1
#define INLAY_ABI_MINOR 3

// Most alternatives that one event can report.
#define INLAY_MAX_LOGPROBS 20
// Bytes of text that one event can carry; the rest is had with inlay_session_take_text.
#define INLAY_EVENT_TEXT_BYTES 128
// Size of the message in inlay_error, with its terminating zero.
#define INLAY_ERROR_MESSAGE_BYTES 480
// Size of the texts in inlay_device_info, with their terminating zero.
#define INLAY_DEVICE_NAME_BYTES 128
// Bytes of a token's piece that inlay_token_info can carry.
#define INLAY_TOKEN_PIECE_BYTES 128

// What a call came to.
typedef int32_t inlay_status;
#define INLAY_OK 0  // It worked.
#define INLAY_INVALID_ARGUMENT 1  // An argument is NULL, out of its range, or contradicts another.
#define INLAY_NOT_FOUND 2  // No such file, key, index or message.
#define INLAY_IO 3  // Reading failed; native_code is the system's error number.
#define INLAY_FORMAT 4  // The model's bytes are damaged or contradict themselves.
#define INLAY_UNSUPPORTED 5  // Well formed, but this build or this model cannot do it.
#define INLAY_OUT_OF_MEMORY 6  // Host memory ran out.
#define INLAY_DEVICE_OUT_OF_MEMORY 7  // Device memory, or the budget set for it, is too small.
// The tokens do not fit into the context; the session is unchanged. A generation that reaches the context's end is no
// error: its finish reason is CONTEXT_FULL.
#define INLAY_CONTEXT_FULL 8
// The pool that all sessions share has no free block; the session is unchanged. Where some layers have a sliding
// window, the message says whose pool.
#define INLAY_KV_FULL 9
#define INLAY_BUFFER_TOO_SMALL 10  // The caller's buffer is too small; the needed size was reported.
#define INLAY_CANCELLED 11  // A cancel request or a callback stopped the call.
#define INLAY_BUSY 12  // Another thread is using the object now.
#define INLAY_NO_DEVICE 13  // The machine or this build has no such device.
#define INLAY_DEVICE_LOST 14  // The device failed; the engine can only be freed.
#define INLAY_INTERNAL 15  // A fault in the library; the handle can only be freed.
#define INLAY_SESSION_LIMIT 16  // The engine already has max_sessions sessions.
#define INLAY_INVALID_STATE 17  // The object cannot do this now, as when a session has finished.
#define INLAY_QUEUE_FULL 18  // The queue holds as many requests as it was made for; poll, then try again.

// Where a model runs.
typedef int32_t inlay_device_kind;
#define INLAY_DEVICE_AUTO 0  // The fastest device that there is and that the model fits on.
#define INLAY_DEVICE_CPU 1  // The processor, with the widest instructions that it has.
#define INLAY_DEVICE_CUDA 2  // An NVIDIA GPU.
#define INLAY_DEVICE_REFERENCE 3  // The scalar FP32 interpreter on the processor: slow, for checking results.

// Type of the stored keys and values.
typedef int32_t inlay_kv_dtype;
#define INLAY_KV_DEFAULT 0  // The device's own: F32 on REFERENCE, else F16.
#define INLAY_KV_F16 1  // 2 bytes a value; not on REFERENCE.
#define INLAY_KV_F32 2  // 4 bytes a value; on REFERENCE only.
#define INLAY_KV_FP8 3  // 1 byte a value (E4M3), and 4 bytes for every token and head; on CUDA only.
#define INLAY_KV_INT8 4  // As FP8, with integers: finer for most values, coarser for small ones beside a large one.

// How important a log message is.
typedef int32_t inlay_log_level;
#define INLAY_LOG_OFF (-1)  // As a limit: nothing.
#define INLAY_LOG_DEFAULT 0  // As a limit: INFO.
#define INLAY_LOG_ERROR 1  // Something failed.
#define INLAY_LOG_WARNING 2  // It works, but probably not as meant.
#define INLAY_LOG_INFO 3  // What was found and chosen.
#define INLAY_LOG_DEBUG 4  // Details for those who look for a fault.

// Why a session stopped generating.
typedef int32_t inlay_finish_reason;
#define INLAY_FINISH_NONE 0  // It has not.
#define INLAY_FINISH_END_OF_GENERATION 1  // The model drew one of its end tokens.
// The text reached a stop string; neither it nor anything behind it is part of the text.
#define INLAY_FINISH_STOP_STRING 2
#define INLAY_FINISH_MAX_TOKENS 3  // max_tokens tokens were drawn, accepted ones included.
// inlay_session_cancel or inlay_request_cancel asked for it, or the engine or the session that it continues was freed.
#define INLAY_FINISH_CANCELLED 4
// A stop token was drawn; it is the event's token and in the sequence, but not in the text.
#define INLAY_FINISH_STOP_TOKEN 5
// The context has no room for another token. The event's token is the last one; -1 where a prompt has filled the
// context.
#define INLAY_FINISH_CONTEXT_FULL 6
#define INLAY_FINISH_TIMEOUT 7  // The request's time was over. Requests alone end so.
#define INLAY_FINISH_ERROR 8  // The request failed: the event's status says how. Requests alone end so.
// The text is whole under its constraint, which allows nothing more, and the model has no token that ends a text.
#define INLAY_FINISH_CONSTRAINT_END 9
// No token that the constraint allows could follow: a bias bans them all, or tokens were accepted that it does not
// allow.
#define INLAY_FINISH_DEAD_END 10
#define INLAY_FINISH_PREFILLED 11  // The prompt of a request of kind PREFILL is computed. Requests alone end so.
// The vector of a request of kind EMBED is there: inlay_request_take_values gives it. Requests alone end so.
#define INLAY_FINISH_EMBEDDED 12

// What happened to a session in one step.
typedef int32_t inlay_event_kind;
#define INLAY_EVENT_NONE 0  // Nothing: the session did not advance, status says why.
#define INLAY_EVENT_TOKEN 1  // A token was drawn and appended; finish_reason tells if it was the last one.
#define INLAY_EVENT_FINISHED 2  // The session finished without a new token.

// What a vocabulary entry is.
typedef int32_t inlay_token_kind;
#define INLAY_TOKEN_NORMAL 0  // Text.
#define INLAY_TOKEN_UNKNOWN 1  // Stands for what the vocabulary cannot spell.
#define INLAY_TOKEN_CONTROL 2  // Structure, such as the beginning of a turn; not text.
#define INLAY_TOKEN_USER_DEFINED 3  // Text that is never split.
#define INLAY_TOKEN_UNUSED 4  // No meaning.
#define INLAY_TOKEN_BYTE 5  // One byte of a character that has no token of its own.

// Properties of a loaded model.
typedef uint32_t inlay_engine_flags;
#define INLAY_ENGINE_HAS_TOKENIZER 1u  // Text functions work; without it only token ids do.
#define INLAY_ENGINE_ADDS_BOS 2u  // inlay_tokenize begins with the BOS token unless told otherwise.

// How text becomes tokens.
typedef uint32_t inlay_tokenize_flags;
// Leave out the BOS and EOS tokens that the model asks for; changes nothing where it asks for none.
#define INLAY_TOKENIZE_NO_BOS_EOS 1u
#define INLAY_TOKENIZE_PARSE_SPECIAL 2u  // Control tokens written in the text become their ids. Not for untrusted text.

// How tokens become text.
typedef uint32_t inlay_detokenize_flags;
#define INLAY_DETOKENIZE_SHOW_SPECIAL 1u  // Control tokens give their text instead of nothing.

// Properties of a token.
typedef uint32_t inlay_token_flags;
#define INLAY_TOKEN_FLAG_END_OF_GENERATION 1u  // Drawing it ends the generation.
#define INLAY_TOKEN_FLAG_CONTROL 2u  // It is not text.

// How a session generates.
typedef uint32_t inlay_session_flags;
// End tokens are drawn like others and do not finish the session. Changes nothing for a model without end tokens.
#define INLAY_SESSION_IGNORE_END_OF_GENERATION 1u
// Each prefill also takes the KV blocks for max_tokens, or up to the context without a limit, or ends with KV_FULL: the
// generation after it does not. They go back when it ends. Blocks that forks share are not reserved for both.
#define INLAY_SESSION_RESERVE 2u
// The session is what requests continue (inlay_request.continues): it keeps tokens and sampler from one to the next. It
// has no place among max_sessions, and its KV blocks stay until their room is wanted; then they are computed again.
// Prefill, decode steps and shift are refused with INVALID_STATE, and it has no logits. Calls are BUSY while a request
// has it; freeing it ends these requests with CANCELLED. RESERVE changes nothing for it.
#define INLAY_SESSION_FOR_REQUESTS 4u

// How a profile is written.
typedef int32_t inlay_profile_form;
#define INLAY_PROFILE_KINDS 0  // The latest, one line a kind of operation, with the sums.
#define INLAY_PROFILE_TIMELINE 1  // The latest, one line an operation.
#define INLAY_PROFILE_TRACE 2  // All that the engine keeps, as JSON in Chrome's trace-event format.

// How a model runs.
typedef uint32_t inlay_load_flags;
// CUDA, without effect elsewhere, as the load's log says: prompts are multiplied by the library's own kernels, even
// where the machine has cuBLASLt.
#define INLAY_LOAD_NO_CUBLAS 1u
// CUDA, likewise: a decode step begins the next one of the same sessions before it returns, so that the device need not
// wait for the host. If anything else comes than that step, it waits until the device is done with it. Not of sessions
// with penalties or biases, nor of models with sliding windows. Takes memory for one more row of logits a session.
#define INLAY_LOAD_RUN_AHEAD 4u
// CPU, without effect elsewhere, as the load's log says: memory for the activations of long prompts is taken from the
// system when it is first used, not beside the reading of weights. The process stays smaller until there are long
// prompts; the first prompts take longer.
#define INLAY_LOAD_TAKE_PAGES_LATER 8u
// CPU, likewise: matrix products with quantized weights take all activations in 16 bits, not only the third of them
// that holds most of the error. Logits then are those of the dequantized weights but for a KL divergence of about 1e-6;
// prompts take longer.
#define INLAY_LOAD_EXACT_ACTIVATIONS 16u
// Requests compute all of their prompts. Without it, blocks of the KV pool stay after the requests that computed them
// until their room is wanted, and requests that begin with the same tokens, at present 8 at least, find them and do not
// compute these. Only blocks that are full stay (inlay_stats.n_block_tokens). On CUDA the rest of a prompt may then
// differ in its last bits. Changes nothing for models all of whose layers have a sliding window, of which no blocks are
// kept.
#define INLAY_LOAD_NO_PREFIX_CACHE 32u

// Type in which weights are held.
typedef int32_t inlay_weight_dtype;
#define INLAY_WEIGHT_DEFAULT 0  // The file's types.
// Matrices of F32, F16 and BF16 are quantized while they are loaded: E4M3 codes and an F16 scale for every 32 columns,
// 8.5 bits a weight. All else stays as it is: quantized matrices, norms, biases, rows that are no multiple of 32 long,
// and an embedding that is not also the output matrix.
#define INLAY_WEIGHT_FP8 1
// Matrices get the types that inlay_convert gives them, while they are loaded; those that take as few bits a weight
// already stay as they are.
#define INLAY_WEIGHT_Q8_0 2
#define INLAY_WEIGHT_Q4_0 3  // Likewise.
#define INLAY_WEIGHT_Q4_K_M 4  // Likewise.
#define INLAY_WEIGHT_Q5_K_M 5  // Likewise.
#define INLAY_WEIGHT_Q6_K 6  // Likewise.

// What a sampler does otherwise.
typedef uint32_t inlay_sampler_flags;
// Repetitions that DRY looks for reach across any text. Refused together with dry_breakers; changes nothing without
// dry_multiplier.
#define INLAY_SAMPLER_NO_DRY_BREAKERS 1u
// The temperature comes behind the filters, which see the probabilities that the model gave: as llama.cpp orders them.
// Changes nothing with mirostat_tau, and without a filter.
#define INLAY_SAMPLER_TEMPERATURE_LAST 2u
// Penalties leave the tokens alone that end a generation. Changes nothing without penalties.
#define INLAY_SAMPLER_SPARE_END_TOKENS 4u

// Types of the matrices of a GGUF file that is written, with the numbers of inlay_weight_dtype; FP8's is refused,
// because no GGUF file has it. Norms and biases are F32 in all. Rows that are no whole blocks of a type get one with
// smaller blocks.
typedef int32_t inlay_convert_type;
#define INLAY_CONVERT_DEFAULT 0  // F16.
#define INLAY_CONVERT_Q8_0 2  // 8.5 bits a weight.
#define INLAY_CONVERT_Q4_0 3  // 4.5 bits a weight; the output matrix in Q6_K.
// Q4_K, and Q6_K for the output matrix and for the values and down projections of half of the layers.
#define INLAY_CONVERT_Q4_K_M 4
#define INLAY_CONVERT_Q5_K_M 5  // Q5_K, and Q6_K as in Q4_K_M.
#define INLAY_CONVERT_Q6_K 6  // 6.6 bits a weight.
#define INLAY_CONVERT_F16 7  // Every matrix in F16.
#define INLAY_CONVERT_BF16 8  // Every matrix in BF16.
#define INLAY_CONVERT_F32 9  // Every matrix in F32.

// How an explanation is written.
typedef int32_t inlay_explain_form;
#define INLAY_EXPLAIN_TEXT 0  // For people.
// The same facts as one object with the members path, error, model, tokenizer, chat_template, tensors, devices and
// contexts. An error is null or a message. Numbers have the names that they have in inlay_engine_info and
// inlay_memory_info. Later minors may add members.
#define INLAY_EXPLAIN_JSON 1

// How a conversation becomes text.
typedef uint32_t inlay_chat_flags;
// The text ends where the model's answer begins: the template's variable add_generation_prompt is true. It changes
// nothing for a template that does not read the variable, or where the conversation sets it itself.
#define INLAY_CHAT_ADD_GENERATION_PROMPT 1u
// The text ends where the last message's text does, whatever the template writes behind it, so that the model goes on
// with that message: an answer that was begun for it, or one that was cut off. Blanks at its end stay unless the
// template trims them. Not together with ADD_GENERATION_PROMPT; UNSUPPORTED if the template does not write the message
// as it is.
#define INLAY_CHAT_CONTINUE_FINAL_MESSAGE 2u

// How the final hidden states of a text's tokens become one vector.
typedef int32_t inlay_pooling;
// As the model's metadata say: one of the others, or what only models ask for (the largest value, the sum divided by
// the root of the length, a mean whose weights grow, several poolings one behind the other), with the layers that a
// sentence-transformers folder has behind its pooling (Dense, Normalize), which may change the width; a model that says
// nothing is refused. The others give the pooled states alone.
#define INLAY_POOLING_DEFAULT 0
#define INLAY_POOLING_MEAN 1  // The mean of all tokens.
#define INLAY_POOLING_LAST 2  // The last token, which has seen all others.
#define INLAY_POOLING_FIRST 3  // The first token (CLS), which in a decoder has seen itself alone.

// What an embedding is.
typedef uint32_t inlay_embed_flags;
#define INLAY_EMBED_NORMALIZE 1u  // Scaled to length 1, so that a scalar product of two is their cosine.
// Texts without the model's default prompt in front; nothing for a model without one. For programs that put another
// prompt there: the metadata inlay.embedding.prompt.NAME have all prompts of the model.
#define INLAY_EMBED_NO_PROMPT 2u

// What is to become of a request's prompt. Later minors have more.
typedef int32_t inlay_request_kind;
#define INLAY_REQUEST_GENERATE 0  // Tokens are drawn behind it.
// It is computed but for its last token, and nothing is drawn: the request ends with PREFILLED. A request that begins
// with the same tokens then begins sooner, as far as they fill whole blocks; one that continues the same session finds
// all of them.
#define INLAY_REQUEST_PREFILL 1
// It becomes a vector, the same as inlay_embed makes: the request ends with EMBEDDED, and inlay_request_take_values
// gives the vector. Of tokens or text; a text becomes tokens as by inlay_embed. With a conversation, chat,
// session_params or continues it is refused.
#define INLAY_REQUEST_EMBED 2

// What became of a request. A kind that a program does not know is to be passed over.
typedef int32_t inlay_request_event_kind;
#define INLAY_REQUEST_EVENT_TOKENS 1  // Tokens, text or both; neither where the call of inlay_poll wants none.
#define INLAY_REQUEST_EVENT_END 2  // The last event of the request: each has exactly one.

// What a handle to wait for is to the system.
typedef int32_t inlay_wait_kind;
// A file descriptor of eventfd, for poll, epoll and io_uring: readable while there is something to poll.
#define INLAY_WAIT_EVENTFD 1
#define INLAY_WAIT_WINDOWS_EVENT 2  // A HANDLE for WaitForMultipleObjects: signalled while there is something to poll.

// How a wait for a queue ended.
typedef int32_t inlay_wait_result;
#define INLAY_WAIT_RESULT_TIME_OVER 0  // There is nothing to poll, and the time is over.
#define INLAY_WAIT_RESULT_READY 1  // There is something to poll.
#define INLAY_WAIT_RESULT_WOKEN 2  // inlay_queue_wake has ended it.
// Nobody would end it any more: the device was lost, or the engine's thread has ended and inlay_run was never called.
// The next call says which.
#define INLAY_WAIT_RESULT_NOBODY_COMPUTES 3

// How inlay_run computes.
typedef uint32_t inlay_run_flags;
#define INLAY_RUN_ONE_STEP 1u  // One step at most: each request that draws gets one token.
// The call does not wait for a GPU: it collects what the GPU has computed since the last one and queues the next part,
// one step at most; budget_us is then the GPU's time, host_budget_us the thread's. Calls of sessions wait for what is
// queued. The CPU computes as without the flag.
#define INLAY_RUN_NO_WAIT 2u

// What inlay_run has left.
typedef uint32_t inlay_run_info_flags;
#define INLAY_RUN_INFO_HAS_WORK 1u  // Another call may compute more; without it none would.

// How a constraint says which texts may be written.
typedef int32_t inlay_constraint_kind;
// JSON by a schema: Draft 2020-12, and what draft-04 to draft-07 spell otherwise. A keyword that is not supported is
// refused by its name and place.
#define INLAY_CONSTRAINT_JSON_SCHEMA 0
#define INLAY_CONSTRAINT_ANY_JSON 1  // Any JSON value.
#define INLAY_CONSTRAINT_GBNF 2  // A grammar as llama.cpp writes them; its rule is root.
// A regular expression that the whole text matches, as ECMA-262 has them, without look-around and references.
#define INLAY_CONSTRAINT_REGEX 3
#define INLAY_CONSTRAINT_CHOICES 4  // One of some texts.
// A message with calls of tools, as the model's format writes them, or content by a schema; reasoning before is free or
// limited. The text is JSON, whose keys are in docs/design/tool-constraints.md: {"tools", "tool_choice",
// "parallel_tool_calls", "response_format"}, as OpenAI's protocol has them, and {"reasoning": {"max_tokens": N}}, which
// closes reasoning behind N tokens.
#define INLAY_CONSTRAINT_MESSAGE 5

// How constraints write JSON; refused with GBNF, REGEX and CHOICES.
typedef uint32_t inlay_constraint_flags;
// No whitespace between values. Else none, one space, or a line end and up to 19 spaces or tabs. Use it unless a person
// reads the JSON: without it a model pads with blanks, and answers may get twice as long.
#define INLAY_CONSTRAINT_FLAG_COMPACT 1u
// Strings that are values may have any escape, such as \u00e9. Else short ones, where JSON needs them.
#define INLAY_CONSTRAINT_FLAG_ESCAPES 2u
// JSON_SCHEMA and MESSAGE: keywords that are not supported are dropped and remarked, not refused.
#define INLAY_CONSTRAINT_FLAG_LENIENT 4u

// Where a session's text stands under its constraint.
typedef int32_t inlay_constraint_state;
#define INLAY_CONSTRAINT_STATE_NONE 0  // There is no constraint.
#define INLAY_CONSTRAINT_STATE_INCOMPLETE 1  // Something must follow.
#define INLAY_CONSTRAINT_STATE_COMPLETE 2  // The text is whole; more may be allowed.
#define INLAY_CONSTRAINT_STATE_DEAD 3  // It is none that the constraint allows, and none could become of it.

// What a part of a message is.
typedef int32_t inlay_chat_delta_kind;
#define INLAY_CHAT_DELTA_REASONING 0  // Text that the model wrote for itself.
#define INLAY_CHAT_DELTA_CONTENT 1  // Text of the answer.
#define INLAY_CHAT_DELTA_CALL_BEGIN 2  // A call of a tool begins; the text is the tool's name.
// The call's id, directly behind CALL_BEGIN. Where the model wrote none before, it is made: at present 9 letters and
// digits.
#define INLAY_CHAT_DELTA_CALL_ID 3
// Of the call's arguments, which all parts together are: a JSON object, as far as the model keeps to its format.
#define INLAY_CHAT_DELTA_ARGUMENTS 4
#define INLAY_CHAT_DELTA_CALL_END 5  // The call ends. Calls do not overlap. The text is empty.

// What is to be known of a part of a message.
typedef uint32_t inlay_chat_delta_flags;
// With CALL_END: the arguments are one JSON value. Without it the call was cut, or went on as the format does not have
// it.
#define INLAY_CHAT_DELTA_FLAG_WHOLE 1u

// How a parser reads.
typedef uint32_t inlay_chat_parser_flags;
// Letters of markers count, also those that the vocabulary has as tokens: for text in which control tokens are written
// out. Without it such letters are text, so that a model can speak of them.
#define INLAY_CHAT_PARSER_WRITTEN_MARKERS 1u

// Where a parser is.
typedef uint32_t inlay_chat_parser_info_flags;
#define INLAY_CHAT_PARSER_INFO_FINISHED 1u  // inlay_chat_parser_finish was called.
// With FINISHED: neither reasoning nor a call is open. A message that was cut need not be.
#define INLAY_CHAT_PARSER_INFO_COMPLETE 2u
// Some text was not as the format says. It is content; a control character in a call's JSON is written as JSON has it.
#define INLAY_CHAT_PARSER_INFO_MALFORMED 4u

// One model's weights on one device, with the KV pool and the statistics of its sessions.
typedef struct inlay_engine inlay_engine;

// One token sequence of an engine, which it keeps alive.
typedef struct inlay_session inlay_session;

// Where a part of a program submits requests to an engine, and collects what becomes of them. It keeps no engine alive
// and may outlive it.
typedef struct inlay_queue inlay_queue;

// Which texts may be written, compiled for an engine's vocabulary. Any number of sessions and threads may use one at a
// time. It keeps no engine alive.
typedef struct inlay_constraint inlay_constraint;

// Takes a message apart while a model writes it: reasoning, content and calls of tools. It keeps no engine alive.
typedef struct inlay_chat_parser inlay_chat_parser;

// Receives one log message. Called on the thread of the call that caused it, and on a thread of the engine only where
// the host asked for such a thread, with the host's floating-point settings; must not call the library. It must not
// leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
typedef void (*inlay_log_fn)(void* user, inlay_log_level level, const char* text, size_t text_len);

// Told how far a load, a conversion, a scoring or an embedding is; while files are read or texts become tokens at least
// once a second, however slow the reader is. Return non-zero to cancel it. Called on the calling thread, with the
// host's floating-point settings; must not call the library. It must not leave by an exception, a panic, longjmp or
// pthread_exit; a C++ exception ends the process.
typedef int32_t (*inlay_progress_fn)(void* user, uint64_t n_done, uint64_t n_total);

// Fills `into` with the model's bytes [offset, offset + n), at most 4 MiB at a time. Returns 0, or a system error
// number. Called on the loading thread only, with the host's floating-point settings; must not call the library. It
// must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
typedef int32_t (*inlay_read_fn)(void* user, uint64_t offset, void* into, uint64_t n);

// Told that a queue has something to poll which had nothing before. Called on whatever thread brought that about, an
// engine's own among them, with the host's floating-point settings; must not call the library, and should do no more
// than wake somebody. It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the
// process.
typedef void (*inlay_wake_fn)(void* user);

// Takes the next bytes of a saved session, some MiB at most. Returns 0, or a system error number. Called on the saving
// thread, with the host's floating-point settings; must not call the library. It must not leave by an exception, a
// panic, longjmp or pthread_exit; a C++ exception ends the process.
typedef int32_t (*inlay_state_write_fn)(void* user, const void* state, uint64_t n);

// Fills `into` with the next n bytes of a saved session, some MiB at most. Returns 0, or a system error number; also
// where there are fewer. Called on the restoring thread, with the host's floating-point settings; must not call the
// library. It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
typedef int32_t (*inlay_state_read_fn)(void* user, void* into, uint64_t n);

// What went wrong. Owned by the caller, needs no initialisation; every call that takes it writes it, also on success.
typedef struct inlay_error {
  // The same as the call returned.
  inlay_status status;
  // The system's or the driver's error number, 0 if there is none.
  int32_t native_code;
  // What was needed, in the unit that the message names; 0 where that makes no sense.
  uint64_t required;
  // What there was, in the same unit.
  uint64_t available;
  // Length of the message without its terminating zero. [bytes]
  uint32_t message_len;
  // 0.
  uint32_t reserved;
  // What is wrong and where, in English; empty on success. Control characters in what it quotes are escapes, \x1b.
  char message[INLAY_ERROR_MESSAGE_BYTES];
} inlay_error;

// A UTF-8 text of the caller.
typedef struct inlay_text {
  // The bytes; may be NULL if len is 0.
  const char* data;
  // Their number, or SIZE_MAX if a zero ends them. [bytes]
  size_t len;
} inlay_text;

// A change of one token's logit.
typedef struct inlay_logit_bias {
  // Token id.
  int32_t token;
  // Added to the logit; minus infinity bans the token.
  float bias;
} inlay_logit_bias;

// A token and its probability under the model, before any sampling step.
typedef struct inlay_token_logprob {
  // Token id.
  int32_t token;
  // Natural logarithm of the probability. [nats]
  float logprob;
} inlay_token_logprob;

// A device that can run a model.
typedef struct inlay_device_info {
  // sizeof(inlay_device_info), set by the caller. [bytes]
  uint32_t struct_size;
  // CPU or CUDA.
  inlay_device_kind kind;
  // Its number among the devices of its kind: device_index of inlay_load_params.
  int32_t index;
  // Processors that this process may use, by affinity and CPU quota; multiprocessors of a GPU.
  int32_t n_units;
  // Its memory; of the processor what control groups and resource limits let this process use. [bytes]
  uint64_t total_bytes;
  // Memory free now. [bytes]
  uint64_t free_bytes;
  // Product name, ended by a zero.
  char name[INLAY_DEVICE_NAME_BYTES];
  // What the kernels will use of it, such as an instruction set; ended by a zero.
  char features[INLAY_DEVICE_NAME_BYTES];
} inlay_device_info;

// A model's bytes behind a callback: an archive, an asset pack, a decrypting reader.
typedef struct inlay_reader {
  // sizeof(inlay_reader). [bytes]
  uint32_t struct_size;
  // 0.
  uint32_t reserved;
  // Given to the callback.
  void* user;
  // Size of the model; must not be 0. [bytes]
  uint64_t size;
  // Reads a range; must not be NULL.
  inlay_read_fn read;
} inlay_reader;

// How a model is loaded. Zero means default for every field.
typedef struct inlay_load_params {
  // sizeof(inlay_load_params). [bytes]
  uint32_t struct_size;
  // Where the model runs. [default AUTO]
  inlay_device_kind device;
  // Which device of that kind. [0 or more, default 0]
  int32_t device_index;
  // Longest sequence of one session; at most what the model was trained for. [tokens, 0 or more, default what the model
  // was trained for, at most 4096]
  int32_t n_context;
  // Sessions that may exist at a time, and requests that run: together. Sessions made with FOR_REQUESTS do not count.
  // [0 to 1024, default 8]
  int32_t max_sessions;
  // Threads that compute, the calling one included; on CUDA they load the weights. REFERENCE computes on one, and the
  // log says so. [0 to 1024, default all processors that the calling thread may use: its affinity, and the CPU quota of
  // the process]
  int32_t n_threads;
  // Size of the KV pool that the sessions share; the log says where they cannot use all of it. Layers with a sliding
  // window take of it what the windows of all sessions need, at most. Less than one block is refused. [bytes, default
  // max_sessions x n_context, at most 2 GiB but one n_context at least]
  uint64_t kv_budget_bytes;
  // Type of the stored keys and values. [default F32 on REFERENCE, else F16]
  inlay_kv_dtype kv_dtype;
  // Tokens that prefill runs at a time; a cancel is seen between them. The longest text that can be embedded where
  // tokens see those behind them. More than n_context is as n_context, and the log says so. [tokens, 0 to 4096, default
  // 512, on a GPU with the memory for it 1024; 2048 where tokens see those behind them]
  int32_t prefill_chunk;
  // Least important messages to keep and to report. [default INFO]
  inlay_log_level log_level;
  // Of inlay_load_flags; others are refused. [default 0]
  uint32_t flags;
  // Called with every message, for as long as the engine lives. [default none]
  inlay_log_fn log;
  // Given to log; unused without it. [default NULL]
  void* log_user;
  // Called during the load only. [default none]
  inlay_progress_fn progress;
  // Given to progress; unused without it. [default NULL]
  void* progress_user;
  // Type in which the weights are held, on every device. [default the file's types]
  inlay_weight_dtype weight_dtype;
  // 0.
  uint32_t reserved;
  // How byte-level BPE of a GGUF file splits text into words: a name as in tokenizer.ggml.pre, instead of the file's.
  // Files from before that key have none, and get `default` with a warning. Copied. An unknown name is refused, and so
  // is any where the model has another tokenizer. [default NULL: the file's]
  const char* pre_tokenizer;
  // Its length. [bytes, default 0]
  size_t pre_tokenizer_len;
  // What changes speed alone, for those who measure: key=value pairs with blanks or commas between. Copied. Keys and
  // values may come and go in any version; an unknown one is refused, and the error lists the known ones. On CUDA
  // token_kernel=0 (decode steps launch every operation, even where one launch could run all layers), cublas=0 (as
  // NO_CUBLAS), mixed_gemm=0 (prompts multiply weights that were dequantized before) and group_rows=1 (matrix products
  // of 9 to 32 rows always share weights among several multiprocessors); on the CPU isa=generic, avx2 or avx512
  // (instructions that the processor lacks are refused). The load's log names those that change nothing on the device.
  // [default NULL: none]
  const char* tuning;
  // Its length. [bytes, default 0]
  size_t tuning_len;
  // Memory of the host for blocks that requests may find again, but whose room in the KV pool is wanted: they go there
  // by a copy that nobody waits for, and come back when a request begins with them. Whole blocks count; less than one
  // is refused, and so is any beside NO_PREFIX_CACHE. A thread of the engine takes all of the memory once the engine is
  // loaded, page-locked on a GPU; inlay_stats says how much is there. It changes nothing for models with sliding
  // windows or without text, and the log says so. [bytes, default 0: none]
  uint64_t prefix_cache_host_bytes;
} inlay_load_params;

// Memory that a load would take, and what its parameters come to.
typedef struct inlay_memory_info {
  // sizeof(inlay_memory_info), set by the caller. [bytes]
  uint32_t struct_size;
  // Where the model would run.
  inlay_device_kind device;
  // Longest sequence of one session. [tokens]
  int32_t n_context;
  // Sessions that may exist at a time.
  int32_t max_sessions;
  // Weights in the form that the device computes with. [bytes]
  uint64_t weight_bytes;
  // The KV pool. [bytes]
  uint64_t kv_bytes;
  // Activations, logits and buffers. [bytes]
  uint64_t scratch_bytes;
  // The sum. [bytes]
  uint64_t total_bytes;
  // Free memory of the device now. [bytes]
  uint64_t available_bytes;
  // What was asked for if it changes the type of any matrix, else DEFAULT.
  inlay_weight_dtype weight_dtype;
  // 0.
  uint32_t reserved;
  // Memory of the host for blocks whose room in the KV pool is wanted, at most; not in the sum. [bytes]
  uint64_t prefix_cache_host_bytes;
} inlay_memory_info;

// A loaded model's sizes.
typedef struct inlay_engine_info {
  // sizeof(inlay_engine_info), set by the caller. [bytes]
  uint32_t struct_size;
  // Where it runs; never AUTO.
  inlay_device_kind device;
  // Weights.
  uint64_t n_params;
  // Memory of the weights. [bytes]
  uint64_t weight_bytes;
  // Memory of the KV pool. [bytes]
  uint64_t kv_bytes;
  // Rows of logits: ids 0 to n_vocab - 1 can be drawn, and are taken wherever an id is given. One that is no token of
  // the tokenizer has kind UNUSED and no text. Tokens of the tokenizer from n_vocab on are ones that the model has no
  // row for: they are described and detokenized, and a text or a sequence with one is refused by its name.
  int32_t n_vocab;
  // Layers.
  int32_t n_layers;
  // Width of the residual stream.
  int32_t d_model;
  // Query heads a layer.
  int32_t n_heads;
  // Key and value heads a layer.
  int32_t n_kv_heads;
  // Width of a head.
  int32_t d_head;
  // Width of the feed-forward part.
  int32_t d_ff;
  // Context that the model was trained for. [tokens]
  int32_t n_context_train;
  // Longest sequence of one session. [tokens]
  int32_t n_context;
  // Sessions that may exist at a time.
  int32_t max_sessions;
  // Beginning-of-sequence token, -1 if there is none.
  int32_t bos;
  // End-of-sequence token, -1 if there is none.
  int32_t eos;
  // Threads that compute.
  int32_t n_threads;
  // What the model has.
  inlay_engine_flags flags;
  // What was asked for if it changed the type of any matrix, else DEFAULT.
  inlay_weight_dtype weight_dtype;
  // 0.
  uint32_t reserved;
} inlay_engine_info;

// One entry of the vocabulary.
typedef struct inlay_token_info {
  // sizeof(inlay_token_info), set by the caller. [bytes]
  uint32_t struct_size;
  // What it is.
  inlay_token_kind kind;
  // Properties.
  inlay_token_flags flags;
  // The vocabulary's score, 0 where it has none.
  float score;
  // Length of the whole piece, which may be more than fits here. [bytes]
  uint32_t piece_bytes;
  // 0.
  uint32_t reserved;
  // The bytes that the token stands for in the middle of a text; they need not be whole characters.
  uint8_t piece[INLAY_TOKEN_PIECE_BYTES];
} inlay_token_info;

// How a token is drawn. The steps run in this order: bias and DRY, penalties, top_n_sigma, temperature, top_k,
// typical_p, top_p, min_p, XTC, draw. All zero is greedy. Where temperature is 0 only bias, DRY, penalties and
// n_logprobs change anything. Where mirostat_tau is set top_k, typical_p, top_p, min_p and XTC change nothing.
// Mirostat's and adaptive-p's averages are the session's: a fork takes them along, a prefill and a truncation let them
// begin anew, another sampler goes on with them.
typedef struct inlay_sampler_params {
  // sizeof(inlay_sampler_params). [bytes]
  uint32_t struct_size;
  // Divides the logits. [0 or more, default 0: greedy, the likeliest token, the lower id at a tie]
  float temperature;
  // Keep the k likeliest tokens; all where the vocabulary has fewer. [0 or more, default 0: off]
  int32_t top_k;
  // Keep the likeliest tokens whose probabilities reach this sum. [0 to 1, default 0: off, as 1 is]
  float top_p;
  // Drop tokens less likely than this part of the likeliest one's probability. [0 to 1, default 0: off]
  float min_p;
  // Divides positive and multiplies negative logits of tokens in the window. [0 or more, default 0: off, as 1 is]
  float repetition_penalty;
  // Subtracted once for every time that the token is in the window. [any number, default 0: off]
  float frequency_penalty;
  // Subtracted if the token is in the window. [any number, default 0: off]
  float presence_penalty;
  // Last tokens of the sequence that the penalties look at; -1 for all. Changes nothing without penalties. [tokens, -1
  // or more, default 0: the last 64]
  int32_t penalty_window;
  // Likeliest tokens to report in events, at most INLAY_MAX_LOGPROBS; fewer where fewer have a probability. [0 to 20,
  // default 0: none]
  int32_t n_logprobs;
  // Same seed, stream, tokens and logits: same draw, whatever else is in the step. Logits may differ in their last bits
  // between devices and versions, and on a GPU between cuts of a prompt. [default 0: the seed 0]
  uint64_t seed;
  // Logit changes, each token once; copied. [default NULL: none]
  const inlay_logit_bias* bias;
  // Their number. [0 to 1024, default 0]
  size_t n_bias;
  // Locally typical sampling: keep the tokens whose surprise is nearest to the mean surprise and whose probabilities
  // reach this sum. [0 to 1, default 0: off, as 1 is]
  float typical_p;
  // Keep logits that are at most this many standard deviations below the largest. [0 or more, default 0: off]
  float top_n_sigma;
  // Dynamic temperature: up to this much below `temperature` where the model is sure of the next token, up to this much
  // above where it is not. [0 or more, default 0: off]
  float dynatemp_range;
  // Power of the entropy, from 0 to 1, that says where in that range the temperature is. Changes nothing without
  // dynatemp_range. [0 or more, default 0: 1]
  float dynatemp_exponent;
  // Exclude top choices: the chance with which, of the tokens that reach xtc_threshold, only the least likely stays. [0
  // to 1, default 0: off]
  float xtc_probability;
  // Probability that makes a token a top choice; above 0.5 there is no more than one, and nothing changes. Changes
  // nothing without xtc_probability. [0 to 1, default 0: 0.1]
  float xtc_threshold;
  // Mirostat 2: the mean surprise of the drawn tokens that is aimed at. It stands in the place of the filters from
  // top_k to XTC. Refused together with adaptive_target. [bits, 0 or more, default 0: off]
  float mirostat_tau;
  // How much of its error Mirostat corrects with each token. Changes nothing without mirostat_tau. [0 or more, default
  // 0: 0.1]
  float mirostat_eta;
  // Adaptive-p: tokens near a probability are preferred such that the mean of the drawn tokens' probabilities becomes
  // this one. To be used with a filter as min_p, because it prefers unlikely tokens, too. [0 to 1, default 0: off]
  float adaptive_target;
  // What that mean keeps of itself with each token. Changes nothing without adaptive_target. [0 to 0.99, default 0:
  // 0.9]
  float adaptive_decay;
  // DRY: a token that would go on with a repetition of the sequence's end loses dry_multiplier * dry_base ^ (length of
  // the repetition - dry_allowed_length) of its logit. [0 or more, default 0: off]
  float dry_multiplier;
  // Base of that power. Changes nothing without dry_multiplier. [1 or more, default 0: 1.75]
  float dry_base;
  // Shorter repetitions cost nothing. Changes nothing without dry_multiplier. [tokens, 0 or more, default 0: 2]
  int32_t dry_allowed_length;
  // Last tokens of the sequence in which repetitions are looked for. Changes nothing without dry_multiplier. [tokens,
  // -1 or more, default 0: all, as -1 is]
  int32_t dry_window;
  // Texts that no repetition reaches across and whose tokens DRY leaves alone, each of 1 to 128 bytes; copied. Changes
  // nothing without dry_multiplier. [default NULL: a line feed, a colon, a quotation mark, an asterisk]
  const inlay_text* dry_breakers;
  // Their number. [0 to 64, default 0]
  size_t n_dry_breakers;
  // Others than the named ones are refused. [default 0]
  inlay_sampler_flags flags;
  // 0. [default 0]
  uint32_t reserved;
} inlay_sampler_params;

// How a session generates. Zero means default for every field.
typedef struct inlay_session_params {
  // sizeof(inlay_session_params). [bytes]
  uint32_t struct_size;
  // Others than the named ones are refused. [default 0]
  inlay_session_flags flags;
  // How tokens are drawn; copied. [default NULL: greedy]
  const inlay_sampler_params* sampler;
  // Tells sessions with one seed apart: another stream, other random numbers. Changes nothing where temperature is 0.
  // [default 0]
  uint64_t stream;
  // Tokens to draw after each prefill before the session finishes. The context may be full before. [tokens, 0 or more,
  // default 0: no limit but the context]
  int32_t max_tokens;
  // 0. [default 0]
  uint32_t reserved;
  // Token ids that end the generation when drawn; copied. Ids outside of the vocabulary are refused; one that is named
  // twice counts once. End tokens may be among them: then the reason is STOP_TOKEN, also with IGNORE_END_OF_GENERATION.
  // [default NULL: none]
  const int32_t* stop_tokens;
  // Their number. [0 to 1024, default 0]
  size_t n_stop_tokens;
  // Texts that end the generation, as inlay_session_set_stop takes them; copied. [default NULL: none]
  const inlay_text* stops;
  // Their number. [0 to 64, default 0]
  size_t n_stops;
  // What each generation may write, from its first drawn token on. The session shares it: the handle may be freed. Of
  // the same engine; refused with IGNORE_END_OF_GENERATION, since the constraint says where a text ends. [default NULL:
  // anything may be written]
  const inlay_constraint* constraint;
} inlay_session_params;

// Where a session stands.
typedef struct inlay_session_info {
  // sizeof(inlay_session_info), set by the caller. [bytes]
  uint32_t struct_size;
  // NONE while it can go on.
  inlay_finish_reason finish_reason;
  // Length of the sequence, the last drawn token included. [tokens]
  int32_t n_tokens;
  // Longest that it can become. [tokens]
  int32_t n_context;
  // Tokens drawn or accepted since the last prefill or truncation. [tokens]
  int32_t n_generated;
  // Blocks of the KV pool that it uses, those shared with forks included. Layers with a sliding window have blocks of
  // their own, those of the window.
  int32_t n_kv_blocks;
  // Text that inlay_session_take_text would give. [bytes]
  uint64_t text_pending;
  // Number of the generation, for inlay_session_cancel_generation: how many have begun. A fork counts from where its
  // parent was.
  uint64_t generation;
  // Where the generation's text stands under the constraint.
  inlay_constraint_state constraint_state;
  // 0.
  int32_t reserved;
} inlay_session_info;

// What one session did in one decode step. Arrays of events come with a stride, sizeof(inlay_event) as the caller knows
// it.
typedef struct inlay_event {
  // OK, or why this session did not advance.
  inlay_status status;
  // What happened.
  inlay_event_kind kind;
  // Position of the session in the call's array.
  int32_t session_index;
  // The drawn token, -1 if there is none.
  int32_t token;
  // Not NONE: this was the session's last event until its next prefill.
  inlay_finish_reason finish_reason;
  // Natural logarithm of the token's probability under the model, before any sampling step. [nats]
  float logprob;
  // Entries of top.
  int32_t n_logprobs;
  // Length of text. [bytes]
  uint32_t text_bytes;
  // Text that did not fit and is to be had with inlay_session_take_text. [bytes]
  uint64_t text_pending;
  // The likeliest tokens, the likeliest first.
  inlay_token_logprob top[INLAY_MAX_LOGPROBS];
  // New text, whole characters, not ended by a zero. What may begin a stop string is held back until that is clear. A
  // character whose first bytes end the prompt comes whole with the token that completes it.
  char text[INLAY_EVENT_TEXT_BYTES];
  // Tokens that were drawn: 1 with TOKEN, else 0. More only where the session asked for it by a flag of a later minor:
  // then they are the last ones of the sequence, to be read with inlay_session_get_tokens, and token is the last of
  // them. [tokens]
  int32_t n_tokens;
  // 0.
  int32_t reserved;
} inlay_event;

// What an engine has done since it was loaded.
typedef struct inlay_stats {
  // sizeof(inlay_stats), set by the caller. [bytes]
  uint32_t struct_size;
  // Sessions that have a place among max_sessions: those made with FOR_REQUESTS have none.
  int32_t n_sessions;
  // Tokens that prefill ran. [tokens]
  uint64_t n_prefill_tokens;
  // Tokens that decode steps drew. [tokens]
  uint64_t n_decode_tokens;
  // Decode steps in which a session took part.
  uint64_t n_decode_steps;
  // Time that the load took. [seconds]
  double load_seconds;
  // Time in prefill. [seconds]
  double prefill_seconds;
  // Time in decode steps. [seconds]
  double decode_seconds;
  // Blocks of the KV pool, those of layers with a sliding window included.
  int32_t n_kv_blocks;
  // Blocks in use now; a block that forks share counts once.
  int32_t n_kv_blocks_used;
  // Most blocks that were ever in use at once.
  int32_t n_kv_blocks_peak;
  // Tokens of a block. [tokens]
  int32_t n_block_tokens;
  // Blocks that went to the host's memory when their room in the pool was wanted (prefix_cache_host_bytes).
  uint64_t n_kv_blocks_to_host;
  // Of these, blocks that came back for a request that begins with them.
  uint64_t n_kv_blocks_from_host;
  // Of these, blocks that were given up there for others.
  uint64_t n_kv_blocks_host_dropped;
  // Of the load's prefix_cache_host_bytes, what was taken of the host's memory so far. [bytes]
  uint64_t prefix_cache_host_bytes_taken;
  // Blocks that are there now; they are not among n_kv_blocks.
  int32_t n_kv_blocks_on_host;
  // 0.
  uint32_t reserved;
} inlay_stats;

// Which step is profiled. Zero means default for every field.
typedef struct inlay_profile_params {
  // sizeof(inlay_profile_params). [bytes]
  uint32_t struct_size;
  // Tokens of the step; at most prefill_chunk. [tokens, 0 or more, default 1: a decode step, which draws]
  int32_t n_tokens;
  // Tokens in the session before the step. [tokens, 0 or more, default 0]
  int32_t n_past;
  // How often it is run; times are medians. [0 to 10000, default 20]
  int32_t n_repetitions;
} inlay_profile_params;

// How a model is converted. Zero means default for every field.
typedef struct inlay_convert_params {
  // sizeof(inlay_convert_params). [bytes]
  uint32_t struct_size;
  // Type of the matrices. [default F16]
  inlay_convert_type type;
  // Threads that compute, the calling one included. [0 to 1024, default as of a load]
  int32_t n_threads;
  // 0.
  uint32_t reserved;
  // Called with the bytes of the source that are done, and all. [default none]
  inlay_progress_fn progress;
  // Given to progress; unused without it. [default NULL]
  void* progress_user;
  // Called with warnings: what of a folder's tokenizer other programs will not read in the file. [default none]
  inlay_log_fn log;
  // Given to log; unused without it. [default NULL]
  void* log_user;
} inlay_convert_params;

// How a conversation is written. Zero means default for every field.
typedef struct inlay_chat_params {
  // sizeof(inlay_chat_params). [bytes]
  uint32_t struct_size;
  // Others than the named ones are refused. [default 0: the conversation alone]
  inlay_chat_flags flags;
  // A template. Not used after the call. [default NULL: the model's own]
  const char* chat_template;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
  size_t template_len;
} inlay_chat_params;

// What embeddings are made of. Zero means default for every field.
typedef struct inlay_embed_params {
  // sizeof(inlay_embed_params). [bytes]
  uint32_t struct_size;
  // How tokens become one vector. [default DEFAULT]
  inlay_pooling pooling;
  // Others than the named ones are refused. [default 0]
  inlay_embed_flags flags;
  // 0.
  uint32_t reserved;
  // Called while texts become tokens, then after each step with the tokens that were run, and all that will be.
  // [default none]
  inlay_progress_fn progress;
  // Given to progress; unused without it. [default NULL]
  void* progress_user;
} inlay_embed_params;

// What one embedding is of: tokens or text, not both. Arrays come with a stride, sizeof(inlay_embed_input) as the
// caller knows it.
typedef struct inlay_embed_input {
  // Token ids, at least 1. [default NULL: text is given]
  const int32_t* tokens;
  // Their number. [tokens, default 0]
  size_t n_tokens;
  // A text, which becomes tokens as by inlay_tokenize without flags. Where the model comes from a sentence-transformers
  // folder, by itself or converted, that library's rules hold before: the default prompt stands in front, the text is
  // put in lower case if the folder says so, and tokens beyond max_seq_length are cut off at the end, or at the
  // beginning where truncation_side is left; BOS and EOS stay. None of this is done to tokens. [default NULL: tokens
  // are given]
  const char* text;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
  size_t text_len;
} inlay_embed_input;

// What is scored. Zero means default for every field.
typedef struct inlay_score_params {
  // sizeof(inlay_score_params). [bytes]
  uint32_t struct_size;
  // At the beginning of each text: context that gets no scores. [tokens, 0 or more, default 1]
  int32_t n_given;
  // Likeliest tokens to report beside each token, at most INLAY_MAX_LOGPROBS. [0 to 20, default 0: none]
  int32_t n_logprobs;
  // 0.
  uint32_t reserved;
  // Called after each step with the tokens that were run, and all that will be. [default none]
  inlay_progress_fn progress;
  // Given to progress; unused without it. [default NULL]
  void* progress_user;
} inlay_score_params;

// How likely a token of a text is, given those before it. Arrays come with a stride, sizeof(inlay_token_score) as the
// caller knows it.
typedef struct inlay_token_score {
  // Natural logarithm of the token's probability; NaN where the token has no score: it was given. [nats]
  float logprob;
  // Tokens that are likelier, or as likely with a lower id; 0: a greedy draw takes this one. -1 without a score.
  int32_t rank;
  // The same for the engine that is compared with; NaN without one. [nats]
  float against_logprob;
  // Likewise; -1 without one.
  int32_t against_rank;
  // Kullback-Leibler divergence of this engine's distribution from that of the other one, which counts as the exact
  // one: the sum over all tokens t of P(t) (ln P(t) - ln Q(t)), P of the other. NaN without one. [nats]
  float divergence;
  // 1: the likeliest token of both engines is the same; 0: it is not; -1 without another engine.
  int32_t same_best;
} inlay_token_score;

// Logits where they lie. They are not to be written.
typedef struct inlay_logits {
  // sizeof(inlay_logits), set by the caller. [bytes]
  uint32_t struct_size;
  // 0.
  uint32_t reserved;
  // As the model gives them.
  const float* values;
  // n_vocab. [values]
  size_t n_values;
} inlay_logits;

// What a queue holds. Zero means default for every field.
typedef struct inlay_queue_params {
  // sizeof(inlay_queue_params). [bytes]
  uint32_t struct_size;
  // 0. [default 0]
  uint32_t reserved;
  // Requests that were submitted and whose ends were not polled, or whose vectors were not taken: one more is
  // QUEUE_FULL. [0 to 1048576, default 1024]
  int32_t max_requests;
  // A request of which as many tokens wait to be polled rests until some are. It loses nothing, and holds no other up.
  // [tokens, 0 to 1048576, default 256]
  int32_t max_unread_tokens;
  // Called when there comes something to poll; never after inlay_queue_free has returned. [default none]
  inlay_wake_fn wake;
  // Given to wake; unused without it. [default NULL]
  void* wake_user;
} inlay_queue_params;

// A prompt and what is to become of it. One of tokens, text and conversation is given. Zero means default for every
// other field. Nothing of it is used after inlay_submit.
typedef struct inlay_request {
  // sizeof(inlay_request). [bytes]
  uint32_t struct_size;
  // What is to become of the prompt. [default GENERATE]
  inlay_request_kind kind;
  // The prompt as token ids, at least 1. [default NULL: not given]
  const int32_t* tokens;
  // Their number. [tokens, 0 or more, default 0]
  size_t n_tokens;
  // The prompt as a text, which becomes tokens as by inlay_tokenize without flags: ill-formed UTF-8 is read as U+FFFD.
  // [default NULL: not given]
  const char* text;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, 0 or more, default 0: an empty prompt]
  size_t text_len;
  // The prompt as a conversation, as inlay_chat_tokenize takes it: ill-formed UTF-8 is refused with FORMAT. [default
  // NULL: not given]
  const char* conversation;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, 0 or more, default 0]
  size_t conversation_len;
  // How the conversation is written; refused without one. [default NULL: ADD_GENERATION_PROMPT]
  const inlay_chat_params* chat;
  // How tokens are drawn and what ends the request; with continues from now on. The flags RESERVE and FOR_REQUESTS are
  // refused: they are of sessions. [default NULL: all defaults; with continues what the session has]
  const inlay_session_params* session_params;
  // Who has more comes first, and may put out who has less where the pool or all places are taken. What waits to begin,
  // or for a prompt's next chunk, rises by one every 250 ms at present, and puts out no equal. [0 to 7, default 0]
  int32_t priority;
  // 0. [default 0]
  uint32_t reserved;
  // From now on. Among waiting requests of one level, which is their priority and what waiting has added, the earliest
  // comes first, behind those that were put out; it is no promise. [microseconds, 0 or more, default 0: none]
  uint64_t deadline_us;
  // From now on, the time that it waits included. Then the request ends with TIMEOUT, and keeps its text so far; where
  // a budget has left its step pending, only with the next computation. [microseconds, 0 or more, default 0: none]
  uint64_t timeout_us;
  // Comes back in each event. [any number, default 0]
  uint64_t user;
  // A session made with FOR_REQUESTS, of the same engine, that the request continues: tokens and text come behind what
  // it has, a text without special tokens in front unless the session is empty and no other request for it waits when
  // this one is submitted. A conversation takes the place of its tokens; what both begin with is not computed again.
  // Requests for one session run one after the other, as they were submitted. The sequence stays in the session, with
  // drawn tokens, also of a request that is cancelled. Whether the prompt fits behind the one before is known only when
  // the request gets the session: if not, it ends with reason ERROR and CONTEXT_FULL or KV_FULL, and the session is as
  // it was. [default NULL: a sequence of its own]
  const inlay_session* continues;
  // EMBED: what the vector is made of, without progress. Of no other kind. [default NULL: all defaults]
  const inlay_embed_params* embed;
  // The request goes on behind what requests of the same number have computed, and nobody else's, and behind what the
  // session has that it continues: so that nobody can tell by the time of an answer what others have asked. Of EMBED it
  // changes nothing. [any number, default 0]
  uint64_t cache_salt;
} inlay_request;

// What became of a request since its last event. Arrays of events come with a stride, sizeof(inlay_request_event) as
// the caller knows it.
typedef struct inlay_request_event {
  // Number that inlay_submit gave.
  uint64_t request_id;
  // 1 for the first event that was polled from the queue, then one more for each.
  uint64_t number;
  // Of the request.
  uint64_t user;
  // What it is.
  inlay_request_event_kind kind;
  // Tokens of this event: tokens[first_token] to tokens[first_token + n_tokens - 1] of the call. [tokens]
  int32_t n_tokens;
  // See n_tokens.
  size_t first_token;
  // Where this event's text begins in the call's text. [bytes]
  size_t first_byte;
  // Its length: whole characters, not ended by a zero. What may begin a stop string is held back until that is clear.
  // With END and reason ERROR it is the error's message, cut to the room that the call has. [bytes]
  size_t text_bytes;
  // With END: why. Else NONE.
  inlay_finish_reason finish_reason;
  // With END and reason ERROR: what failed. Else OK.
  inlay_status status;
  // With END: tokens of the prompt, and with a session that it continues those before it, once it has got the session.
  // [tokens]
  int32_t n_prompt;
  // With END: those of them that were not computed for this request. [tokens]
  int32_t n_cached;
  // With END: tokens that were drawn. [tokens]
  int32_t n_drawn;
  // Likeliest tokens of each of them, the n_logprobs of the request's sampler: behind the event's tokens the call's
  // tokens has n_tokens x n_top of them, for each token in its place the likeliest first; token -1 where fewer have a
  // probability. [tokens]
  int32_t n_top;
  // With END: from its submission until it began, or until its end if it never did. [microseconds]
  uint64_t queued_us;
  // With END: from there to its first token, or to its end if it drew none. [microseconds]
  uint64_t prompt_us;
  // With END: from there to its end. [microseconds]
  uint64_t decode_us;
  // With END and reason EMBEDDED: of the vector that inlay_request_take_values gives. Else 0. [values]
  size_t n_values;
} inlay_request_event;

// How long inlay_run may compute. Zero means default for every field.
typedef struct inlay_run_params {
  // sizeof(inlay_run_params). [bytes]
  uint32_t struct_size;
  // Others than the named ones are refused. [default 0]
  inlay_run_flags flags;
  // The call begins no part of a step that it does not expect to end within this time, by what parts like it have
  // taken, but the first, so that requests go on with any budget. [microseconds, 0 or more, default 0: until no request
  // can go on]
  uint64_t budget_us;
  // The longest that a step with prompts is to take: so it bounds the time from one token to the next of those that
  // draw. Chunks of prompts are cut for it; the least chunk has 16 tokens at present. [microseconds, 0 or more, default
  // 0: no bound]
  uint64_t max_step_us;
  // The same for the calling thread's time. It matters with NO_WAIT on a GPU, where budget_us bounds the GPU's time
  // alone. Where the call waits for what it computes, the smaller of the two counts. [microseconds, 0 or more, default
  // 0: no bound of its own]
  uint64_t host_budget_us;
} inlay_run_params;

// What a call of inlay_run came to.
typedef struct inlay_run_info {
  // sizeof(inlay_run_info), set by the caller. [bytes]
  uint32_t struct_size;
  // What is left.
  inlay_run_info_flags flags;
  // Tokens that were drawn. [tokens]
  uint64_t n_tokens;
  // Requests of the engine that have not ended.
  int32_t n_requests;
  // 0.
  uint32_t reserved;
} inlay_run_info;

// How an engine's own thread computes. Zero means default for every field.
typedef struct inlay_thread_params {
  // sizeof(inlay_thread_params). [bytes]
  uint32_t struct_size;
  // 0. [default 0]
  uint32_t reserved;
  // It computes for at most this long in each period, as far as that can be foretold. [microseconds, 0 or more, default
  // 0: all the time]
  uint64_t busy_us;
  // Of at least busy_us; both are set or neither. [microseconds, 0 or more, default 0: all the time]
  uint64_t period_us;
  // As in inlay_run_params. [microseconds, 0 or more, default 0: no bound]
  uint64_t max_step_us;
} inlay_thread_params;

// What a constraint is made of. Nothing of it is used after the call.
typedef struct inlay_constraint_params {
  // sizeof(inlay_constraint_params). [bytes]
  uint32_t struct_size;
  // What the text is. [default JSON_SCHEMA]
  inlay_constraint_kind kind;
  // Others than the named ones are refused. [default 0]
  inlay_constraint_flags flags;
  // 0. [default 0]
  uint32_t reserved;
  // The schema, grammar, expression, or JSON of a message. Not of ANY_JSON and CHOICES. [default NULL: none]
  const char* text;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
  size_t text_len;
  // The texts of CHOICES; of no other kind. [default NULL: none]
  const inlay_text* choices;
  // Their number, at least 1 with CHOICES. [0 to 65536, default 0]
  size_t n_choices;
  // MESSAGE: tokens of the prompt, or its last ones, which say whether reasoning is open. Of no other kind. [default
  // NULL: nothing of the answer is in it]
  const int32_t* prompt;
  // Their number. [tokens, 0 or more, default 0]
  size_t n_prompt;
  // MESSAGE: how reasoning and calls are written, as in inlay_chat_parser_params. Of no other kind. [default NULL: the
  // one that the template writes]
  const char* format;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
  size_t format_len;
  // MESSAGE: the chat template that wrote the prompt, where it is not the model's own. Of no other kind. [default NULL:
  // the model's own]
  const char* chat_template;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
  size_t template_len;
} inlay_constraint_params;

// What a constraint takes.
typedef struct inlay_constraint_info {
  // sizeof(inlay_constraint_info), set by the caller. [bytes]
  uint32_t struct_size;
  // Remarks, for inlay_constraint_get_remark.
  int32_t n_remarks;
  // Host memory that it has now, without the vocabulary's, which all constraints of an engine share. It grows while it
  // is used, within a bound: by tens of megabytes at most, and the choices or the grammar themselves. [bytes]
  uint64_t memory_bytes;
} inlay_constraint_info;

// Where a saved session's bytes go.
typedef struct inlay_state_writer {
  // sizeof(inlay_state_writer). [bytes]
  uint32_t struct_size;
  // 0.
  uint32_t reserved;
  // Given to the callback.
  void* user;
  // Takes the bytes, one part behind the other; must not be NULL.
  inlay_state_write_fn write;
} inlay_state_writer;

// Where a saved session's bytes come from.
typedef struct inlay_state_reader {
  // sizeof(inlay_state_reader). [bytes]
  uint32_t struct_size;
  // 0.
  uint32_t reserved;
  // Given to the callback.
  void* user;
  // Gives the bytes, one part behind the other; must not be NULL.
  inlay_state_read_fn read;
} inlay_state_reader;

// What a message is read by. Nothing of it is used after the call. Zero means default for every field.
typedef struct inlay_chat_parser_params {
  // sizeof(inlay_chat_parser_params). [bytes]
  uint32_t struct_size;
  // Others than the named ones are refused. [default 0]
  inlay_chat_parser_flags flags;
  // A format as JSON, at most 1 MiB: docs/design/chat-parsing.md has its keys. [default NULL: the one that the template
  // writes]
  const char* format;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
  size_t format_len;
  // The chat template that wrote the prompt, where it is not the model's own. [default NULL: the model's own]
  const char* chat_template;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
  size_t template_len;
  // The tools as a JSON array: {"type": "function", "function": {"name", "parameters": JSON Schema}}, or the inner
  // object alone. What formats write without quotes becomes JSON by their types. [default NULL: none]
  const char* tools;
  // Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
  size_t tools_len;
  // Tokens of the prompt, or its last ones. Templates may begin the answer, as those do that open the reasoning.
  // [default NULL: not known]
  const int32_t* prompt;
  // Their number. [tokens, 0 or more, default 0]
  size_t n_prompt;
} inlay_chat_parser_params;

// A part of a message. Arrays of them come with a stride, sizeof(inlay_chat_delta) as the caller knows it.
typedef struct inlay_chat_delta {
  // What it is.
  inlay_chat_delta_kind kind;
  // What is to be known of it.
  inlay_chat_delta_flags flags;
  // The call that it is of, 0 for the message's first. 0 with REASONING and CONTENT.
  int32_t call;
  // 0.
  int32_t reserved;
  // Where its text begins in the call's text. [bytes]
  size_t first_byte;
  // Its length: whole characters, not ended by a zero. [bytes]
  size_t text_bytes;
} inlay_chat_delta;

// Where a parser is.
typedef struct inlay_chat_parser_info {
  // sizeof(inlay_chat_parser_info), set by the caller. [bytes]
  uint32_t struct_size;
  // Where it is.
  inlay_chat_parser_info_flags flags;
  // Calls that have begun.
  int32_t n_calls;
  // 0.
  int32_t reserved;
} inlay_chat_parser_info;

// ---- The four verbs --------------------------------------------------------------------------------------------------

// Loads a model: a GGUF file, of which a split one is named by its first file, or a Hugging Face folder with
// config.json and safetensors files.
// Thread: any.
// Blocks: on disk and processor for the whole load; progress is called meanwhile; takes device memory.
// Ownership: `*engine` is the caller's, to be freed with inlay_free. The file is not needed after the call.
// On error: `*engine` is NULL.
// Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
// Since: 1.0.
inlay_status inlay_load(const char* path, size_t path_len, const inlay_load_params* params, inlay_engine** engine,
                        inlay_error* err);

// Appends tokens to a session and runs them, chunk by chunk. It begins a new generation: finish reason and max_tokens
// start over, text that was not taken is dropped.
// Thread: exclusive(session).
// Blocks: on the device until all tokens are run; other threads' calls that compute on the engine run before it and
// after each chunk.
// Ownership: The tokens are copied.
// On error: The session keeps the first `*n_done` tokens, whole chunks; none unless it was cancelled, or the device or
// memory failed.
// Errors: CONTEXT_FULL, KV_FULL, CANCELLED, INVALID_STATE, DEVICE_LOST.
// Since: 1.0.
inlay_status inlay_prefill(inlay_session* session, const int32_t* tokens, size_t n_tokens, size_t* n_done,
                           inlay_error* err);

// Draws one token for each of the sessions, reading the weights once for all. One event a session, in the order given.
// A session that cannot advance is unchanged and says so in its event's status; the others advance, and the first such
// status is returned. Sessions are of one engine, each named once. Calls of several threads that wait for their turn
// share a step; each is told of its own sessions alone.
// Thread: exclusive(sessions).
// Blocks: on the device for one step; waits for other threads' calls that compute on the engine, at most for one chunk
// of each prefill, and up to a millisecond or half a step for calls that shared the last step.
// Ownership: Events are copies.
// On error: Wrong arguments: nothing happened, events are untouched. Otherwise each event has its own status.
// UNSUPPORTED: the session's constraint needs more than its limits at this place of its text.
// Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, FORMAT, DEVICE_LOST.
// Since: 1.0.
inlay_status inlay_decode_step(inlay_session* const* sessions, size_t n_sessions, inlay_event* events,
                               size_t event_stride, inlay_error* err);

// Gives up an engine. Its memory goes when its last session is freed, too. Its requests end as CANCELLED, its thread
// ends, and its queues' wake functions are called on this one. NULL is allowed.
// Thread: exclusive(engine).
// Blocks: until the device is idle; not where other threads are inside the engine: the last of them to leave does all
// of this, on its thread. inlay_run leaves soon, with INVALID_STATE.
// Ownership: The handle is invalid afterwards.
// On error: cannot fail.
// Errors: none.
// Since: 1.0.
void inlay_free(inlay_engine* engine);

// ---- Library ---------------------------------------------------------------------------------------------------------

// The library's version, such as 0.1.0.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: cannot fail.
// Errors: none.
// Since: 1.0.
const char* inlay_version_string(void);

// The ABI that the library offers: major x 65536 + minor. It serves every client of the same major and a minor up to
// its own.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: cannot fail.
// Errors: none.
// Since: 1.0.
uint32_t inlay_abi_version(void);

// A status as it is written in the header, without the prefix: KV_FULL. A number that is none gives UNKNOWN.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: cannot fail.
// Errors: none.
// Since: 1.0.
const char* inlay_status_name(inlay_status status);

// Number of devices; device 0 is the processor.
// Thread: any.
// Blocks: on drivers at the first call.
// Ownership: Nothing is kept.
// On error: cannot fail.
// Errors: none.
// Since: 1.0.
int32_t inlay_device_count(void);

// Describes a device.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: NOT_FOUND.
// Since: 1.0.
inlay_status inlay_device_get(int32_t index, inlay_device_info* info, inlay_error* err);

// ---- Load ------------------------------------------------------------------------------------------------------------

// Loads a model that lies in memory.
// Thread: any.
// Blocks: on the processor for the whole load; progress is called meanwhile; takes device memory.
// Ownership: `*engine` is the caller's, to be freed with inlay_free. `data` is not needed after the call.
// On error: `*engine` is NULL.
// Errors: FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
// Since: 1.0.
inlay_status inlay_load_memory(const void* data, size_t n_bytes, const inlay_load_params* params, inlay_engine** engine,
                               inlay_error* err);

// Loads a model through a callback, which is called on this thread and during this call only.
// Thread: any.
// Blocks: on the callback and the processor for the whole load; takes device memory.
// Ownership: `*engine` is the caller's, to be freed with inlay_free. The reader is not needed after the call.
// On error: `*engine` is NULL.
// Errors: IO, FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
// Since: 1.0.
inlay_status inlay_load_reader(const inlay_reader* reader, const inlay_load_params* params, inlay_engine** engine,
                               inlay_error* err);

// Tells what inlay_load would need, from the file's header alone.
// Thread: any.
// Blocks: on disk, for the header.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, NO_DEVICE.
// Since: 1.0.
inlay_status inlay_memory_plan(const char* path, size_t path_len, const inlay_load_params* params,
                               inlay_memory_info* info, inlay_error* err);

// Writes a model as a GGUF file with matrices of another type, under the names that GGUF files use. The source is a
// path as inlay_load takes it. With a quantized type, quantized matrices that take as few bits a weight already stay as
// they are. A folder's tokenizer gives the same tokens, texts and ends from the file; the log names what other programs
// will not read there.
// Thread: any.
// Blocks: on disk, and to quantize.
// Ownership: Nothing is kept.
// On error: Nothing is left; a file that was there before stays. Where only the folder cannot be brought to the disk,
// IO: the file is in place, but its name may not outlive a power failure; the message says so.
// Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, CANCELLED.
// Since: 1.2.
inlay_status inlay_convert(const char* path, size_t path_len, const char* out_path, size_t out_path_len,
                           const inlay_convert_params* params, inlay_error* err);

// Says what a model is, from its files' headers alone: family, features, types of its tensors, which devices would run
// it and why others would not, and the memory that contexts of several lengths take. A model that no device runs is no
// error here; files that cannot be read are.
// Thread: any.
// Blocks: on disk, for headers and the tokenizer, and on drivers.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
// Since: 1.2.
inlay_status inlay_explain(const char* path, size_t path_len, const inlay_load_params* params, inlay_explain_form form,
                           int32_t* n_devices, char* buf, size_t cap, size_t* needed, inlay_error* err);

// ---- Model -----------------------------------------------------------------------------------------------------------

// Sizes of the model and of what was allocated for it.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: only the common ones.
// Since: 1.0.
inlay_status inlay_engine_get_info(const inlay_engine* engine, inlay_engine_info* info, inlay_error* err);

// Number of the model file's metadata entries.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: only the common ones.
// Since: 1.0.
inlay_status inlay_meta_count(const inlay_engine* engine, size_t* count, inlay_error* err);

// Key of a metadata entry, in the file's order.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: NOT_FOUND, BUFFER_TOO_SMALL.
// Since: 1.0.
inlay_status inlay_meta_key(const inlay_engine* engine, size_t index, char* buf, size_t cap, size_t* needed,
                            inlay_error* err);

// A metadata value as text. An array is written as [a, b, c]; a long one is cut short and says how many elements there
// are.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: NOT_FOUND, BUFFER_TOO_SMALL.
// Since: 1.0.
inlay_status inlay_meta_value(const inlay_engine* engine, const char* key, size_t key_len, char* buf, size_t cap,
                              size_t* needed, inlay_error* err);

// ---- Tokens ----------------------------------------------------------------------------------------------------------

// Turns text into token ids, which can all be prefilled. There may be more of them than bytes of text: ill-formed UTF-8
// becomes U+FFFD, a vocabulary's normalizer may lengthen the text, tokens are added around it. The same text and flags
// always give the same ids, so `*n_tokens` of one call is room for the next: ask with tokens NULL and cap 0, or grow at
// BUFFER_TOO_SMALL.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*n_tokens` is what is needed, tokens are unspecified.
// Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CANCELLED.
// Since: 1.0.
inlay_status inlay_tokenize(const inlay_engine* engine, const char* text, size_t text_len, inlay_tokenize_flags flags,
                            int32_t* tokens, size_t cap, size_t* n_tokens, inlay_error* err);

// Turns token ids into text. If the ids begin or end inside a character, so does the text.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified.
// Errors: UNSUPPORTED, BUFFER_TOO_SMALL.
// Since: 1.0.
inlay_status inlay_detokenize(const inlay_engine* engine, const int32_t* tokens, size_t n_tokens,
                              inlay_detokenize_flags flags, char* buf, size_t cap, size_t* needed, inlay_error* err);

// Describes one token.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: UNSUPPORTED.
// Since: 1.0.
inlay_status inlay_token_get_info(const inlay_engine* engine, int32_t token, inlay_token_info* info, inlay_error* err);

// ---- Sessions --------------------------------------------------------------------------------------------------------

// Makes an empty session. UNSUPPORTED of a model whose tokens see those behind them (`attention.causal` false): it
// makes embeddings and writes no text.
// Thread: any.
// Blocks: no; where running requests have all places: for their step, after which one of them gives way; takes device
// memory.
// Ownership: `*session` is the caller's, to be freed with inlay_session_free; it keeps the engine alive.
// On error: `*session` is NULL.
// Errors: UNSUPPORTED, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
// Since: 1.0.
inlay_status inlay_session_create(const inlay_engine* engine, const inlay_session_params* params,
                                  inlay_session** session, inlay_error* err);

// Frees a session and gives its KV blocks back. NULL is allowed.
// Thread: exclusive(session).
// Blocks: no; the last session of an engine that was freed: until the device is idle.
// Ownership: The handle is invalid afterwards.
// On error: cannot fail.
// Errors: none.
// Since: 1.0.
void inlay_session_free(inlay_session* session);

// Tells where a session stands; as of the last finished step while another thread runs one.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: only the common ones.
// Since: 1.0.
inlay_status inlay_session_get_info(const inlay_session* session, inlay_session_info* info, inlay_error* err);

// Takes text that did not fit into events: as many whole characters as fit. Call it until `*n_bytes` is 0; what is not
// taken stays, also past later steps, and comes before newer text.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: buf has no room for the next character.
// Errors: BUFFER_TOO_SMALL.
// Since: 1.0.
inlay_status inlay_session_take_text(inlay_session* session, char* buf, size_t cap, size_t* n_bytes, inlay_error* err);

// Makes a second session with the same sequence, parameters and state. Keys and values are shared until one of the two
// writes. Give the child another seed if the two are to differ.
// Thread: exclusive(session).
// Blocks: no; takes device memory.
// Ownership: `*child` is the caller's, to be freed with inlay_session_free, in any order.
// On error: `*child` is NULL.
// Errors: SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, INVALID_STATE, DEVICE_LOST.
// Since: 1.0.
inlay_status inlay_session_fork(inlay_session* session, inlay_session** child, inlay_error* err);

// Cuts the sequence back to its first tokens. It begins a new generation: finish reason and max_tokens start over, text
// that was not taken is dropped. Where a sliding window reaches back to keys that are no longer kept, the next prefill
// or step first runs the sequence from its beginning again.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE.
// Since: 1.0.
inlay_status inlay_session_truncate(inlay_session* session, size_t n_tokens, inlay_error* err);

// Changes how the following tokens are drawn.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: Everything is copied.
// On error: Nothing has changed.
// Errors: INVALID_STATE.
// Since: 1.0.
inlay_status inlay_session_set_sampler(inlay_session* session, const inlay_sampler_params* params, inlay_error* err);

// Sets the texts that end a generation, at most 64 of at most 1024 bytes each; an empty one is refused, one that is
// given twice counts once. They are looked for in the text, and in what it is with the names of control tokens in it:
// <|user|> stops at that token. Text held back for the old ones stays held until the next step.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: The texts are copied.
// On error: Nothing has changed.
// Errors: only the common ones.
// Since: 1.0.
inlay_status inlay_session_set_stop(inlay_session* session, const inlay_text* stops, size_t n_stops, inlay_error* err);

// Copies the logits of the last position that was run: those that the last token was drawn from, or the next one will
// be.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE, BUFFER_TOO_SMALL, FORMAT.
// Since: 1.0.
inlay_status inlay_session_copy_logits(inlay_session* session, float* logits, size_t cap, size_t* needed,
                                       inlay_error* err);

// Asks a session to stop. A prefill under way ends with CANCELLED after its chunk; otherwise the session's next step,
// or its next prefill, sees the request, once. NULL is allowed. It may be called from a signal handler: it takes no
// lock and no memory. The session must not be freed meanwhile, also not by the thread that the signal interrupts.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: cannot fail.
// Errors: none.
// Since: 1.0.
void inlay_session_cancel(const inlay_session* session);

// The logits that inlay_session_copy_logits copies, without a copy: for hosts that read those of many sessions after
// every step.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: The values are the engine's. They are there until the session's next call that is `exclusive`, decode
// steps that it takes part in included, or its end.
// On error: `view` is unspecified.
// Errors: INVALID_STATE, DEVICE_LOST.
// Since: 1.2.
inlay_status inlay_session_view_logits(inlay_session* session, inlay_logits* view, inlay_error* err);

// Runs a part of a decode step, for hosts that give the model a little time in every frame. The first call begins it,
// the next ones go on, until `*units_left` is 0: then events and status are those of inlay_decode_step, bit for bit.
// Units take about the same time, but for what a truncation has left to be run first. Meanwhile calls that compute on
// the engine (those under way on other threads wait), and those that fork its sessions, change them or set a sampler,
// return INVALID_STATE; later minors may refuse fewer. Freeing one of the sessions drops the step.
// Thread: exclusive(sessions).
// Blocks: on the device for max_units units; waits for other calls that compute on the engine, of a prefill for one
// chunk.
// Ownership: Events are copies.
// On error: Wrong arguments: nothing happened, events are untouched. Otherwise each event has its own status.
// Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, BUSY, FORMAT, DEVICE_LOST.
// Since: 1.2.
inlay_status inlay_decode_slice(inlay_session* const* sessions, size_t n_sessions, int32_t max_units,
                                inlay_event* events, size_t event_stride, int32_t* units_left, inlay_error* err);

// Drops the pending step that inlay_decode_slice has begun for these sessions: they are as they were before it, except
// that one which it found cancelled has finished. If no step is pending, nothing happens.
// Thread: exclusive(sessions).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE.
// Since: 1.2.
inlay_status inlay_decode_abandon(inlay_session* const* sessions, size_t n_sessions, inlay_error* err);

// Sets the token ids that end a generation when drawn, in place of those that there were.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: The ids are copied.
// On error: Nothing has changed.
// Errors: only the common ones.
// Since: 1.2.
inlay_status inlay_session_set_stop_tokens(inlay_session* session, const int32_t* tokens, size_t n_tokens,
                                           inlay_error* err);

// Asks for the end of one generation: as inlay_session_cancel, but a request for one that is over has no effect on
// later ones. A generation begins with a prefill or a truncation; its number is one more than the last one's, and
// inlay_session_info tells it. A request for the coming one is seen by the prefill that begins it. Of requests for
// several the session knows the highest.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: only the common ones.
// Since: 1.2.
inlay_status inlay_session_cancel_generation(const inlay_session* session, uint64_t generation, inlay_error* err);

// Sets how many tokens may be drawn after a prefill: with the last of them the session finishes, the reason is
// MAX_TOKENS. It counts for the generation under way, too; one that has drawn as many already ends with its next token.
// With INLAY_SESSION_RESERVE a generation under way also gets the KV blocks for a higher limit, or KV_FULL.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: KV_FULL.
// Since: 1.2.
inlay_status inlay_session_set_max_tokens(inlay_session* session, int32_t max_tokens, inlay_error* err);

// Takes tokens out of the sequence: those behind them move to the front. Their keys and values stay, keys are rotated
// to the new positions (RoPE), in about the time of a copy. They still carry what they have seen of the tokens that
// went: logits are close to those of the shorter sequence, not the same; FP8 and INT8 keys are rounded once more. A
// generation goes on, also one that ended with CONTEXT_FULL; where the last token goes, this is inlay_session_truncate.
// Where a sliding window needs keys that are gone, the next prefill or step first runs the shorter sequence from its
// beginning. UNSUPPORTED: the model has a state that cannot lose tokens; no present model has.
// Thread: exclusive(session).
// Blocks: while the device moves keys and values; waits for other calls that compute on the engine.
// Ownership: Nothing is kept.
// On error: DEVICE_LOST: unspecified. Otherwise nothing has changed.
// Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, DEVICE_LOST.
// Since: 1.2.
inlay_status inlay_session_shift(inlay_session* session, size_t first, size_t n_tokens, inlay_error* err);

// Appends tokens that the host chose, as if they had been drawn: they count toward max_tokens, penalties and DRY see
// them, their text comes with the next event or inlay_session_take_text. A stop string, a stop or end token, max_tokens
// or the context's end finishes the generation as in a step; what comes behind is not accepted. Averages of Mirostat
// and adaptive-p stay. Nothing is run: logits remain those of before, and the next step runs the tokens before it
// draws.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: The ids are copied.
// On error: OUT_OF_MEMORY: the first `*n_accepted` tokens stay. Otherwise nothing has changed.
// Errors: INVALID_STATE.
// Since: 1.2.
inlay_status inlay_session_accept(inlay_session* session, const int32_t* tokens, size_t n_tokens, size_t* n_accepted,
                                  inlay_error* err);

// Reads a session's tokens back: those of prompts, drawn and accepted ones.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*n_tokens` is set, nothing is written.
// Errors: BUFFER_TOO_SMALL.
// Since: 1.2.
inlay_status inlay_session_get_tokens(inlay_session* session, size_t first, int32_t* tokens, size_t cap,
                                      size_t* n_tokens, inlay_error* err);

// ---- Observation -----------------------------------------------------------------------------------------------------

// What the engine has done so far.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: only the common ones.
// Since: 1.0.
inlay_status inlay_engine_get_stats(const inlay_engine* engine, inlay_stats* stats, inlay_error* err);

// The list of operations that a step runs, as text: one line an operation, with its bytes and its floating-point
// operations for one token.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: BUFFER_TOO_SMALL.
// Since: 1.0.
inlay_status inlay_plan_text(const inlay_engine* engine, char* buf, size_t cap, size_t* needed, inlay_error* err);

// Reads one message from the engine's ring of the latest messages. `*cursor` is the number of the message read before,
// 0 for none, and becomes that of this one; numbers count from 1, and those that the ring no longer holds are passed
// over.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: `*cursor` is unchanged. NOT_FOUND: there is no newer message yet.
// Errors: NOT_FOUND, BUFFER_TOO_SMALL.
// Since: 1.0.
inlay_status inlay_log_read(const inlay_engine* engine, uint64_t* cursor, inlay_log_level* level, char* buf, size_t cap,
                            size_t* needed, inlay_error* err);

// Runs a step of fixed tokens again and again, in a session of its own: whole, then with a time for each operation, and
// measures how fast the device reads memory. The engine keeps its latest 16 profiles; inlay_profile_text writes them.
// Thread: any.
// Blocks: on the device for all repetitions; other calls that compute on the engine run between them; takes device
// memory.
// Ownership: Nothing is kept.
// On error: No profile is added.
// Errors: UNSUPPORTED, SESSION_LIMIT, KV_FULL, DEVICE_OUT_OF_MEMORY, INVALID_STATE, DEVICE_LOST.
// Since: 1.1.
inlay_status inlay_profile_step(const inlay_engine* engine, const inlay_profile_params* params, inlay_error* err);

// What inlay_profile_step measured: time, bytes, bytes a second and the share of the read bandwidth, operation by
// operation. Bytes are those that the operation must move at least, each weight as it is held.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: NOT_FOUND: nothing was profiled yet.
// Errors: NOT_FOUND, BUFFER_TOO_SMALL.
// Since: 1.1.
inlay_status inlay_profile_text(const inlay_engine* engine, inlay_profile_form form, char* buf, size_t cap,
                                size_t* needed, inlay_error* err);

// Runs the same tokens in two engines, all but the last as one step and the last as another, and writes how far apart
// each operation's values are: cosine, squared error over squares (NMSE), largest difference. For finding where two
// devices, or two files of a model, begin to differ.
// Thread: any.
// Blocks: on both devices for two steps, on each call, also one for the size; takes device memory.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: SESSION_LIMIT, CONTEXT_FULL, KV_FULL, BUFFER_TOO_SMALL, UNSUPPORTED, INVALID_STATE, DEVICE_LOST.
// Since: 1.1.
inlay_status inlay_compare_text(const inlay_engine* engine_a, const inlay_engine* engine_b, const int32_t* tokens,
                                size_t n_tokens, double nmse_limit, int32_t* first, char* buf, size_t cap,
                                size_t* needed, inlay_error* err);

// ---- Conversations ---------------------------------------------------------------------------------------------------

// Writes a conversation as the text that the model was trained on, by the model's chat template or a given one (Jinja,
// as Hugging Face transformers sets it up). A conversation is JSON: an array of messages such as {"role": "user",
// "content": "Hi"}, or an object of all the template's variables: messages, tools, documents, enable_thinking and so
// on. The text holds control tokens in writing, BOS where the template writes it: tokenize it with NO_BOS_EOS and
// PARSE_SPECIAL. Those that messages write pass as they are, too; inlay_chat_tokenize takes messages as text alone.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified.
// Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
// Since: 1.2.
inlay_status inlay_chat_render(const inlay_engine* engine, const char* conversation, size_t conversation_len,
                               const inlay_chat_params* params, char* buf, size_t cap, size_t* needed,
                               inlay_error* err);

// Writes a conversation as inlay_chat_render does, and tokenizes it, so that only the template's own control tokens
// count: those that the conversation writes, in messages, tools or any other of its values, or that arise only together
// with what it writes, are text. Where it writes none the tokens are those of inlay_chat_render and inlay_tokenize with
// NO_BOS_EOS and PARSE_SPECIAL, behind BOS where the model asks for it and its own template writes none. Whatever a
// template makes of the conversation's texts counts as theirs; where it changes a text that mixes both (replace, upper,
// tojson), all of it does.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*n_tokens` is set, nothing is written.
// Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL, CANCELLED.
// Since: 1.2.
inlay_status inlay_chat_tokenize(const inlay_engine* engine, const char* conversation, size_t conversation_len,
                                 const inlay_chat_params* params, int32_t* tokens, size_t cap, size_t* n_tokens,
                                 inlay_error* err);

// ---- Embeddings and scores -------------------------------------------------------------------------------------------

// Turns texts into vectors: the final hidden states of a text's tokens, normalized as before the output matrix, pooled.
// Texts run together where sessions are free; one longer than prefill_chunk runs in chunks, or is CONTEXT_FULL where
// tokens see later ones.
// Thread: any.
// Blocks: on the device until all texts are run; other threads' calls that compute on the engine run between its steps;
// progress is called meanwhile.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*needed` is set, nothing was run. Otherwise `out` is unspecified.
// Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, INVALID_STATE, DEVICE_LOST, FORMAT,
// CANCELLED.
// Since: 1.2.
inlay_status inlay_embed(const inlay_engine* engine, const inlay_embed_input* inputs, size_t n_inputs,
                         size_t input_stride, const inlay_embed_params* params, float* out, size_t cap, size_t* needed,
                         inlay_error* err);

// Says how likely each token of texts is, given those before it: one run of the model in steps, nothing is drawn. Each
// text runs in a session of its own, several at once where sessions are free and a step has room; a longer one runs
// chunk by chunk. With another engine of the same vocabulary both run, and their distributions are compared: what a
// quantization costs.
// Thread: any.
// Blocks: on the device until all texts are run; other threads' calls that compute on the engine run between its steps;
// progress is called meanwhile.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: nothing was run. Otherwise scores and top are unspecified.
// Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, INVALID_STATE, DEVICE_LOST, FORMAT,
// CANCELLED.
// Since: 1.2.
inlay_status inlay_score(const inlay_engine* engine, const inlay_engine* against, const int32_t* tokens,
                         size_t n_tokens, const int32_t* lengths, size_t n_texts, const inlay_score_params* params,
                         inlay_token_score* scores, size_t score_stride, inlay_token_logprob* top, size_t top_cap,
                         inlay_error* err);

// ---- Requests --------------------------------------------------------------------------------------------------------

// Makes a queue of an engine. An engine may have several; none sees what becomes of another's requests. All of them
// share the device.
// Thread: any.
// Blocks: no.
// Ownership: `*queue` is the caller's, to be freed with inlay_queue_free. It does not keep the engine alive.
// On error: `*queue` is NULL.
// Errors: only the common ones.
// Since: 1.3.
inlay_status inlay_queue_create(const inlay_engine* engine, const inlay_queue_params* params, inlay_queue** queue,
                                inlay_error* err);

// Cancels the queue's requests and frees it; nobody is told. Calls that wait for it end with INVALID_STATE. NULL is
// allowed. Not from within the queue's wake function.
// Thread: exclusive(queue).
// Blocks: while the queue's wake function runs on another thread.
// Ownership: The handle is invalid afterwards.
// On error: cannot fail.
// Errors: none.
// Since: 1.3.
void inlay_queue_free(inlay_queue* queue);

// Hands a request over; inlay_run or the engine's own thread computes it, together with others. What can be wrong with
// it is refused here. Rendering and tokenization happen in this call. The number that it gets is never used again, and
// there is nothing to free.
// Thread: any.
// Blocks: no.
// Ownership: The request is copied.
// On error: `*request_id` is 0 and nothing was submitted.
// Errors: UNSUPPORTED, FORMAT, CONTEXT_FULL, KV_FULL, QUEUE_FULL, CANCELLED, INVALID_STATE, DEVICE_LOST.
// Since: 1.3.
inlay_status inlay_submit(const inlay_queue* queue, const inlay_request* request, uint64_t* request_id,
                          inlay_error* err);

// Ends a request of the queue: no token is added once this has returned. Those to be polled still arrive, then its END,
// with the next computation where a budget has left its step pending. An unknown number, or one whose END was there,
// changes nothing.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE.
// Since: 1.3.
inlay_status inlay_request_cancel(const inlay_queue* queue, uint64_t request_id, inlay_error* err);

// Moves the vector of a request of kind EMBED that has ended with EMBEDDED to the caller, once. Until then it stays,
// and the request counts among the queue's max_requests. A request that ended otherwise has none.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: The vector stays. BUFFER_TOO_SMALL: `*needed` is set. NOT_FOUND: the queue has no vector of such a request:
// the number is unknown, the vector was taken, or the request ended without one. INVALID_STATE: the request has not
// ended.
// Errors: BUFFER_TOO_SMALL, NOT_FOUND, INVALID_STATE.
// Since: 1.3.
inlay_status inlay_request_take_values(const inlay_queue* queue, uint64_t request_id, float* values, size_t cap,
                                       size_t* needed, inlay_error* err);

// Collects what became of the queue's requests, as far as there is room; what there is no room for stays. A request's
// events come in order, its END last; nothing is ever lost but what is not wanted: with tokens NULL the tokens, with
// text NULL the texts.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: no room for the next event. 1 event, 1 + n_logprobs tokens and 4 bytes of text, where
// these are wanted, are room for any; the error's required is 4 whatever lacks. INVALID_STATE: the engine was freed,
// and all was polled.
// Errors: BUFFER_TOO_SMALL, INVALID_STATE.
// Since: 1.3.
inlay_status inlay_poll(const inlay_queue* queue, inlay_request_event* events, size_t cap_events, size_t event_stride,
                        inlay_token_logprob* tokens, size_t cap_tokens, char* text, size_t cap_text, size_t* n_events,
                        inlay_error* err);

// Waits until the queue has something to poll. Refused with INVALID_STATE where nobody would ever wake it: the engine
// has no thread of its own and inlay_run was never called; with timeout_us 0 never refused for that.
// Thread: any.
// Blocks: until there is something to poll, the time is over, somebody calls inlay_queue_wake, the device is lost, the
// engine's thread ends where inlay_run was never called, or the queue or its engine is freed.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE, DEVICE_LOST.
// Since: 1.3.
inlay_status inlay_wait(const inlay_queue* queue, int64_t timeout_us, inlay_wait_result* result, inlay_error* err);

// Ends every inlay_wait of the queue that is under way. Where none is, the next one that would wait ends at once; calls
// until then count as one. Nothing else changes: there is no event, the system's handle stays as it is, and the wake
// function is not called.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE.
// Since: 1.3.
inlay_status inlay_queue_wake(const inlay_queue* queue, inlay_error* err);

// Gives what a loop of the system can wait for: ready while there is something to poll. inlay_poll alone makes it
// unready. Once the engine is freed it is ready for ever, and inlay_poll says INVALID_STATE when all was polled: then
// leave it out.
// Thread: any.
// Blocks: no.
// Ownership: The handle belongs to the queue and is closed with it; do not read, write, set or close it.
// On error: Nothing has changed.
// Errors: UNSUPPORTED, IO, INVALID_STATE.
// Since: 1.3.
inlay_status inlay_queue_get_handle(const inlay_queue* queue, inlay_wait_kind* kind, int64_t* handle,
                                    inlay_error* err);

// Computes the engine's requests, of all queues, on the calling thread. A step that the budget cuts goes on at the next
// call; other calls that compute end it first, and fail no more than without it. It draws together what requests have
// to draw and runs prompts in chunks beside that.
// Thread: any.
// Blocks: on the device for the budget, on a GPU with NO_WAIT not at all; waits for other threads' calls that compute
// on the engine.
// Ownership: Nothing is kept.
// On error: `*info` is as before; what was drawn is polled. BUSY: another thread is in it. INVALID_STATE: the engine
// has a thread of its own, or a decode step in slices is pending, which may have begun between two steps of this call.
// Errors: BUSY, INVALID_STATE, DEVICE_LOST.
// Since: 1.3.
inlay_status inlay_run(const inlay_engine* engine, const inlay_run_params* params, inlay_run_info* info,
                       inlay_error* err);

// Gives the engine a thread of its own that computes its requests, changes how that one computes, or ends it. Without
// any thread the host calls inlay_run. The engine's log may then come from that thread.
// Thread: any.
// Blocks: to end the thread: for the step at hand.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE, DEVICE_LOST.
// Since: 1.3.
inlay_status inlay_engine_set_thread(const inlay_engine* engine, const inlay_thread_params* params, inlay_error* err);

// ---- Constraints -----------------------------------------------------------------------------------------------------

// Compiles which texts may be written. The mask of tokens that may come next is exact: each of them begins what some
// allowed text goes on with, and control tokens never count for their letters. The first constraint of an engine reads
// its vocabulary, which takes a moment. Compiling has limits of steps and memory, so that no text makes it endless.
// Thread: any.
// Blocks: while it compiles.
// Ownership: `*constraint` is the caller's, to be freed with inlay_constraint_free.
// On error: `*constraint` is NULL. FORMAT: the text is no such schema, grammar or expression, or nothing can match it;
// UNSUPPORTED: it needs what is not supported, or more than the limits. The message names the place.
// Errors: FORMAT, UNSUPPORTED.
// Since: 1.3.
inlay_status inlay_constraint_create(const inlay_engine* engine, const inlay_constraint_params* params,
                                     inlay_constraint** constraint, inlay_error* err);

// Frees a constraint. Sessions and requests that have it keep what they need. NULL is allowed.
// Thread: exclusive(constraint).
// Blocks: no.
// Ownership: The handle is invalid afterwards.
// On error: cannot fail.
// Errors: none.
// Since: 1.3.
void inlay_constraint_free(inlay_constraint* constraint);

// Tells what a constraint takes.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE.
// Since: 1.3.
inlay_status inlay_constraint_get_info(const inlay_constraint* constraint, inlay_constraint_info* info,
                                       inlay_error* err);

// Gives one of the remarks that compiling a schema left: a keyword or a format that is not known and demands nothing,
// or what LENIENT dropped, with its place.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*needed` is set, nothing is written.
// Errors: NOT_FOUND, BUFFER_TOO_SMALL, INVALID_STATE.
// Since: 1.3.
inlay_status inlay_constraint_get_remark(const inlay_constraint* constraint, size_t index, char* buf, size_t cap,
                                         size_t* needed, inlay_error* err);

// Says what the session may write from now on, and in every later generation. A truncation inside of what was written
// under it goes back in it, a fork takes it along, a shift changes nothing.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: The session shares the constraint: its handle may be freed.
// On error: The session is as before. INVALID_ARGUMENT: the constraint is another engine's, or does not allow what was
// written.
// Errors: UNSUPPORTED, INVALID_STATE.
// Since: 1.3.
inlay_status inlay_session_set_constraint(inlay_session* session, const inlay_constraint* constraint,
                                          const char* written, size_t written_len, inlay_error* err);

// Gives the text that must follow under the session's constraint, up to where there is a choice or the text may end.
// Empty without a constraint. It is drawn all the same; a host may show it at once, or append its tokens with
// inlay_session_accept.
// Thread: exclusive(session).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. UNSUPPORTED: the constraint needs more than its
// limits at this place of the text.
// Errors: BUFFER_TOO_SMALL, UNSUPPORTED, INVALID_STATE.
// Since: 1.3.
inlay_status inlay_session_get_forced_text(inlay_session* session, char* buf, size_t cap, size_t* needed,
                                           inlay_error* err);

// ---- Saved sessions --------------------------------------------------------------------------------------------------

// Writes all that a session is: tokens, keys and values, undrawn logits, sampler, limits, text that is held back,
// constraint. A session that is restored from it goes on as this one would. Other sessions compute meanwhile.
// Thread: exclusive(session).
// Blocks: while it copies.
// Ownership: The bytes are the caller's, with a version and a checksum (docs/design/session-state.md). Another version
// of the library may refuse them: who must outlive it keeps the tokens beside them.
// On error: The session is as before. BUFFER_TOO_SMALL: `*needed` is set, nothing is written.
// Errors: BUFFER_TOO_SMALL, INVALID_STATE, UNSUPPORTED, DEVICE_LOST.
// Since: 1.3.
inlay_status inlay_session_save(inlay_session* session, void* state, size_t cap, size_t* needed, inlay_error* err);

// inlay_session_save through a callback, part by part.
// Thread: exclusive(session).
// Blocks: on the callback, and while it copies.
// Ownership: Nothing is kept.
// On error: The session is as before; some bytes may be written. IO: the callback failed, native_code is what it
// returned.
// Errors: IO, INVALID_STATE, UNSUPPORTED, DEVICE_LOST.
// Since: 1.3.
inlay_status inlay_session_save_to(inlay_session* session, const inlay_state_writer* writer, inlay_error* err);

// Makes a session of what inlay_session_save has written, on an engine of the same model with the same weight and KV
// types. Pool, threads, chunks and device may differ, and the context, as long as the tokens fit and positions are
// scaled alike. Nothing is computed.
// Thread: any.
// Blocks: for one chunk of each prefill under way, and while it copies and compiles a constraint; takes device memory.
// Ownership: `*session` is the caller's, to be freed with inlay_session_free; it keeps the engine alive.
// On error: `*session` is NULL, nothing has changed, whatever the bytes are: all that they say is checked. FORMAT: the
// bytes are damaged or no saved session; UNSUPPORTED: of another model, KV type, scaling of positions or version.
// Errors: FORMAT, UNSUPPORTED, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
// Since: 1.3.
inlay_status inlay_session_restore(const inlay_engine* engine, const void* state, size_t n_bytes,
                                   inlay_session** session, inlay_error* err);

// inlay_session_restore through a callback, part by part. What lies behind the saved session is not read.
// Thread: any.
// Blocks: on the callback, for one chunk of each prefill under way, and while it copies and compiles a constraint;
// takes device memory.
// Ownership: `*session` is the caller's, to be freed with inlay_session_free; it keeps the engine alive.
// On error: `*session` is NULL, nothing has changed. As inlay_session_restore; IO: the callback failed, native_code is
// what it returned.
// Errors: IO, FORMAT, UNSUPPORTED, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
// Since: 1.3.
inlay_status inlay_session_restore_from(const inlay_engine* engine, const inlay_state_reader* reader,
                                        inlay_session** session, inlay_error* err);

// ---- Messages --------------------------------------------------------------------------------------------------------

// Says in which format the model writes reasoning and calls of tools, by its chat template or as it is given. JSON:
// {"name", "reasoning": whether it has any, "calls": whether it has any, "arguments": "object" or "text", as the
// template takes those of earlier calls, "remark": what was not recognized, empty if all was}.
// Thread: any.
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. FORMAT: the format or the tools are not as they
// should be.
// Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
// Since: 1.3.
inlay_status inlay_chat_get_format(const inlay_engine* engine, const inlay_chat_parser_params* params, char* buf,
                                   size_t cap, size_t* needed, inlay_error* err);

// Makes a parser of one message: tokens or text go in while they are drawn, parts of the message come out. What came
// out is never taken back, and parts together are the same however the message is cut. Whatever a model writes is a
// message: what is not as the format says is content, and MALFORMED is set.
// Thread: any.
// Blocks: no.
// Ownership: `*parser` is the caller's, to be freed with inlay_chat_parser_free; the engine may be freed before.
// On error: `*parser` is NULL. FORMAT: the format or the tools are not as they should be; the message names the place.
// Errors: FORMAT, UNSUPPORTED.
// Since: 1.3.
inlay_status inlay_chat_parser_create(const inlay_engine* engine, const inlay_chat_parser_params* params,
                                      inlay_chat_parser** parser, inlay_error* err);

// Frees a parser. NULL is allowed.
// Thread: exclusive(parser).
// Blocks: no.
// Ownership: The handle is invalid afterwards.
// On error: cannot fail.
// Errors: none.
// Since: 1.3.
void inlay_chat_parser_free(inlay_chat_parser* parser);

// Reads tokens that the model drew. A token that is a marker of the format counts as one, the same letters in other
// tokens do not; other control tokens are nothing.
// Thread: exclusive(parser).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing was read. INVALID_STATE: inlay_chat_parser_finish was called. OUT_OF_MEMORY: the parser is
// unspecified and can only be freed.
// Errors: INVALID_STATE.
// Since: 1.3.
inlay_status inlay_chat_parser_append(inlay_chat_parser* parser, const int32_t* tokens, size_t n_tokens,
                                      inlay_error* err);

// Reads text, which may be cut anywhere, inside of characters too. Letters of markers count where the vocabulary has no
// such token, and with WRITTEN_MARKERS.
// Thread: exclusive(parser).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing was read. INVALID_STATE: inlay_chat_parser_finish was called. OUT_OF_MEMORY: the parser is
// unspecified and can only be freed.
// Errors: INVALID_STATE.
// Since: 1.3.
inlay_status inlay_chat_parser_append_text(inlay_chat_parser* parser, const char* text, size_t text_len,
                                           inlay_error* err);

// Says that the message ended, or was cut: what was held back is given. A second call changes nothing.
// Thread: exclusive(parser).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: OUT_OF_MEMORY: the parser is unspecified and can only be freed.
// Errors: INVALID_STATE.
// Since: 1.3.
inlay_status inlay_chat_parser_finish(inlay_chat_parser* parser, inlay_error* err);

// Takes the parts of the message that are ready, in the order of the text, as far as there is room; what there is no
// room for stays. Texts of REASONING, CONTENT and ARGUMENTS may be cut between characters.
// Thread: exclusive(parser).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: no room for the next part; 1 part and 512 bytes of text are room for any. Nothing is
// taken.
// Errors: BUFFER_TOO_SMALL, INVALID_STATE.
// Since: 1.3.
inlay_status inlay_chat_parser_take(inlay_chat_parser* parser, inlay_chat_delta* deltas, size_t cap_deltas,
                                    size_t delta_stride, char* text, size_t cap_text, size_t* n_deltas,
                                    inlay_error* err);

// Tells where a parser is.
// Thread: exclusive(parser).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: Nothing has changed.
// Errors: INVALID_STATE.
// Since: 1.3.
inlay_status inlay_chat_parser_get_info(inlay_chat_parser* parser, inlay_chat_parser_info* info, inlay_error* err);

// Gives the whole message, whether its parts were taken or not, as JSON that can be appended to the conversation:
// {"role": "assistant", "content"}, with "reasoning_content" and "tool_calls" where there are any. A call is {"id",
// "type": "function", "function": {"name", "arguments"}}; its arguments are an object, or the text of one where the
// chat template wants text, or what there is of a call that was cut, as text.
// Thread: exclusive(parser).
// Blocks: no.
// Ownership: Nothing is kept.
// On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. INVALID_STATE: inlay_chat_parser_finish was not
// called.
// Errors: INVALID_STATE, BUFFER_TOO_SMALL.
// Since: 1.3.
inlay_status inlay_chat_parser_get_message(inlay_chat_parser* parser, char* buf, size_t cap, size_t* needed,
                                           inlay_error* err);

#ifdef __cplusplus
}
#endif

#endif
