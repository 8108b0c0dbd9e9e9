//! Runs a language model inside your program, on the processor or an NVIDIA GPU, with the Inlay library.
//!
//! An [`Engine`] is a model, loaded once; a [`Session`] is one conversation with it; [`Session::generate`] gives the events of a
//! reply, and [`decode_step`] lets many sessions advance together at the price of one reading of the weights. Programs with many
//! prompts at a time submit each [`Request`] to a [`Queue`], or ask for its [`Answer`], and the engine runs them together by itself.
//!
//! ```no_run
//! use inlay::{Engine, GenerateOptions, LoadOptions, SessionOptions};
//!
//! fn main() -> inlay::Result<()> {
//!     let engine = Engine::load("model.gguf", LoadOptions::default())?;
//!     let mut session = engine.session(&SessionOptions::default().max_tokens(100))?;
//!     for event in session.generate("Once upon a time", &GenerateOptions::default())? {
//!         print!("{}", event?.text);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Finding the library
//! With the feature `dlopen`, which is on by default, the library is looked for when the program first needs it: what the
//! environment variable `INLAY_LIBRARY` names, else the platform's usual name in the system's folders. A program that brings
//! it along uses `Library::open`. With the feature `link` the program is linked with it: at build time `INLAY_LIB_DIR` names
//! its folder, or pkg-config knows it.
//!
//! # Threads
//! [`Engine`], [`Queue`] and [`CancelHandle`] are used from any thread at any time. A [`Session`] goes from thread to thread but is used by
//! one at a time. Generations that threads run at a time share their decode steps, so that the weights are read once for all;
//! other calls that compute on one engine run one after the other.
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(not(any(feature = "dlopen", feature = "link")))]
compile_error!("inlay needs one of its features `dlopen` (the default) and `link`");

mod answer;
mod batch;
mod callbacks;
mod cancel;
mod chat;
mod constraint;
mod conversation;
mod display;
#[cfg(feature = "dlopen")]
mod dlopen;
mod engine;
#[rustfmt::skip]
mod enums;
mod error;
mod evaluations;
mod generation;
mod info;
mod library;
mod message;
mod options;
mod queue;
#[allow(clippy::missing_errors_doc)] // its functions name their errors in the C API's way
#[rustfmt::skip]
pub mod raw;
mod request;
mod request_events;
mod sampler;
mod saved;
mod session;
mod texts;
mod waiting;

pub use answer::{Answer, Piece, WholeAnswer};
pub use batch::{decode_abandon, decode_slice, decode_step, Slice};
pub use callbacks::{LogSink, ProgressFn, WakeFn};
pub use cancel::CancelHandle;
pub use chat::{ChatMessage, Conversation};
pub use constraint::{Constraint, ConstraintInfo, ConstraintSource};
pub use conversation::Chat;
pub use engine::Engine;
pub use enums::*;
pub use error::{Error, ErrorKind, Result};
pub use evaluations::Comparison;
pub use generation::{Generation, OwnedGeneration, Reply};
pub use info::{
    DeviceInfo, EngineInfo, Event, Explanation, LogMessage, MemoryInfo, SessionInfo, Stats, TokenComparison, TokenInfo,
    TokenLogprob, TokenScore,
};
pub use library::Library;
pub use message::{MessageOptions, MessageParser, MessagePart, ParsedMessage};
pub use options::{
    ChatEnd, ConvertOptions, EmbedOptions, GenerateOptions, LoadOptions, ProfileOptions, Prompt, ScoreOptions,
    SessionOptions, TokenizeOptions,
};
pub use queue::{Queue, WaitHandle};
pub use request::{QueueOptions, Request, RequestId, RunInfo, RunOptions, ThreadOptions};
pub use request_events::{RequestEnd, RequestEvent, RequestEvents};
pub use sampler::{LogitBias, Sampler};
pub use session::Session;

/// Number of a vocabulary entry.
pub type Token = i32;

/// Most alternatives that one event or score can report.
pub const MAX_LOGPROBS: usize = raw::INLAY_MAX_LOGPROBS;

/// The code of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
