//! What an engine computes without a session of the program's, and what it tells of its work.
use crate::callbacks::Progress;
use crate::engine::{COMPUTED_TEXT_BYTES, TEXT_BYTES};
use crate::error::{call, read_string};
use crate::{
    raw, EmbedOptions, Engine, LogLevel, LogMessage, ProfileForm, ProfileOptions, Prompt, Result, ScoreOptions, Status,
    Token, TokenScore, MAX_LOGPROBS,
};
use std::ops::ControlFlow;

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
    /// Turns texts, or their tokens, into vectors: the final hidden states of each, pooled. They have the model's width; with
    /// [`Pooling::Default`](crate::Pooling::Default) that of the layers that its files have behind the pooling. Each runs in a
    /// session of its own, several at once where sessions are free. A text has the default prompt, and the BOS and EOS tokens, that
    /// the model asks for.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let options = EmbedOptions::default().pooling(Pooling::Mean).normalize(true);
    /// let vectors = engine.embed(["A fox in the woods.", "A fox in the forest."], options)?;
    /// let likeness: f32 = vectors[0].iter().zip(&vectors[1]).map(|(a, b)| a * b).sum();
    /// assert!(likeness <= 1.001);
    /// # Ok::<(), Error>(())
    /// ```
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
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let texts = ["A fox in the woods.", "A queen in a castle."];
    /// let vectors = engine.embed_with(texts, EmbedOptions::default().pooling(Pooling::Mean), |done, total| {
    ///     eprintln!("{done} of {total} tokens");
    ///     std::ops::ControlFlow::Continue(())
    /// })?;
    /// # Ok::<(), Error>(())
    /// ```
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
        self.waiting().wake(); // the texts have had sessions
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
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let tokens = engine.tokenize("Once upon a time there was a fox.", TokenizeOptions::default())?;
    /// let scores = engine.score(&[&tokens], ScoreOptions::default())?;
    /// let logprobs: Vec<f32> = scores[0].iter().filter_map(|score| score.logprob).collect();
    /// let perplexity = (-logprobs.iter().sum::<f32>() / logprobs.len() as f32).exp();
    /// assert!(perplexity > 1.0);
    /// # Ok::<(), Error>(())
    /// ```
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
        [Some(self), options.against].into_iter().flatten().for_each(|engine| engine.waiting().wake()); // the texts have had sessions
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
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// println!("{}", engine.plan_text()?);
    /// # Ok::<(), Error>(())
    /// ```
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
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// for message in engine.logs(0)? {
    ///     println!("{}: {}", message.number, message.text);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
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
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// engine.profile_step(ProfileOptions::default().n_repetitions(2))?;
    /// println!("{}", engine.profile_text(ProfileForm::Kinds)?);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::SessionLimit`], [`Status::KvFull`], [`Status::DeviceOutOfMemory`], [`Status::InvalidState`] or
    /// [`Status::DeviceLost`].
    pub fn profile_step(&self, options: ProfileOptions) -> Result<()> {
        let params = options.to_raw();
        // SAFETY: the parameters live during the call.
        let profiled = call(|err| unsafe { (self.functions().inlay_profile_step)(self.as_ptr(), &params, err) });
        self.waiting().wake(); // it has had a session
        profiled
    }

    /// What [`profile_step`](Self::profile_step) measured.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// engine.profile_step(ProfileOptions::default().n_repetitions(2))?;
    /// println!("{}", engine.profile_text(ProfileForm::Timeline)?);
    /// # Ok::<(), Error>(())
    /// ```
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
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let other = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default().n_threads(1))?;
    /// let comparison = engine.compare(&other, &[1, 2, 3], 1e-3)?;
    /// assert_eq!(comparison.first, None, "{}", comparison.table);
    /// # Ok::<(), Error>(())
    /// ```
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
        });
        [self, other].into_iter().for_each(|engine| engine.waiting().wake()); // they have had a session each
        let table = table?;
        Ok(Comparison { first: u32::try_from(first).ok(), table })
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
