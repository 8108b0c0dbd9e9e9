use crate::callbacks::{free, Handle};
use crate::cancel::Cancels;
use crate::error::{call, read_all, TOKENS};
use crate::info::{Event, SessionInfo};
use crate::options::count;
use crate::{
    raw, CancelHandle, Engine, Error, GenerateOptions, Generation, Library, OwnedGeneration, Prompt, Result, Sampler,
    SessionOptions, Status,
};
use crate::{Token, TokenizeOptions};
use std::cell::Cell;
use std::marker::PhantomData;

/// One token sequence of an engine, which it keeps alive.
///
/// It can be sent to another thread and is used by one at a time. Dropping it gives its part of the pool back at once.
///
/// # Generating
/// [`generate`](Self::generate) is the usual way: it takes a prompt and options, and gives the events. The others are for what it
/// cannot do:
///
/// | call | for |
/// |---|---|
/// | [`Chat::ask`](crate::Chat::ask) | conversations: it keeps messages and runs only what is new |
/// | [`begin`](Self::begin), then [`into_events`](Self::into_events) | a generation that owns its session: for a thread, a struct, a stream |
/// | [`begin`](Self::begin), then [`decode_step`](crate::decode_step()) or [`decode_slice`](crate::decode_slice) | one thread that steps many sessions |
/// | [`events`](Self::events) | going on without a prompt: behind a fork, an accepted token, a loop that was left |
/// | [`prefill`](Self::prefill) | a prompt alone, in parts, or for the logits behind it |
/// | [`Session::decode_step`] | a token at a time, in a step of its own |
pub struct Session {
    session: *mut raw::inlay_session,
    cancels: Cancels,
    engine: Engine,
    /// Of the generation under way.
    counts: Counts,
    _one_thread_at_a_time: PhantomData<Cell<()>>,
}

/// What an event tells about its generation.
#[derive(Clone, Copy, Default)]
struct Counts {
    n_prompt: u32,
    n_generated: u32,
}

// SAFETY: no state of a session belongs to a thread; whoever owns it is the only one who uses it, but for the functions of class
// `any` that a CancelHandle calls.
unsafe impl Send for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        self.cancels.forget_session();
        let (session, engine) = (Handle(self.session), self.engine.clone());
        free(move || {
            // SAFETY: the session is ours, and no cancel handle reaches it any more.
            unsafe { (engine.functions().inlay_session_free)(session.get()) }
            engine.waiting().wake();
        });
    }
}

impl Session {
    /// Makes an empty session.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let session = Session::new(&engine, &SessionOptions::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::SessionLimit`], [`Status::DeviceOutOfMemory`] or [`Status::DeviceLost`].
    pub fn new(engine: &Engine, options: &SessionOptions) -> Result<Self> {
        let mut session = std::ptr::null_mut();
        options.with_raw(engine.library(), |params| {
            call(|err| {
                // SAFETY: engine and parameters live during the call.
                unsafe {
                    (engine.library().functions().inlay_session_create)(engine.as_ptr(), params, &mut session, err)
                }
            })
        })?;
        Ok(Self::own(engine.clone(), session))
    }

    pub(crate) fn own(engine: Engine, session: *mut raw::inlay_session) -> Self {
        let cancels = Cancels::new(engine.library(), session);
        Self { session, cancels, engine, counts: Counts::default(), _one_thread_at_a_time: PhantomData }
    }

    pub(crate) fn functions(&self) -> &'static raw::Functions {
        self.engine.library().functions()
    }

    /// The engine that the session is of.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// println!("{}", session.engine().info()?.n_vocab);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The handle of the C API, for what this crate does not wrap. It is this object's: it must not be freed.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let cancel = session.engine().library().functions().inlay_session_cancel;
    /// // SAFETY: the session lives.
    /// unsafe { cancel(session.as_ptr()) };
    /// # Ok::<(), Error>(())
    /// ```
    pub fn as_ptr(&self) -> *mut raw::inlay_session {
        self.session
    }

    /// What stops the session's next work from any thread: the generation that its next prompt begins; or the one under way, if
    /// the session draws more of it before a prompt comes. A request that is made before that begins counts, too. Once the
    /// generation is over the handle does nothing: each one needs a handle of its own. A prompt that is refused begins none.
    /// Of a session made with [`for_requests`](SessionOptions::for_requests) it stops the request that has the session then, if one does.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let handle = session.cancel_handle();
    /// std::thread::spawn(move || {
    ///     std::thread::sleep(std::time::Duration::from_secs(2));
    ///     handle.cancel();
    /// });
    /// let reply = session.generate("Once upon a time", &GenerateOptions::default())?.into_reply()?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancels.handle_of_next()
    }

    /// What stops the generation under way.
    pub(crate) fn handle_of_generation(&self) -> CancelHandle {
        self.cancels.handle_of(self.generation())
    }

    /// Before a call that works on the generation under way, or on the one after it.
    pub(crate) fn works_on(&self, coming: u64) {
        if self.cancels.has_open_handles() {
            self.cancels.works_on(self.generation() + coming);
        }
    }

    /// How many generations have begun; 0 where the library does not tell.
    fn generation(&self) -> u64 {
        self.info().map_or(0, |info| info.generation)
    }

    /// Runs a prompt, and gives the events that follow it, one a step, until the session has finished.
    ///
    /// A prompt begins a new generation behind what the session has already read and written. A context that becomes full is an
    /// end as any other: the last event's finish reason is [`ContextFull`](crate::FinishReason::ContextFull). A prompt that does
    /// not fit is an error: [`Status::ContextFull`].
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let options = GenerateOptions::default().sampler(Sampler::default().temperature(0.8).seed(1)).max_tokens(20);
    /// for event in session.generate("Once upon a time", &options)? {
    ///     print!("{}", event?.text);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] for a wrong option; those of [`prefill`](Self::prefill).
    pub fn generate<'p>(&mut self, prompt: impl Into<Prompt<'p>>, options: &GenerateOptions) -> Result<Generation<'_>> {
        self.begin(prompt, options)?;
        Ok(self.events())
    }

    /// The first part of [`generate`](Self::generate): applies the options and runs the prompt. The events are those of
    /// [`into_events`](Self::into_events), or of steps with other sessions.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let mut other = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.begin("Once upon a time", &GenerateOptions::default())?;
    /// other.begin("The old fox", &GenerateOptions::default())?;
    /// let events = decode_step([&mut session, &mut other])?;
    /// assert_eq!(events.len(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate).
    pub fn begin<'p>(&mut self, prompt: impl Into<Prompt<'p>>, options: &GenerateOptions) -> Result<()> {
        if let Some(sampler) = &options.sampler {
            self.set_sampler(sampler)?;
        }
        if let Some(stop) = &options.stop {
            self.set_stop(stop)?;
        }
        if let Some(max_tokens) = options.max_tokens {
            self.set_max_tokens(max_tokens)?;
        }
        if let Some(constraint) = &options.constraint {
            self.set_constraint(constraint, "")?;
        }
        self.prefill_text(prompt.into(), options.tokenize)
    }

    /// The events that follow, one a step, until the session has finished: what [`generate`](Self::generate) gives, without a
    /// new prompt. A session that has finished already gives one error, [`Status::InvalidState`].
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let first = session.generate("Once upon a time", &GenerateOptions::default())?.next();
    /// let rest: inlay::Result<Vec<Event>> = session.events().collect(); // it goes on
    /// assert_eq!(rest?.len(), 7);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn events(&mut self) -> Generation<'_> {
        Generation { session: self, said: None, ended: false }
    }

    /// The same events, by a generation that owns the session and can give it back. It borrows nothing, so that a thread, a struct
    /// or a stream can hold it.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.begin("Once upon a time", &GenerateOptions::default())?;
    /// let text = std::thread::spawn(move || session.into_events().text()).join().unwrap()?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_events(self) -> OwnedGeneration {
        OwnedGeneration { session: self, ended: false }
    }

    /// Appends a prompt and runs it, chunk by chunk. It begins a new generation: finish reason and `max_tokens` start over, text
    /// that was not taken is dropped.
    ///
    /// If it is cancelled, or the device fails, the session keeps the chunks that were run; [`info`](Self::info) tells how
    /// many tokens it then has. Any other failure leaves it as it was.
    ///
    /// A text has the BOS and EOS tokens that the model asks for only where the session is empty.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let tokens = engine.tokenize("Once upon a time there was a fox", TokenizeOptions::default())?;
    /// for part in tokens.chunks(4) { // between them a program can draw a frame
    ///     session.prefill(part)?;
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::ContextFull`], [`Status::KvFull`], [`Status::Cancelled`], [`Status::InvalidState`] or [`Status::DeviceLost`];
    /// [`Status::Unsupported`] for a text where the model has no tokenizer.
    pub fn prefill<'p>(&mut self, prompt: impl Into<Prompt<'p>>) -> Result<()> {
        self.prefill_text(prompt.into(), TokenizeOptions::default())
    }

    fn prefill_text(&mut self, prompt: Prompt<'_>, options: TokenizeOptions) -> Result<()> {
        let text = match prompt {
            Prompt::Tokens(tokens) => return self.prefill_tokens(tokens),
            Prompt::Text(text) => text,
        };
        let goes_on = !options.always_bos_eos && self.info()?.n_tokens > 0;
        let options = TokenizeOptions { no_bos_eos: options.no_bos_eos || goes_on, ..options };
        self.prefill_tokens(&self.engine.tokenize(text, options)?)
    }

    fn prefill_tokens(&mut self, tokens: &[i32]) -> Result<()> {
        let (from, n, mut n_done) = (tokens.as_ptr(), tokens.len(), 0);
        self.works_on(1);
        // SAFETY: the tokens live during the call, and the session is used here alone.
        let outcome = call(|err| unsafe { (self.functions().inlay_prefill)(self.session, from, n, &mut n_done, err) });
        if n_done > 0 {
            self.counts = Counts { n_prompt: u32::try_from(n_done).unwrap_or(u32::MAX), n_generated: 0 };
        }
        outcome
    }

    /// Draws one token. [`decode_step`](crate::decode_step()) does so for many sessions at once. An event with a finish
    /// reason is the last one until the next prompt: a further step is an error, [`Status::InvalidState`].
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let event = session.decode_step()?;
    /// println!("{:?}: {}", event.token, event.text);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::KvFull`], [`Status::InvalidState`], [`Status::Format`] or [`Status::DeviceLost`].
    pub fn decode_step(&mut self) -> Result<Event> {
        let mut event = raw::inlay_event::default();
        self.works_on(0);
        call(|err| {
            // SAFETY: the session is used here alone; there is room for one event.
            unsafe { (self.functions().inlay_decode_step)(&self.session, 1, &mut event, size_of_val(&event), err) }
        })?;
        self.whole_event(&event)
    }

    /// An event with its generation's counts, and the text that did not fit.
    pub(crate) fn whole_event(&mut self, raw: &raw::inlay_event) -> Result<Event> {
        let mut event = Event::from_raw(raw);
        self.counts.n_generated += u32::from(event.token.is_some());
        (event.n_prompt, event.n_generated) = (self.counts.n_prompt, self.counts.n_generated);
        if raw.text_pending > 0 {
            event.text += &self.take_text()?;
        }
        Ok(event)
    }

    /// Takes text that events did not carry. The events of this crate carry all of it, so it is what [`raw`] calls left.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// session.decode_step()?;
    /// assert!(session.take_text()?.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn take_text(&mut self) -> Result<String> {
        let mut text = Vec::new();
        loop {
            let mut part = [0u8; 512];
            let mut n = 0;
            let to = part.as_mut_ptr().cast();
            // SAFETY: the session is used here alone; there is room for the part.
            call(|err| unsafe { (self.functions().inlay_session_take_text)(self.session, to, 512, &mut n, err) })?;
            if n == 0 {
                return Ok(crate::error::into_string(text));
            }
            text.extend_from_slice(&part[..n]);
        }
    }

    /// Where the session stands.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let info = session.info()?;
    /// println!("{} tokens of {}", info.n_tokens, info.n_context);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn info(&self) -> Result<SessionInfo> {
        let mut info = raw::inlay_session_info::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_session_get_info)(self.session, &mut info, err) })?;
        Ok(SessionInfo::from_raw(&info))
    }

    /// Makes a second session with the same sequence, parameters and state. Keys and values are shared until one of the two
    /// writes. Give the fork another seed if the two are to differ.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let mut other = session.fork()?;
    /// other.set_sampler(&Sampler::default().temperature(1.0).seed(7))?;
    /// let (one, two) = (session.events().into_text()?, other.events().into_text()?);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::SessionLimit`], [`Status::DeviceOutOfMemory`], [`Status::InvalidState`] or [`Status::DeviceLost`].
    pub fn fork(&mut self) -> Result<Session> {
        let mut child = std::ptr::null_mut();
        // SAFETY: the session is used here alone.
        call(|err| unsafe { (self.functions().inlay_session_fork)(self.session, &mut child, err) })?;
        let mut child = Self::own(self.engine.clone(), child);
        child.counts = self.counts;
        Ok(child)
    }

    /// Cuts the sequence back to its first tokens. It begins a new generation: finish reason and `max_tokens` start over.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let n_tokens = session.info()?.n_tokens as usize;
    /// session.events().into_text()?;
    /// session.truncate(n_tokens)?; // back behind the prompt
    /// let again = session.events().into_text()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] or [`Status::InvalidState`].
    pub fn truncate(&mut self, n_tokens: usize) -> Result<()> {
        // SAFETY: the session is used here alone.
        call(|err| unsafe { (self.functions().inlay_session_truncate)(self.session, n_tokens, err) })?;
        self.counts.n_generated = 0;
        Ok(())
    }

    /// Takes `n_tokens` tokens from `first` on out of the sequence, for texts that outgrow the context: what is behind them
    /// moves to the front and keeps what the model has computed for it, so that the next tokens are close to those of the
    /// shorter sequence, but not the same. A generation that [`ContextFull`](crate::FinishReason::ContextFull) has ended can
    /// go on; where the last token goes, this is [`Session::truncate`].
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// session.shift(1, 2)?; // keeps the first token, for the beginning
    /// let event = session.decode_step()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`], [`Status::KvFull`], [`Status::InvalidState`] or [`Status::DeviceLost`].
    pub fn shift(&mut self, first: usize, n_tokens: usize) -> Result<()> {
        // SAFETY: the session is used here alone.
        call(|err| unsafe { (self.functions().inlay_session_shift)(self.session, first, n_tokens, err) })?;
        self.counts.n_generated = self.info()?.n_generated;
        Ok(())
    }

    /// Appends tokens that the program chose, as if they had been drawn: they count toward `max_tokens`, penalties see them, and
    /// their text comes with the next event or [`take_text`](Self::take_text). One that would end the generation ends it; what
    /// comes behind it is not accepted. Gives how many the sequence has now. Nothing is run before the next step.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let forced = engine.tokenize(" there", TokenizeOptions::default().no_bos_eos(true))?;
    /// session.accept(&forced)?;
    /// let text = session.events().into_text()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] for a token that is none of the model's; [`Status::InvalidState`] where the session has no
    /// tokens or has finished.
    pub fn accept(&mut self, tokens: &[Token]) -> Result<usize> {
        let mut n = 0;
        let accept = self.functions().inlay_session_accept;
        // SAFETY: the tokens live during the call, and the session is used here alone.
        call(|err| unsafe { accept(self.session, tokens.as_ptr(), tokens.len(), &mut n, err) })?;
        self.counts.n_generated += u32::try_from(n).unwrap_or(u32::MAX);
        Ok(n)
    }

    /// The tokens of the sequence from `first` on: those of prompts, drawn and accepted ones.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let prompt = session.tokens(0)?;
    /// session.decode_step()?;
    /// assert_eq!(session.tokens(prompt.len())?.len(), 1);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if the sequence is shorter; [`Status::Busy`] while a request has the session.
    pub fn tokens(&mut self, first: usize) -> Result<Vec<Token>> {
        let read = self.functions().inlay_session_get_tokens;
        // SAFETY: the session is used here alone, but for requests; there is room for `cap` tokens.
        read_all(TOKENS, |to, cap, n, err| unsafe { read(self.session, first, to, cap, n, err) })
    }

    /// Changes how the following tokens are drawn.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.set_sampler(&Sampler::default().temperature(0.7).min_p(0.05))?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] or [`Status::InvalidState`].
    pub fn set_sampler(&mut self, sampler: &Sampler) -> Result<()> {
        let set = self.functions().inlay_session_set_sampler;
        // SAFETY: the parameters live during the call, and the session is used here alone.
        sampler.with_raw(|params| call(|err| unsafe { set(self.session, params, err) }))
    }

    /// Sets the texts that end a generation, each of 1 to 1024 bytes, at most 64; none removes all.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.set_stop(&[".", "\n"])?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`]. A text is empty or too long, or there are too many.
    pub fn set_stop<S: AsRef<str>>(&mut self, stops: &[S]) -> Result<()> {
        let texts: Vec<_> = stops.iter().map(|s| s.as_ref()).map(raw_text).collect();
        let set = self.functions().inlay_session_set_stop;
        // SAFETY: the texts live during the call, and the session is used here alone.
        call(|err| unsafe { set(self.session, texts.as_ptr(), texts.len(), err) })
    }

    /// Sets the tokens that end a generation when drawn, at most 1024; none removes all.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let comma = engine.tokenize(",", TokenizeOptions::default().no_bos_eos(true))?;
    /// session.set_stop_tokens(&comma)?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`]. A token is none of the model's, or there are too many.
    pub fn set_stop_tokens(&mut self, tokens: &[Token]) -> Result<()> {
        let set = self.functions().inlay_session_set_stop_tokens;
        // SAFETY: the tokens live during the call, and the session is used here alone.
        call(|err| unsafe { set(self.session, tokens.as_ptr(), tokens.len(), err) })
    }

    /// Sets how many tokens may be drawn after a prompt before the session finishes; 0: no limit but the context. It counts for
    /// the generation under way, too: one that has drawn as many already ends with its next token. With
    /// [`SessionOptions::reserve`] that generation also gets the KV blocks for a higher limit.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// session.set_max_tokens(3)?;
    /// assert_eq!(session.events().count(), 3);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::KvFull`] where they are not free; the limit then stays.
    pub fn set_max_tokens(&mut self, max_tokens: u32) -> Result<()> {
        let set = self.functions().inlay_session_set_max_tokens;
        // SAFETY: the session is used here alone.
        call(|err| unsafe { set(self.session, count(max_tokens), err) })
    }

    /// The logits of the last position that was run: those that the last token was drawn from, or the next one will be.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// assert_eq!(session.logits()?.len(), engine.info()?.n_vocab as usize);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`]. Nothing was run yet.
    pub fn logits(&mut self) -> Result<Vec<f32>> {
        let mut logits = vec![0.0; self.engine.info()?.n_vocab as usize];
        let (to, cap, not_counted) = (logits.as_mut_ptr(), logits.len(), std::ptr::null_mut());
        // SAFETY: there is room for `cap` values, and the session is used here alone.
        call(|err| unsafe { (self.functions().inlay_session_copy_logits)(self.session, to, cap, not_counted, err) })?;
        Ok(logits)
    }

    /// The same logits where they lie, without a copy.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let best = session.view_logits()?.iter().copied().fold(f32::MIN, f32::max);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`] or [`Status::DeviceLost`].
    pub fn view_logits(&mut self) -> Result<&[f32]> {
        let size = std::mem::size_of::<raw::inlay_logits>() as u32;
        let mut view = raw::inlay_logits { struct_size: size, reserved: 0, values: std::ptr::null(), n_values: 0 };
        // SAFETY: the session is used here alone.
        call(|err| unsafe { (self.functions().inlay_session_view_logits)(self.session, &mut view, err) })?;
        // SAFETY: the values stay until the session is used again, for which the borrow has to end.
        Ok(unsafe { std::slice::from_raw_parts(view.values, view.n_values) })
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({:p})", self.session)
    }
}

pub(crate) fn raw_text(text: &str) -> raw::inlay_text {
    raw::inlay_text { data: text.as_ptr().cast(), len: text.len() }
}

pub(crate) fn check_library(one: Library, other: Library) -> Result<()> {
    if one == other {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArgument, "the objects are of different copies of the Inlay library"))
}
