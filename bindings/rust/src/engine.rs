use crate::callbacks::{OwnedSink, Progress};
use crate::error::{call, into_string, read_bytes, read_string};
use crate::info::{EngineInfo, Explanation, LogMessage, MemoryInfo, Stats, TokenInfo, TokenScore};
use crate::steps::Steps;
use crate::TokenizeOptions;
use crate::{
    raw, Chat, ChatEnd, ChatMessage, Conversation, ConvertOptions, ConvertType, EmbedOptions, Library, LoadOptions,
    LogLevel, ProfileForm, ProfileOptions, ProgressFn, Prompt, Result, ScoreOptions, Session, SessionOptions, Status,
    Token, MAX_LOGPROBS,
};
use std::io::{Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Room for a text at the first try.
const TEXT_BYTES: usize = 512;
/// Room for a text that takes a computation, which asking for its size would repeat.
const COMPUTED_TEXT_BYTES: usize = 64 * 1024;

/// One model's weights on one device, with the pool of keys and values and the statistics of its sessions.
///
/// A clone is another reference to the same engine. It may be used from any thread; the engine is freed with its last
/// reference, and each session holds one.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    library: Library,
    engine: *mut raw::inlay_engine,
    steps: Steps,
    /// Freed behind the engine, which calls it.
    _log: Option<OwnedSink>,
}

// SAFETY: all functions that take a const engine may be called from any thread at any time; the last owner alone frees it.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the engine is ours, and its sessions, which keep this alive, have been freed.
        unsafe { (self.library.functions().inlay_free)(self.engine) }
    }
}

/// A difference between two engines, as [`Engine::compare`] found it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// The first operation that differs, counted over both steps.
    pub first: Option<u32>,
    /// A table of all operations.
    pub table: String,
}

/// The texts' tokens one after the other, and how many each has.
fn joined(texts: &[&[Token]]) -> (Vec<Token>, Vec<i32>) {
    (texts.concat(), texts.iter().map(|text| i32::try_from(text.len()).unwrap_or(i32::MAX)).collect())
}

impl Engine {
    /// Loads a model file: GGUF, of which a split one is named by its first file. Uses the [usual](Library::get) library.
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`], [`Status::Unsupported`], [`Status::OutOfMemory`], [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or
    /// [`Status::Cancelled`].
    pub fn load(path: impl AsRef<Path>, options: LoadOptions<'_>) -> Result<Self> {
        Library::get()?.load(path, options)
    }

    /// Loads a model that lies in memory, which is not needed afterwards.
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::Format`], [`Status::Unsupported`],
    /// [`Status::OutOfMemory`], [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or [`Status::Cancelled`].
    pub fn load_memory(model: &[u8], options: LoadOptions<'_>) -> Result<Self> {
        Library::get()?.load_memory(model, options)
    }

    /// Loads a model from a reader: an archive, an asset pack, a decrypting reader. It is not needed afterwards.
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`ErrorKind::Reader`](crate::ErrorKind::Reader),
    /// of which the source is the reader's error; [`Status::Format`], [`Status::Unsupported`], [`Status::OutOfMemory`],
    /// [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or [`Status::Cancelled`].
    pub fn load_reader(reader: impl Read + Seek, options: LoadOptions<'_>) -> Result<Self> {
        Library::get()?.load_reader(reader, options)
    }

    /// What a load of this file would need, from its header alone.
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`], [`Status::Unsupported`] or [`Status::NoDevice`].
    pub fn memory_plan(path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<MemoryInfo> {
        Library::get()?.memory_plan(path, options)
    }

    /// What a model is and which devices would run it, as [`Library::explain`] tells.
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`] or [`Status::Unsupported`].
    pub fn explain(path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<Explanation> {
        Library::get()?.explain(path, options)
    }

    /// The same facts as one JSON object, as [`Library::explain_json`] tells.
    ///
    /// # Errors
    /// Those of [`explain`](Self::explain).
    pub fn explain_json(path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<Explanation> {
        Library::get()?.explain_json(path, options)
    }

    /// Writes a model as a GGUF file with matrices of another type, as [`Library::convert`] does.
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`], [`Status::Unsupported`] or [`Status::Cancelled`].
    pub fn convert(
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        convert_type: ConvertType,
        progress: Option<ProgressFn<'_>>,
    ) -> Result<()> {
        Library::get()?.convert(source, target, convert_type, progress)
    }

    /// As [`Engine::convert`], with all options.
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`], [`Status::Unsupported`] or [`Status::Cancelled`].
    pub fn convert_with(source: impl AsRef<Path>, target: impl AsRef<Path>, options: ConvertOptions<'_>) -> Result<()> {
        Library::get()?.convert_with(source, target, options)
    }

    /// Loads with one of the functions that do, with the callbacks of the options.
    pub(crate) fn make(
        library: Library,
        options: LoadOptions<'_>,
        load: impl FnOnce(*const raw::inlay_load_params, *mut *mut raw::inlay_engine, *mut raw::inlay_error) -> i32,
    ) -> Result<Self> {
        let mut params = options.to_raw();
        let log = options.log.map(OwnedSink::new);
        if let Some(log) = &log {
            log.install(&mut params);
        }
        let mut progress = options.progress.map(Progress::new);
        if let Some(progress) = &mut progress {
            progress.install(&mut params);
        }
        let mut engine = std::ptr::null_mut();
        let loaded = call(|err| load(&params, &mut engine, err))
            .map(|()| Self { shared: Arc::new(Shared { library, engine, steps: Steps::default(), _log: log }) });
        if let Some(progress) = progress {
            progress.resume_panic();
        }
        loaded
    }

    /// The library that the engine is of.
    pub fn library(&self) -> Library {
        self.shared.library
    }

    pub(crate) fn steps(&self) -> &Steps {
        &self.shared.steps
    }

    /// The handle of the C API, for what this crate does not wrap. It is this object's: it must not be freed.
    pub fn as_ptr(&self) -> *const raw::inlay_engine {
        self.shared.engine
    }

    fn functions(&self) -> &'static raw::Functions {
        self.shared.library.functions()
    }

    /// Makes an empty session.
    ///
    /// # Errors
    /// [`Status::SessionLimit`], [`Status::DeviceOutOfMemory`] or [`Status::DeviceLost`].
    pub fn session(&self, options: &SessionOptions) -> Result<Session> {
        Session::new(self, options)
    }

    /// Sizes of the model and of what was allocated for it.
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn info(&self) -> Result<EngineInfo> {
        let mut info = raw::inlay_engine_info::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_engine_get_info)(self.as_ptr(), &mut info, err) })?;
        Ok(EngineInfo::from_raw(&info))
    }

    /// What the engine has done so far.
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn stats(&self) -> Result<Stats> {
        let mut stats = raw::inlay_stats::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_engine_get_stats)(self.as_ptr(), &mut stats, err) })?;
        Ok(Stats::from_raw(&stats))
    }

    /// Number of the model file's metadata entries.
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn meta_count(&self) -> Result<usize> {
        let mut n = 0;
        // SAFETY: the number is ours.
        call(|err| unsafe { (self.functions().inlay_meta_count)(self.as_ptr(), &mut n, err) })?;
        Ok(n)
    }

    /// Key of a metadata entry, in the file's order.
    ///
    /// # Errors
    /// [`Status::NotFound`]. There is no such entry.
    pub fn meta_key(&self, index: usize) -> Result<String> {
        read_string(TEXT_BYTES, |buf, cap, needed, err| {
            // SAFETY: the buffer has room for `cap` bytes.
            unsafe { (self.functions().inlay_meta_key)(self.as_ptr(), index, buf.cast(), cap, needed, err) }
        })
    }

    /// A metadata value as text, such as that of `general.architecture`. An array is written as `[a, b, c]`; a long one is cut
    /// short and says how many elements there are.
    ///
    /// # Errors
    /// [`Status::NotFound`]. There is no such key.
    pub fn meta_value(&self, key: &str) -> Result<String> {
        let (key, key_len) = (key.as_ptr().cast(), key.len());
        read_string(TEXT_BYTES, |buf, cap, needed, err| {
            // SAFETY: the key lives during the call; the buffer has room for `cap` bytes.
            unsafe { (self.functions().inlay_meta_value)(self.as_ptr(), key, key_len, buf.cast(), cap, needed, err) }
        })
    }

    /// All metadata of the model file: keys and values, in its order.
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn meta(&self) -> Result<Vec<(String, String)>> {
        let entry = |index| {
            let key = self.meta_key(index)?;
            let value = self.meta_value(&key)?;
            Ok((key, value))
        };
        (0..self.meta_count()?).map(entry).collect()
    }

    /// Turns text into token ids.
    ///
    /// # Errors
    /// [`Status::Unsupported`]. The model has no tokenizer.
    pub fn tokenize(&self, text: &str, options: TokenizeOptions) -> Result<Vec<Token>> {
        let tokenize = self.functions().inlay_tokenize;
        let (from, n_text, flags) = (text.as_ptr().cast(), text.len(), options.to_raw());
        let mut tokens = vec![0; n_text + 2]; // enough for most texts
        loop {
            let (to, cap, mut n) = (tokens.as_mut_ptr(), tokens.len(), 0);
            // SAFETY: text and room live during the call.
            match call(|err| unsafe { tokenize(self.as_ptr(), from, n_text, flags, to, cap, &mut n, err) }) {
                Err(error) if error.status() == Status::BufferTooSmall && n > tokens.len() => tokens.resize(n, 0),
                Err(error) => return Err(error),
                Ok(()) => {
                    tokens.truncate(n);
                    return Ok(tokens);
                }
            }
        }
    }

    /// Turns token ids into text. Control tokens give their text if `show_special`, else nothing. Where the ids begin or end
    /// inside a character, U+FFFD stands for its part; [`detokenize_bytes`](Self::detokenize_bytes) gives the bytes.
    ///
    /// # Errors
    /// [`Status::Unsupported`]. The model has no tokenizer.
    pub fn detokenize(&self, tokens: &[Token], show_special: bool) -> Result<String> {
        Ok(into_string(self.detokenize_bytes(tokens, show_special)?))
    }

    /// Turns token ids into the bytes that they stand for.
    ///
    /// # Errors
    /// [`Status::Unsupported`]. The model has no tokenizer.
    pub fn detokenize_bytes(&self, tokens: &[Token], show_special: bool) -> Result<Vec<u8>> {
        let flags = if show_special { raw::INLAY_DETOKENIZE_SHOW_SPECIAL } else { 0 };
        read_bytes(TEXT_BYTES, |buf, cap, needed, err| {
            let (from, n) = (tokens.as_ptr(), tokens.len());
            // SAFETY: the tokens live during the call; the buffer has room for `cap` bytes.
            unsafe { (self.functions().inlay_detokenize)(self.as_ptr(), from, n, flags, buf.cast(), cap, needed, err) }
        })
    }

    /// Writes a conversation as the text that the model was trained on: by `template`, or by the model's own if that is
    /// `None`. `conversation` is [messages](crate::ChatMessage), or JSON: an array of messages, or an object of all the template's
    /// variables. The text ends as `end` says; `true` stands for [`ChatEnd::Answer`]. For tokens use
    /// [`chat_tokens`](Self::chat_tokens).
    ///
    /// # Errors
    /// [`Status::Format`] or [`Status::Unsupported`]. The conversation or the template is wrong, or there is no template.
    pub fn chat_text<'c>(
        &self,
        conversation: impl Into<Conversation<'c>>,
        template: Option<&str>,
        end: impl Into<ChatEnd>,
    ) -> Result<String> {
        let conversation = conversation.into().json();
        let params = chat_params(template, end.into());
        read_string(COMPUTED_TEXT_BYTES, |buf, cap, needed, err| {
            let (json, n_json) = (conversation.as_ptr().cast(), conversation.len());
            // SAFETY: the texts live during the call; the buffer has room for `cap` bytes.
            unsafe {
                let render = self.functions().inlay_chat_render;
                render(self.as_ptr(), json, n_json, &params, buf.cast(), cap, needed, err)
            }
        })
    }

    /// Begins a conversation in a session of its own, made with these options. Their `max_tokens` is the longest answer, for
    /// which room is kept; where it is 0, or more than half of the context, it is half of the context. The messages are what was
    /// said before: the system's at the beginning always stay, and a turn is all from a user's message to the next one. There
    /// may be none.
    ///
    /// # Errors
    /// Those of [`Session::new`].
    pub fn chat(&self, options: &SessionOptions, messages: impl IntoIterator<Item = ChatMessage>) -> Result<Chat> {
        Chat::new(self, options, messages.into_iter().collect())
    }

    /// The conversation as tokens, with what [`chat_text`](Self::chat_text) takes. Only the template's own control tokens
    /// count: those that messages or other values of the conversation have in writing are text.
    ///
    /// # Errors
    /// [`Status::Format`] or [`Status::Unsupported`]. The conversation or the template is wrong, or there is no template.
    pub fn chat_tokens<'c>(
        &self,
        conversation: impl Into<Conversation<'c>>,
        template: Option<&str>,
        end: impl Into<ChatEnd>,
    ) -> Result<Vec<Token>> {
        let conversation = conversation.into().json();
        let params = chat_params(template, end.into());
        let (json, n_json) = (conversation.as_ptr().cast(), conversation.len());
        let tokenize = self.functions().inlay_chat_tokenize;
        let mut n = 0;
        // SAFETY: the texts live during the call; without a buffer only the number is told.
        call(|err| unsafe { tokenize(self.as_ptr(), json, n_json, &params, std::ptr::null_mut(), 0, &mut n, err) })?;
        let mut tokens = vec![0; n];
        // SAFETY: the texts live during the call; the buffer has room for `n` tokens.
        call(|err| unsafe {
            tokenize(self.as_ptr(), json, n_json, &params, tokens.as_mut_ptr(), tokens.len(), &mut n, err)
        })?;
        tokens.truncate(n);
        Ok(tokens)
    }

    /// Describes one token.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] or [`Status::Unsupported`]. There is no such token, or no tokenizer.
    pub fn token_info(&self, token: Token) -> Result<TokenInfo> {
        let mut info = raw::inlay_token_info::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_token_get_info)(self.as_ptr(), token, &mut info, err) })?;
        Ok(TokenInfo::from_raw(&info))
    }

    /// Turns texts, or their tokens, into vectors: the final hidden states of each, pooled. They have the model's width; with
    /// [`Pooling::Default`] that of the layers that its files have behind the pooling. Each runs in a session of its own, several
    /// at once where sessions are free. A text has the default prompt, and the BOS and EOS tokens, that the model asks for.
    ///
    /// # Errors
    /// [`Status::Unsupported`], [`Status::ContextFull`], [`Status::KvFull`], [`Status::SessionLimit`], [`Status::InvalidState`] or
    /// [`Status::DeviceLost`].
    pub fn embed<'p, P: Into<Prompt<'p>>>(
        &self,
        texts: impl IntoIterator<Item = P>,
        options: EmbedOptions,
    ) -> Result<Vec<Vec<f32>>> {
        self.embed_inputs(texts.into_iter().map(embed_input).collect(), options, None)
    }

    /// As [`embed`](Self::embed). After each step `progress` is told how many tokens were run, and how many there are; `Break` ends
    /// it there. It must not call the library.
    ///
    /// # Errors
    /// Those of [`embed`](Self::embed); [`Status::Cancelled`] if `progress` breaks.
    pub fn embed_with<'p, P: Into<Prompt<'p>>>(
        &self,
        texts: impl IntoIterator<Item = P>,
        options: EmbedOptions,
        progress: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Vec<Vec<f32>>> {
        self.embed_inputs(
            texts.into_iter().map(embed_input).collect(),
            options,
            Some(Progress::new(Box::new(progress))),
        )
    }

    /// What the inputs point to must live during the call.
    fn embed_inputs(
        &self,
        inputs: Vec<raw::inlay_embed_input>,
        options: EmbedOptions,
        mut progress: Option<Progress<'_>>,
    ) -> Result<Vec<Vec<f32>>> {
        let mut params = options.to_raw();
        if let Some(progress) = &mut progress {
            progress.install_in_embedding(&mut params);
        }
        let (from, n, stride) = (inputs.as_ptr(), inputs.len(), size_of::<raw::inlay_embed_input>());
        let mut n_values = 0;
        // SAFETY: inputs and parameters live during the call; without a buffer only the number is told.
        call(|err| unsafe {
            let (to, needed) = (std::ptr::null_mut(), &mut n_values);
            (self.functions().inlay_embed)(self.as_ptr(), from, n, stride, &params, to, 0, needed, err)
        })?;
        let width = n_values / n.max(1);
        let mut out = vec![0f32; n_values];
        let embedded = call(|err| {
            // SAFETY: inputs, parameters and progress live during the call; the buffer has room for what it is said to.
            unsafe {
                let (to, cap, needed) = (out.as_mut_ptr(), out.len(), std::ptr::null_mut());
                (self.functions().inlay_embed)(self.as_ptr(), from, n, stride, &params, to, cap, needed, err)
            }
        });
        if let Some(progress) = progress {
            progress.resume_panic();
        }
        embedded?;
        Ok(out.chunks(width.max(1)).map(<[f32]>::to_vec).collect())
    }

    /// Tells how likely each token of texts is, given those before it: for perplexities, choices between answers, and what a
    /// quantization costs. Nothing is drawn. Each text runs in a session of its own, several at once where sessions are free.
    /// There is a score for each token, of which the first [`n_given`](ScoreOptions::n_given) are empty.
    ///
    /// # Errors
    /// [`Status::ContextFull`], [`Status::KvFull`], [`Status::SessionLimit`], [`Status::InvalidState`], [`Status::DeviceLost`],
    /// [`Status::Format`], or [`Status::Cancelled`] if the progress function breaks.
    pub fn score(&self, texts: &[&[Token]], options: ScoreOptions<'_>) -> Result<Vec<Vec<TokenScore>>> {
        let mut params = options.to_raw();
        let against = match options.against {
            Some(other) => {
                crate::session::check_library(self.library(), other.library())?;
                other.as_ptr()
            }
            None => std::ptr::null(),
        };
        let (tokens, lengths) = joined(texts);
        let n_top = MAX_LOGPROBS.min(options.n_logprobs as usize); // the library refuses more
        let mut scores = vec![raw::inlay_token_score::default(); tokens.len()];
        let mut top = vec![raw::inlay_token_logprob::default(); tokens.len() * n_top];
        let mut progress = options.progress.map(Progress::new);
        if let Some(progress) = &mut progress {
            progress.install_in_scoring(&mut params);
        }
        let scored = call(|err| {
            // SAFETY: engines, tokens, lengths, parameters and progress live during the call; the results have room for what they
            // are said to.
            unsafe {
                let (ids, n, counts) = (tokens.as_ptr(), tokens.len(), lengths.as_ptr());
                let (to, stride) = (scores.as_mut_ptr(), size_of::<raw::inlay_token_score>());
                let (likeliest, cap) = (top.as_mut_ptr(), top.len());
                let score = self.functions().inlay_score;
                score(self.as_ptr(), against, ids, n, counts, texts.len(), &params, to, stride, likeliest, cap, err)
            }
        });
        if let Some(progress) = progress {
            progress.resume_panic();
        }
        scored?;
        let mut each =
            scores.iter().enumerate().map(|(i, s)| TokenScore::from_raw(s, &top[i * n_top..(i + 1) * n_top]));
        Ok(texts.iter().map(|text| each.by_ref().take(text.len()).collect()).collect())
    }

    /// The list of operations that a step runs: one line an operation, with its bytes and its floating-point operations for
    /// one token.
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn plan_text(&self) -> Result<String> {
        read_string(COMPUTED_TEXT_BYTES, |buf, cap, needed, err| {
            // SAFETY: the buffer has room for `cap` bytes.
            unsafe { (self.functions().inlay_plan_text)(self.as_ptr(), buf.cast(), cap, needed, err) }
        })
    }

    /// The messages that the engine's ring still holds of those after number `after`; 0 for all.
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn logs(&self, after: u64) -> Result<Vec<LogMessage>> {
        let (mut out, mut number) = (Vec::new(), after);
        loop {
            let mut level = 0;
            let text = read_string(TEXT_BYTES, |buf, cap, needed, err| {
                // SAFETY: the buffer has room for `cap` bytes; the other results are ours.
                unsafe {
                    (self.functions().inlay_log_read)(
                        self.as_ptr(),
                        &mut number,
                        &mut level,
                        buf.cast(),
                        cap,
                        needed,
                        err,
                    )
                }
            });
            match text {
                Ok(text) => out.push(LogMessage { number, level: LogLevel::from_raw(level), text }),
                Err(error) if error.status() == Status::NotFound => return Ok(out),
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs a step of fixed tokens again and again, in a session of its own: whole, then with a time for each operation, and
    /// measures how fast the device reads memory. The engine keeps its latest 16 profiles.
    ///
    /// # Errors
    /// [`Status::SessionLimit`], [`Status::KvFull`], [`Status::DeviceOutOfMemory`], [`Status::InvalidState`] or
    /// [`Status::DeviceLost`].
    pub fn profile_step(&self, options: ProfileOptions) -> Result<()> {
        let params = options.to_raw();
        // SAFETY: the parameters live during the call.
        call(|err| unsafe { (self.functions().inlay_profile_step)(self.as_ptr(), &params, err) })
    }

    /// What [`profile_step`](Self::profile_step) measured.
    ///
    /// # Errors
    /// [`Status::NotFound`]. Nothing was profiled yet.
    pub fn profile_text(&self, form: ProfileForm) -> Result<String> {
        read_string(COMPUTED_TEXT_BYTES, |buf, cap, needed, err| {
            // SAFETY: the buffer has room for `cap` bytes.
            unsafe { (self.functions().inlay_profile_text)(self.as_ptr(), form.to_raw(), buf.cast(), cap, needed, err) }
        })
    }

    /// Runs the same tokens in two engines, of which this one's values count as right, and tells how far apart each
    /// operation's values are. A normalized squared error above `nmse_limit` counts as different.
    ///
    /// # Errors
    /// [`Status::SessionLimit`], [`Status::ContextFull`], [`Status::KvFull`], [`Status::Unsupported`], [`Status::InvalidState`] or
    /// [`Status::DeviceLost`].
    pub fn compare(&self, other: &Engine, tokens: &[Token], nmse_limit: f64) -> Result<Comparison> {
        crate::session::check_library(self.library(), other.library())?;
        let (a, b, n, mut first) = (self.as_ptr(), other.as_ptr(), tokens.len(), -1);
        let compare = self.functions().inlay_compare_text;
        let table = read_string(COMPUTED_TEXT_BYTES, |buf, cap, needed, err| {
            // SAFETY: both engines and the tokens live during the call; the buffer has room for `cap` bytes.
            unsafe { compare(a, b, tokens.as_ptr(), n, nmse_limit, &mut first, buf.cast(), cap, needed, err) }
        })?;
        Ok(Comparison { first: u32::try_from(first).ok(), table })
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Engine({:p})", self.as_ptr())
    }
}

/// A text to embed, which must live as long.
fn embed_input<'p>(text: impl Into<Prompt<'p>>) -> raw::inlay_embed_input {
    let none = raw::inlay_embed_input { tokens: std::ptr::null(), n_tokens: 0, text: std::ptr::null(), text_len: 0 };
    match text.into() {
        Prompt::Tokens(tokens) => raw::inlay_embed_input { tokens: tokens.as_ptr(), n_tokens: tokens.len(), ..none },
        Prompt::Text(text) => raw::inlay_embed_input { text: text.as_ptr().cast(), text_len: text.len(), ..none },
    }
}

/// The parameters of a conversation; the template must live as long.
fn chat_params(template: Option<&str>, end: ChatEnd) -> raw::inlay_chat_params {
    raw::inlay_chat_params {
        flags: match end {
            ChatEnd::Conversation => 0,
            ChatEnd::Answer => raw::INLAY_CHAT_ADD_GENERATION_PROMPT,
            ChatEnd::LastMessage => raw::INLAY_CHAT_CONTINUE_FINAL_MESSAGE,
        },
        chat_template: template.map_or(std::ptr::null(), |text| text.as_ptr().cast()),
        template_len: template.map_or(0, str::len),
        ..Default::default()
    }
}
