use crate::callbacks::{LogSink, ProgressFn};
use crate::sampler::{LogitBias, Sampler};
use crate::session::raw_text;
use crate::{
    raw, Constraint, ConvertType, DeviceKind, Engine, KvDtype, Library, LogLevel, Pooling, Result, Token, WeightDtype,
};
use std::ops::ControlFlow;

/// A count as the C API wants it; one that is too large for it stays too large for the library, which says so.
pub(crate) fn count(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// Methods that set a field and give the options back, for options that are written in one expression.
macro_rules! setters {
    ($(impl[$($lifetime:lifetime)?] $options:ty { $($field:ident: $type:ty,)* })*) => {
        $(impl$(<$lifetime>)? $options {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        })*
    };
}

pub(crate) use setters;

setters! {
    impl['a] LoadOptions<'a> {
        device: DeviceKind,
        device_index: u32,
        n_context: u32,
        max_sessions: u32,
        n_threads: u32,
        kv_budget_bytes: u64,
        prefix_cache_host_bytes: u64,
        kv_dtype: KvDtype,
        weight_dtype: WeightDtype,
        pre_tokenizer: impl Into<Option<&'a str>>,
        tuning: impl Into<Option<&'a str>>,
        prefill_chunk: u32,
        log_level: LogLevel,
        no_cublas: bool,
        run_ahead: bool,
        take_pages_later: bool,
        exact_activations: bool,
        no_prefix_cache: bool,
    }
    impl['a] ConvertOptions<'a> {
        convert_type: ConvertType,
        n_threads: u32,
    }
    impl[] Sampler {
        temperature: f32,
        top_k: u32,
        top_p: f32,
        min_p: f32,
        repetition_penalty: f32,
        frequency_penalty: f32,
        presence_penalty: f32,
        penalty_window: i32,
        n_logprobs: u32,
        seed: u64,
        bias: impl Into<Vec<LogitBias>>,
        typical_p: f32,
        top_n_sigma: f32,
        dynatemp_range: f32,
        dynatemp_exponent: f32,
        xtc_probability: f32,
        xtc_threshold: f32,
        mirostat_tau: f32,
        mirostat_eta: f32,
        adaptive_target: f32,
        adaptive_decay: f32,
        dry_multiplier: f32,
        dry_base: f32,
        dry_allowed_length: u32,
        dry_window: i32,
        no_dry_breakers: bool,
        temperature_last: bool,
        spare_end_tokens: bool,
    }
    impl[] SessionOptions {
        sampler: Sampler,
        stream: u64,
        max_tokens: u32,
        ignore_end_of_generation: bool,
        reserve: bool,
        for_requests: bool,
        stop_tokens: impl Into<Vec<Token>>,
        constraint: impl Into<Option<Constraint>>,
    }
    impl[] GenerateOptions {
        sampler: Sampler,
        max_tokens: u32,
        constraint: Constraint,
        tokenize: TokenizeOptions,
    }
    impl[] TokenizeOptions {
        no_bos_eos: bool,
        always_bos_eos: bool,
        parse_special: bool,
    }
    impl[] EmbedOptions {
        pooling: Pooling,
        normalize: bool,
        without_prompt: bool,
    }
    impl['a] ScoreOptions<'a> {
        n_given: u32,
        n_logprobs: u32,
        against: impl Into<Option<&'a Engine>>,
    }
    impl[] ProfileOptions {
        n_tokens: u32,
        n_past: u32,
        n_repetitions: u32,
    }
}

/// How a model is loaded. Zero means default. Options may be added, so other crates write
/// `LoadOptions::default().n_context(2048)`, or set fields of a default.
#[derive(Default)]
#[non_exhaustive]
pub struct LoadOptions<'a> {
    /// Where the model runs.
    pub device: DeviceKind,
    /// Which device of that kind.
    pub device_index: u32,
    /// Longest sequence of one session, in tokens. Default: what the model was trained for, at most 4096.
    pub n_context: u32,
    /// Sessions that may exist at a time. Default: 8. Range: 0 to 1024.
    pub max_sessions: u32,
    /// Threads that compute, the calling one included. Default: all cores that the process may use. Range: 0 to 1024.
    pub n_threads: u32,
    /// Bytes of the pool of keys and values that all sessions share. Default: `max_sessions` times `n_context`, at most 2 GiB
    /// but one `n_context` at least.
    pub kv_budget_bytes: u64,
    /// Bytes of the host's memory for blocks that requests may find again, but whose room in the pool is wanted. Default: none.
    pub prefix_cache_host_bytes: u64,
    /// Type of the stored keys and values.
    pub kv_dtype: KvDtype,
    /// Type in which the weights are held.
    pub weight_dtype: WeightDtype,
    /// How byte-level BPE of a GGUF file splits text: a name as in `tokenizer.ggml.pre`. Default: the file's.
    pub pre_tokenizer: Option<&'a str>,
    /// What changes speed alone, for those who measure: key=value pairs, such as `isa=avx2`, with blanks or commas between. Keys
    /// may come and go in any version; an unknown one is refused, and the error lists the known ones.
    pub tuning: Option<&'a str>,
    /// Tokens that a prefill runs at a time: the grain of its cancel. Default: 512, on a GPU 1024. Range: 0 to 4096.
    pub prefill_chunk: u32,
    /// Least important messages to keep and to report.
    pub log_level: LogLevel,
    /// CUDA: prompts are multiplied by the library's own kernels, even where the machine has cuBLASLt.
    pub no_cublas: bool,
    /// CUDA: a decode step begins the next one of the same sessions before it returns, so that the device need not wait for
    /// the host. If anything else comes than that step, it waits until the device is done with it.
    pub run_ahead: bool,
    /// CPU: memory for the activations of long prompts is taken from the system when it is first used, not beside the reading of
    /// weights.
    pub take_pages_later: bool,
    /// CPU: products of quantized weights take all activations in 16 bits, not only the third of them that holds most of the
    /// error. Prompts take longer.
    pub exact_activations: bool,
    /// Requests compute all of their prompts, also what others have computed before and is still there.
    pub no_prefix_cache: bool,
    /// Called with every message for as long as the engine or a session of it lives. It must not call the library, and what
    /// it owns lives as long: an [`Engine`](crate::Engine) that it owns would never be freed.
    pub log: Option<LogSink>,
    /// Called at least once a second during the load, on the thread that loads. It must not call the library.
    pub progress: Option<ProgressFn<'a>>,
}

impl<'a> LoadOptions<'a> {
    /// Sets [`log`](Self#structfield.log).
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let engine = Engine::load(model, LoadOptions::default().log(|level, text| eprintln!("{level:?}: {text}")))?;
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn log(mut self, log: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        self.log = Some(Box::new(log));
        self
    }

    /// Sets [`progress`](Self#structfield.progress).
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let options = LoadOptions::default().progress(|done, total| {
    ///     eprintln!("{done} of {total} bytes");
    ///     std::ops::ControlFlow::Continue(())
    /// });
    /// let engine = Engine::load(model, options)?;
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn progress(mut self, progress: impl FnMut(u64, u64) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// The parameters without the callbacks.
    pub(crate) fn to_raw(&self) -> raw::inlay_load_params {
        raw::inlay_load_params {
            device: self.device.to_raw(),
            device_index: count(self.device_index),
            n_context: count(self.n_context),
            max_sessions: count(self.max_sessions),
            n_threads: count(self.n_threads),
            kv_budget_bytes: self.kv_budget_bytes,
            prefix_cache_host_bytes: self.prefix_cache_host_bytes,
            kv_dtype: self.kv_dtype.to_raw(),
            weight_dtype: self.weight_dtype.to_raw(),
            pre_tokenizer: self.pre_tokenizer.map_or(std::ptr::null(), |name| name.as_ptr().cast()),
            pre_tokenizer_len: self.pre_tokenizer.map_or(0, str::len),
            tuning: self.tuning.map_or(std::ptr::null(), |text| text.as_ptr().cast()),
            tuning_len: self.tuning.map_or(0, str::len),
            prefill_chunk: count(self.prefill_chunk),
            log_level: self.log_level.to_raw(),
            flags: if self.no_cublas { raw::INLAY_LOAD_NO_CUBLAS } else { 0 }
                | if self.run_ahead { raw::INLAY_LOAD_RUN_AHEAD } else { 0 }
                | if self.take_pages_later { raw::INLAY_LOAD_TAKE_PAGES_LATER } else { 0 }
                | if self.exact_activations { raw::INLAY_LOAD_EXACT_ACTIVATIONS } else { 0 }
                | if self.no_prefix_cache { raw::INLAY_LOAD_NO_PREFIX_CACHE } else { 0 },
            ..Default::default()
        }
    }
}

impl std::fmt::Debug for LoadOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadOptions")
            .field("device", &self.device)
            .field("device_index", &self.device_index)
            .field("n_context", &self.n_context)
            .field("max_sessions", &self.max_sessions)
            .field("n_threads", &self.n_threads)
            .field("kv_budget_bytes", &self.kv_budget_bytes)
            .field("prefix_cache_host_bytes", &self.prefix_cache_host_bytes)
            .field("kv_dtype", &self.kv_dtype)
            .field("weight_dtype", &self.weight_dtype)
            .field("pre_tokenizer", &self.pre_tokenizer)
            .field("tuning", &self.tuning)
            .field("prefill_chunk", &self.prefill_chunk)
            .field("log_level", &self.log_level)
            .field("no_cublas", &self.no_cublas)
            .field("run_ahead", &self.run_ahead)
            .field("take_pages_later", &self.take_pages_later)
            .field("exact_activations", &self.exact_activations)
            .field("no_prefix_cache", &self.no_prefix_cache)
            .finish_non_exhaustive()
    }
}

/// How a model is converted. Zero means default.
#[derive(Default)]
#[non_exhaustive]
pub struct ConvertOptions<'a> {
    /// Type of the matrices.
    pub convert_type: ConvertType,
    /// Threads that compute, the calling one included. Default: all cores that the process may use. Range: 0 to 1024.
    pub n_threads: u32,
    /// Called with warnings: what of a folder's tokenizer other programs will not read in the file. It must not call the
    /// library.
    pub log: Option<LogSink>,
    /// Is told the bytes of the source that are done, and all, on the thread that converts. It must not call the library.
    pub progress: Option<ProgressFn<'a>>,
}

impl<'a> ConvertOptions<'a> {
    /// Sets [`log`](Self#structfield.log).
    ///
    /// ```
    /// # use inlay::*;
    /// let options = ConvertOptions::default().log(|_, text| eprintln!("{text}"));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn log(mut self, log: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        self.log = Some(Box::new(log));
        self
    }

    /// Sets [`progress`](Self#structfield.progress).
    ///
    /// ```
    /// # use inlay::*;
    /// let options = ConvertOptions::default().progress(|_, _| std::ops::ControlFlow::Continue(()));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn progress(mut self, progress: impl FnMut(u64, u64) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// The parameters without the callbacks.
    pub(crate) fn to_raw(&self) -> raw::inlay_convert_params {
        raw::inlay_convert_params {
            struct_size: std::mem::size_of::<raw::inlay_convert_params>() as u32,
            r#type: self.convert_type.to_raw(),
            n_threads: count(self.n_threads),
            ..Default::default()
        }
    }
}

impl std::fmt::Debug for ConvertOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConvertOptions")
            .field("convert_type", &self.convert_type)
            .field("n_threads", &self.n_threads)
            .finish_non_exhaustive()
    }
}

/// How a session generates. Zero means default.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionOptions {
    /// How tokens are drawn.
    pub sampler: Sampler,
    /// Tells sessions with one seed apart: another stream, other random numbers.
    pub stream: u64,
    /// Tokens to draw after each prefill before the session finishes. 0: no limit but the context.
    pub max_tokens: u32,
    /// End tokens are drawn like others and do not finish the session.
    pub ignore_end_of_generation: bool,
    /// Each prefill also takes the KV blocks for `max_tokens`, or up to the context, or ends with status `KvFull`: the
    /// generation after it does not.
    pub reserve: bool,
    /// The session is what requests continue ([`Request::continues`](crate::Request::continues)): it keeps tokens and sampler from one to
    /// the next. It has no place among [`max_sessions`](LoadOptions::max_sessions), and its KV blocks stay until their room is wanted.
    /// Prompts, steps and shifts of its own are refused with status `InvalidState`; calls are `Busy` while a request has it.
    pub for_requests: bool,
    /// Tokens that end a generation when drawn, at most 1024.
    pub stop_tokens: Vec<crate::Token>,
    /// Texts that end a generation, each of 1 to 1024 bytes, at most 64.
    pub stop: Vec<String>,
    /// What each generation may write, from its first drawn token on; one of the same engine. `None`: anything. Refused with
    /// `ignore_end_of_generation`, since the constraint says where a text ends.
    pub constraint: Option<Constraint>,
}

impl SessionOptions {
    /// Sets [`stop`](Self#structfield.stop).
    ///
    /// ```
    /// # use inlay::*;
    /// let options = SessionOptions::default().stop(["\n\n"]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn stop(mut self, stop: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stop = stop.into_iter().map(Into::into).collect();
        self
    }

    /// Makes a call with the options as the C API wants them.
    pub(crate) fn with_raw(
        &self,
        library: Library,
        function: impl FnOnce(&raw::inlay_session_params) -> Result<()>,
    ) -> Result<()> {
        let constraint = Constraint::of(self.constraint.as_ref(), library)?;
        let stops: Vec<_> = self.stop.iter().map(|text| raw_text(text)).collect();
        self.sampler.with_raw(|sampler| {
            function(&raw::inlay_session_params {
                flags: (if self.ignore_end_of_generation { raw::INLAY_SESSION_IGNORE_END_OF_GENERATION } else { 0 })
                    | (if self.reserve { raw::INLAY_SESSION_RESERVE } else { 0 })
                    | if self.for_requests { raw::INLAY_SESSION_FOR_REQUESTS } else { 0 },
                sampler,
                stream: self.stream,
                max_tokens: count(self.max_tokens),
                stop_tokens: if self.stop_tokens.is_empty() { std::ptr::null() } else { self.stop_tokens.as_ptr() },
                n_stop_tokens: self.stop_tokens.len(),
                stops: if stops.is_empty() { std::ptr::null() } else { stops.as_ptr() },
                n_stops: stops.len(),
                constraint,
                ..Default::default()
            })
        })
    }
}

/// What [`Session::generate`](crate::Session::generate) changes before it runs the prompt.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GenerateOptions {
    /// How tokens are drawn from now on. `None`: as before.
    pub sampler: Option<Sampler>,
    /// Texts that end a generation from now on, each of 1 to 1024 bytes, at most 64. `None`: as before.
    pub stop: Option<Vec<String>>,
    /// Tokens to draw after this prompt and later ones before the session finishes; 0: no limit but the context. `None`: as
    /// before.
    pub max_tokens: Option<u32>,
    /// What this generation and later ones may write. `None`: as before.
    pub constraint: Option<Constraint>,
    /// How a prompt that is text becomes tokens. BOS and EOS are part of it only where the session is empty, unless
    /// [`always_bos_eos`](TokenizeOptions::always_bos_eos) is set.
    pub tokenize: TokenizeOptions,
}

impl GenerateOptions {
    /// Sets [`stop`](Self#structfield.stop).
    ///
    /// ```
    /// # use inlay::*;
    /// let options = GenerateOptions::default().max_tokens(100).stop(["\n\n", "END"]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn stop(mut self, stop: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stop = Some(stop.into_iter().map(Into::into).collect());
        self
    }
}

/// How text becomes tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenizeOptions {
    /// Leave out the BOS and EOS tokens that the model asks for. A prompt has them only where its session is empty, unless
    /// `always_bos_eos`.
    pub no_bos_eos: bool,
    /// A prompt has the BOS and EOS tokens that the model asks for even where its session has tokens already. For
    /// [`Engine::tokenize`](crate::Engine::tokenize), which knows no session, it changes nothing.
    pub always_bos_eos: bool,
    /// Control tokens written in the text become their ids. Not for untrusted text.
    pub parse_special: bool,
}

impl TokenizeOptions {
    pub(crate) fn to_raw(self) -> raw::inlay_tokenize_flags {
        (if self.no_bos_eos { raw::INLAY_TOKENIZE_NO_BOS_EOS } else { 0 })
            | (if self.parse_special { raw::INLAY_TOKENIZE_PARSE_SPECIAL } else { 0 })
    }
}

/// What [`Engine::embed`](crate::Engine::embed) makes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbedOptions {
    /// How the final hidden states of its tokens become one vector. Default: as the model's metadata say.
    pub pooling: Pooling,
    /// Scaled to length 1, so that a scalar product of two is their cosine.
    pub normalize: bool,
    /// Texts without the model's default prompt in front.
    pub without_prompt: bool,
}

impl EmbedOptions {
    pub(crate) fn to_raw(self) -> raw::inlay_embed_params {
        raw::inlay_embed_params {
            pooling: self.pooling.to_raw(),
            flags: if self.normalize { raw::INLAY_EMBED_NORMALIZE } else { 0 }
                | if self.without_prompt { raw::INLAY_EMBED_NO_PROMPT } else { 0 },
            ..Default::default()
        }
    }
}

/// Where the text of a conversation ends. `true` is [`Answer`](Self::Answer), `false` [`Conversation`](Self::Conversation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatEnd {
    /// Behind the last message.
    Conversation,
    /// Where the model's answer begins.
    Answer,
    /// Where the last message's text ends, for the model to go on with it.
    LastMessage,
}

impl From<bool> for ChatEnd {
    fn from(answer: bool) -> Self {
        if answer {
            Self::Answer
        } else {
            Self::Conversation
        }
    }
}

/// What [`Engine::score`](crate::Engine::score) tells of texts. Zero means default.
#[derive(Default)]
#[non_exhaustive]
pub struct ScoreOptions<'a> {
    /// Tokens at the beginning of each text that are context and have no scores. Default: 1, which has nothing before it.
    pub n_given: u32,
    /// Likeliest tokens to report beside each token, at most [`MAX_LOGPROBS`](crate::MAX_LOGPROBS). Range: 0 to 20.
    pub n_logprobs: u32,
    /// Another engine of the same vocabulary, whose distributions count as exact: both run, and are compared.
    pub against: Option<&'a Engine>,
    /// Is told after each step the tokens that were run, and all, on the thread that calls. It must not call the library.
    pub progress: Option<ProgressFn<'a>>,
}

impl<'a> ScoreOptions<'a> {
    /// Sets [`progress`](Self#structfield.progress).
    ///
    /// ```
    /// # use inlay::*;
    /// let options = ScoreOptions::default().progress(|_, _| std::ops::ControlFlow::Continue(()));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn progress(mut self, progress: impl FnMut(u64, u64) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// The parameters without the callback.
    pub(crate) fn to_raw(&self) -> raw::inlay_score_params {
        raw::inlay_score_params {
            n_given: count(self.n_given),
            n_logprobs: count(self.n_logprobs),
            ..Default::default()
        }
    }
}

impl std::fmt::Debug for ScoreOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScoreOptions")
            .field("n_given", &self.n_given)
            .field("n_logprobs", &self.n_logprobs)
            .field("against", &self.against)
            .finish_non_exhaustive()
    }
}

/// Which step [`Engine::profile_step`](crate::Engine::profile_step) measures. Zero means default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileOptions {
    /// Tokens of the step, at most `prefill_chunk`. Default: 1, a decode step, which draws.
    pub n_tokens: u32,
    /// Tokens in the session before the step.
    pub n_past: u32,
    /// How often it is run; times are medians. Default: 20. Range: 0 to 10000.
    pub n_repetitions: u32,
}

impl ProfileOptions {
    pub(crate) fn to_raw(self) -> raw::inlay_profile_params {
        raw::inlay_profile_params {
            n_tokens: count(self.n_tokens),
            n_past: count(self.n_past),
            n_repetitions: count(self.n_repetitions),
            ..Default::default()
        }
    }
}

/// What a session is to read: text, or tokens.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Prompt<'a> {
    /// Text, which the model's tokenizer splits.
    Text(&'a str),
    /// Token ids, as they are.
    Tokens(&'a [Token]),
}

impl<'a> From<&'a str> for Prompt<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Prompt<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [Token]> for Prompt<'a> {
    fn from(tokens: &'a [Token]) -> Self {
        Self::Tokens(tokens)
    }
}

impl<'a> From<&'a Vec<Token>> for Prompt<'a> {
    fn from(tokens: &'a Vec<Token>) -> Self {
        Self::Tokens(tokens)
    }
}

impl<'a, const N: usize> From<&'a [Token; N]> for Prompt<'a> {
    fn from(tokens: &'a [Token; N]) -> Self {
        Self::Tokens(tokens)
    }
}
