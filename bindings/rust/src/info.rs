//! What the library tells, as values of the program's own.
use crate::{raw, ConstraintState, DeviceKind, FinishReason, LogLevel, Token, TokenKind, WeightDtype};
use std::ffi::c_char;
use std::time::Duration;

/// A text that a zero ends within its room.
fn text(room: &[c_char]) -> String {
    let bytes = room.iter().map(|&c| c as u8).take_while(|&byte| byte != 0).collect();
    crate::error::into_string(bytes)
}

/// A count that the C API has as a signed number and that is never negative.
fn count(n: i32) -> u32 {
    u32::try_from(n).unwrap_or(0)
}

fn token(id: i32) -> Option<Token> {
    (id >= 0).then_some(id)
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// A device that can run a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Processor or GPU.
    pub kind: DeviceKind,
    /// Its number among the devices of its kind: [`LoadOptions::device_index`](crate::LoadOptions::device_index).
    pub index: u32,
    /// Processors that this process may use; multiprocessors of a GPU.
    pub n_units: u32,
    /// Its memory.
    pub total_bytes: u64,
    /// Memory free now.
    pub free_bytes: u64,
    /// Product name.
    pub name: String,
    /// What the kernels will use of it, such as an instruction set.
    pub features: String,
}

impl DeviceInfo {
    pub(crate) fn from_raw(info: &raw::inlay_device_info) -> Self {
        Self {
            kind: DeviceKind::from_raw(info.kind),
            index: count(info.index),
            n_units: count(info.n_units),
            total_bytes: info.total_bytes,
            free_bytes: info.free_bytes,
            name: text(&info.name),
            features: text(&info.features),
        }
    }
}

/// Memory that a load would take, and what its options come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Where the model would run.
    pub device: DeviceKind,
    /// Longest sequence of one session, in tokens.
    pub n_context: u32,
    /// Sessions that may exist at a time.
    pub max_sessions: u32,
    /// Weights in the form that the device computes with.
    pub weight_bytes: u64,
    /// `Fp8` if any matrix would be quantized to it.
    pub weight_dtype: WeightDtype,
    /// The pool of keys and values.
    pub kv_bytes: u64,
    /// Activations, logits and buffers.
    pub scratch_bytes: u64,
    /// The sum.
    pub total_bytes: u64,
    /// Free memory of the device now.
    pub available_bytes: u64,
    /// Memory of the host for blocks whose room in the pool is wanted, at most; not in the sum.
    pub prefix_cache_host_bytes: u64,
}

impl MemoryInfo {
    pub(crate) fn from_raw(info: &raw::inlay_memory_info) -> Self {
        Self {
            device: DeviceKind::from_raw(info.device),
            n_context: count(info.n_context),
            max_sessions: count(info.max_sessions),
            weight_bytes: info.weight_bytes,
            weight_dtype: WeightDtype::from_raw(info.weight_dtype),
            kv_bytes: info.kv_bytes,
            scratch_bytes: info.scratch_bytes,
            total_bytes: info.total_bytes,
            available_bytes: info.available_bytes,
            prefix_cache_host_bytes: info.prefix_cache_host_bytes,
        }
    }
}

/// What [`Library::explain`](crate::Library::explain) found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// Devices that would run the model.
    pub n_devices: u32,
    /// All that was found, for people.
    pub text: String,
}

/// A loaded model's sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineInfo {
    /// Where it runs; never `Auto`.
    pub device: DeviceKind,
    /// Weights.
    pub n_params: u64,
    /// Memory of the weights.
    pub weight_bytes: u64,
    /// `Fp8` if any matrix was quantized to it.
    pub weight_dtype: WeightDtype,
    /// Memory of the pool of keys and values.
    pub kv_bytes: u64,
    /// Rows of logits: ids 0 to `n_vocab` - 1 can be drawn, and are taken wherever an id is given. The tokenizer may have
    /// tokens from `n_vocab` on, which the model cannot run.
    pub n_vocab: u32,
    /// Layers.
    pub n_layers: u32,
    /// Width of the residual stream.
    pub d_model: u32,
    /// Query heads a layer.
    pub n_heads: u32,
    /// Key and value heads a layer.
    pub n_kv_heads: u32,
    /// Width of a head.
    pub d_head: u32,
    /// Width of the feed-forward part.
    pub d_ff: u32,
    /// Context that the model was trained for, in tokens.
    pub n_context_train: u32,
    /// Longest sequence of one session, in tokens.
    pub n_context: u32,
    /// Sessions that may exist at a time.
    pub max_sessions: u32,
    /// Beginning-of-sequence token.
    pub bos: Option<Token>,
    /// End-of-sequence token.
    pub eos: Option<Token>,
    /// Threads that compute.
    pub n_threads: u32,
    /// Text functions work; without it only token ids do.
    pub has_tokenizer: bool,
    /// A tokenized text begins with the BOS token unless told otherwise.
    pub adds_bos: bool,
}

impl EngineInfo {
    pub(crate) fn from_raw(info: &raw::inlay_engine_info) -> Self {
        Self {
            device: DeviceKind::from_raw(info.device),
            n_params: info.n_params,
            weight_bytes: info.weight_bytes,
            weight_dtype: WeightDtype::from_raw(info.weight_dtype),
            kv_bytes: info.kv_bytes,
            n_vocab: count(info.n_vocab),
            n_layers: count(info.n_layers),
            d_model: count(info.d_model),
            n_heads: count(info.n_heads),
            n_kv_heads: count(info.n_kv_heads),
            d_head: count(info.d_head),
            d_ff: count(info.d_ff),
            n_context_train: count(info.n_context_train),
            n_context: count(info.n_context),
            max_sessions: count(info.max_sessions),
            bos: token(info.bos),
            eos: token(info.eos),
            n_threads: count(info.n_threads),
            has_tokenizer: info.flags & raw::INLAY_ENGINE_HAS_TOKENIZER != 0,
            adds_bos: info.flags & raw::INLAY_ENGINE_ADDS_BOS != 0,
        }
    }
}

/// One entry of the vocabulary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TokenInfo {
    /// What it is.
    pub kind: TokenKind,
    /// Drawing it ends the generation.
    pub ends_generation: bool,
    /// It is not text.
    pub is_control: bool,
    /// The vocabulary's score, 0 where it has none.
    pub score: f32,
    /// Length of the whole piece in bytes, which may be more than [`piece`](Self::piece) holds.
    pub piece_bytes: u32,
    /// The bytes that the token stands for in the middle of a text; they need not be whole characters.
    pub piece: Vec<u8>,
}

impl TokenInfo {
    pub(crate) fn from_raw(info: &raw::inlay_token_info) -> Self {
        Self {
            kind: TokenKind::from_raw(info.kind),
            ends_generation: info.flags & raw::INLAY_TOKEN_FLAG_END_OF_GENERATION != 0,
            is_control: info.flags & raw::INLAY_TOKEN_FLAG_CONTROL != 0,
            score: info.score,
            piece_bytes: info.piece_bytes,
            piece: info.piece[..info.piece.len().min(info.piece_bytes as usize)].to_vec(),
        }
    }
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// Why it has finished; `None` while it can go on.
    pub finish_reason: Option<FinishReason>,
    /// Length of the sequence in tokens, the last drawn token included.
    pub n_tokens: u32,
    /// Longest that it can become, in tokens.
    pub n_context: u32,
    /// Tokens drawn since the last prefill or truncation.
    pub n_generated: u32,
    /// Blocks of the pool of keys and values that it uses, those shared with forks included.
    pub n_kv_blocks: u32,
    /// Bytes of text that [`Session::take_text`](crate::Session::take_text) would give.
    pub text_pending: u64,
    /// How many generations have begun, each with a prompt or a truncation. A fork counts from where its parent was.
    pub generation: u64,
    /// Where the generation's text stands under the [constraint](crate::SessionOptions::constraint); `None` where there is none.
    pub constraint_state: Option<ConstraintState>,
}

impl SessionInfo {
    pub(crate) fn from_raw(info: &raw::inlay_session_info) -> Self {
        Self {
            finish_reason: FinishReason::from_raw(info.finish_reason),
            n_tokens: count(info.n_tokens),
            n_context: count(info.n_context),
            n_generated: count(info.n_generated),
            n_kv_blocks: count(info.n_kv_blocks),
            text_pending: info.text_pending,
            generation: info.generation,
            constraint_state: ConstraintState::from_raw(info.constraint_state),
        }
    }
}

/// What an engine has done since it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Sessions that exist now.
    pub n_sessions: u32,
    /// Tokens that prefill ran.
    pub n_prefill_tokens: u64,
    /// Tokens that decode steps drew.
    pub n_decode_tokens: u64,
    /// Decode steps.
    pub n_decode_steps: u64,
    /// Time that the load took.
    pub load_time: Duration,
    /// Time in prefill.
    pub prefill_time: Duration,
    /// Time in decode steps.
    pub decode_time: Duration,
    /// Blocks of the pool of keys and values.
    pub n_kv_blocks: u32,
    /// Blocks in use now; a block that forks share counts once.
    pub n_kv_blocks_used: u32,
    /// Most blocks that were ever in use at once.
    pub n_kv_blocks_peak: u32,
    /// Tokens of a block.
    pub n_block_tokens: u32,
    /// Blocks in the host's memory now, because their room in the pool was wanted
    /// ([`prefix_cache_host_bytes`](crate::LoadOptions#structfield.prefix_cache_host_bytes)).
    pub n_kv_blocks_on_host: u32,
    /// Blocks that went there, that came back from there, and that were given up there for others.
    pub n_kv_blocks_to_host: u64,
    /// See [`n_kv_blocks_to_host`](Self::n_kv_blocks_to_host).
    pub n_kv_blocks_from_host: u64,
    /// See [`n_kv_blocks_to_host`](Self::n_kv_blocks_to_host).
    pub n_kv_blocks_host_dropped: u64,
    /// Bytes of that memory that were taken so far.
    pub prefix_cache_host_bytes_taken: u64,
}

impl Stats {
    pub(crate) fn from_raw(stats: &raw::inlay_stats) -> Self {
        Self {
            n_sessions: count(stats.n_sessions),
            n_prefill_tokens: stats.n_prefill_tokens,
            n_decode_tokens: stats.n_decode_tokens,
            n_decode_steps: stats.n_decode_steps,
            load_time: seconds(stats.load_seconds),
            prefill_time: seconds(stats.prefill_seconds),
            decode_time: seconds(stats.decode_seconds),
            n_kv_blocks: count(stats.n_kv_blocks),
            n_kv_blocks_used: count(stats.n_kv_blocks_used),
            n_kv_blocks_peak: count(stats.n_kv_blocks_peak),
            n_block_tokens: count(stats.n_block_tokens),
            n_kv_blocks_on_host: count(stats.n_kv_blocks_on_host),
            n_kv_blocks_to_host: stats.n_kv_blocks_to_host,
            n_kv_blocks_from_host: stats.n_kv_blocks_from_host,
            n_kv_blocks_host_dropped: stats.n_kv_blocks_host_dropped,
            prefix_cache_host_bytes_taken: stats.prefix_cache_host_bytes_taken,
        }
    }
}

/// One message of an engine's log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogMessage {
    /// Counts from 1.
    pub number: u64,
    /// Importance.
    pub level: LogLevel,
    /// One line.
    pub text: String,
}

/// A token and its probability under the model, before any sampling step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TokenLogprob {
    /// Token id.
    pub token: Token,
    /// Natural logarithm of the probability.
    pub logprob: f32,
}

impl TokenLogprob {
    pub(crate) fn from_raw(raw: &raw::inlay_token_logprob) -> Self {
        Self { token: raw.token, logprob: raw.logprob }
    }
}

/// How likely a token of a text is, given those before it, as [`Engine::score`](crate::Engine::score) found it. All is `None` or
/// empty for tokens at the beginning that were given.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TokenScore {
    /// Natural logarithm of the token's probability under the model.
    pub logprob: Option<f32>,
    /// Tokens that are likelier, or as likely with a lower id; 0: a greedy draw takes this one.
    pub rank: Option<u32>,
    /// What the other engine says of it, where there is one: [`ScoreOptions::against`](crate::ScoreOptions::against).
    pub against: Option<TokenComparison>,
    /// The likeliest tokens in its place, the likeliest first: as many as
    /// [`ScoreOptions::n_logprobs`](crate::ScoreOptions::n_logprobs) asks for.
    pub top: Vec<TokenLogprob>,
}

/// What another engine says of a token of a text, and how far the engines' distributions are apart in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TokenComparison {
    /// As [`TokenScore::logprob`], of the other engine.
    pub logprob: f32,
    /// As [`TokenScore::rank`], of the other engine.
    pub rank: u32,
    /// Kullback-Leibler divergence of this engine's distribution from the other one's, which counts as exact, in nats.
    pub divergence: f32,
    /// The likeliest token of both engines is the same.
    pub same_best: bool,
}

impl TokenScore {
    pub(crate) fn from_raw(raw: &raw::inlay_token_score, top: &[raw::inlay_token_logprob]) -> Self {
        let of_other = |rank| TokenComparison {
            logprob: raw.against_logprob,
            rank,
            divergence: raw.divergence,
            same_best: raw.same_best == 1,
        };
        let rank = u32::try_from(raw.rank).ok();
        Self {
            logprob: rank.map(|_| raw.logprob),
            rank,
            against: u32::try_from(raw.against_rank).ok().map(of_other),
            top: top.iter().filter(|t| t.token >= 0).map(TokenLogprob::from_raw).collect(),
        }
    }
}

/// What one step did to a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// New text in whole characters. What may begin a stop string is held back until that is clear.
    pub text: String,
    /// The drawn token; `None` if the session finished without one.
    pub token: Option<Token>,
    /// Tokens that were drawn, of which `token` is the last: 0 or 1.
    pub n_tokens: u32,
    /// Natural logarithm of the token's probability under the model, before any sampling step.
    pub logprob: f32,
    /// The likeliest tokens, the likeliest first: as many as [`Sampler::n_logprobs`](crate::Sampler::n_logprobs) asks for.
    pub top: Vec<TokenLogprob>,
    /// Why this was the session's last event until its next prefill; `None` if it goes on.
    pub finish_reason: Option<FinishReason>,
    /// Tokens of the latest prompt.
    pub n_prompt: u32,
    /// Tokens drawn since, or since a truncation, this event's included.
    pub n_generated: u32,
}

impl Event {
    /// Without the text that did not fit, and without counts.
    pub(crate) fn from_raw(event: &raw::inlay_event) -> Self {
        let n_text = event.text.len().min(event.text_bytes as usize);
        let n_top = event.top.len().min(count(event.n_logprobs) as usize);
        Self {
            text: crate::error::into_string(event.text[..n_text].iter().map(|&c| c as u8).collect()),
            token: token(event.token),
            n_tokens: count(event.n_tokens),
            logprob: event.logprob,
            top: event.top[..n_top].iter().map(TokenLogprob::from_raw).collect(),
            finish_reason: FinishReason::from_raw(event.finish_reason),
            n_prompt: 0,
            n_generated: 0,
        }
    }
}
