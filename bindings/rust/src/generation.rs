use crate::conversation::Said;
use crate::{CancelHandle, Error, Event, FinishReason, Result, Session, Status};
use std::fmt;
use std::iter::FusedIterator;

/// The events of a session, one a decode step, which generations that other threads run at the time share: see
/// [`Session::generate`]. Ends behind the event with a finish reason, or behind
/// an error, whichever comes; a full context is such an event. Dropping it stops after the last event that was asked for;
/// [`Session::events`] goes on from there.
#[derive(Debug)]
#[must_use = "nothing is generated until the events are asked for"]
pub struct Generation<'s> {
    pub(crate) session: &'s mut Session,
    /// The chat that hears its events, if there is one.
    pub(crate) said: Option<&'s mut Said>,
    pub(crate) ended: bool,
}

/// A [`Generation`] that owns its session: it borrows nothing and can be sent to another thread. Made by
/// [`Session::into_events`].
#[derive(Debug)]
#[must_use = "nothing is generated until the events are asked for"]
pub struct OwnedGeneration {
    pub(crate) session: Session,
    pub(crate) ended: bool,
}

/// What a generation came to: see [`Generation::into_reply`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// The text of all events that were left.
    pub text: String,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// Tokens of the prompt.
    pub n_prompt: u32,
    /// Tokens drawn after it.
    pub n_generated: u32,
}

impl Reply {
    /// Whether a request from another thread ended it, so that the text is a part of one.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let reply = session.generate("Once upon a time", &GenerateOptions::default())?.into_reply()?;
    /// assert!(!reply.is_cancelled());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.finish_reason == FinishReason::Cancelled
    }
}

/// The text.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Generation<'_> {
    /// What stops this generation from any thread. Once it is over that does nothing.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let mut generation = session.generate("Once upon a time", &GenerateOptions::default())?;
    /// generation.cancel_handle().cancel(); // on any thread
    /// let event = generation.next().unwrap()?;
    /// assert_eq!(event.finish_reason, Some(FinishReason::Cancelled));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cancel_handle(&self) -> CancelHandle {
        self.session.handle_of_generation()
    }

    /// Runs to the end, and gives all text that is left. One that was cancelled is an error, [`Status::Cancelled`];
    /// [`into_reply`](Self::into_reply) gives the part that there is.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let text = session.generate("Once upon a time", &GenerateOptions::default())?.into_text()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Of the first step that fails, as [`Session::decode_step`]; [`Status::Cancelled`]; [`Status::InvalidState`] if it has ended
    /// already.
    pub fn into_text(mut self) -> Result<String> {
        whole_text(&mut self)
    }

    /// Runs to the end, and gives the text that is left and why it ended.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let reply = session.generate("Once upon a time", &GenerateOptions::default())?.into_reply()?;
    /// println!("{} ({:?} after {} tokens)", reply.text, reply.finish_reason, reply.n_generated);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Of the first step that fails, as [`Session::decode_step`]; [`Status::InvalidState`] if it has ended already.
    pub fn into_reply(mut self) -> Result<Reply> {
        reply(&mut self)
    }
}

impl OwnedGeneration {
    /// What stops this generation from any thread. Once it is over that does nothing.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.begin("Once upon a time", &GenerateOptions::default())?;
    /// let generation = session.into_events();
    /// let handle = generation.cancel_handle();
    /// let writing = std::thread::spawn(move || generation.count());
    /// handle.cancel();
    /// assert!(writing.join().unwrap() > 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cancel_handle(&self) -> CancelHandle {
        self.session.handle_of_generation()
    }

    /// Runs to the end, and gives all text that is left. One that was cancelled is an error, [`Status::Cancelled`];
    /// [`reply`](Self::reply) gives the part that there is.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.begin("Once upon a time", &GenerateOptions::default())?;
    /// let text = session.into_events().text()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Of the first step that fails, as [`Session::decode_step`]; [`Status::Cancelled`]; [`Status::InvalidState`] if it has ended
    /// already.
    pub fn text(&mut self) -> Result<String> {
        whole_text(self)
    }

    /// Runs to the end, and gives the text that is left and why it ended.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.begin("Once upon a time", &GenerateOptions::default())?;
    /// let mut generation = session.into_events();
    /// let reply = generation.reply()?;
    /// assert_eq!(generation.session().info()?.n_generated, reply.n_generated);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Of the first step that fails, as [`Session::decode_step`]; [`Status::InvalidState`] if it has ended already.
    pub fn reply(&mut self) -> Result<Reply> {
        reply(self)
    }

    /// The session, which the generation still owns.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.begin("Once upon a time", &GenerateOptions::default())?;
    /// let mut generation = session.into_events();
    /// generation.next();
    /// assert_eq!(generation.session().info()?.n_generated, 1);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Gives the session back, wherever the generation stands.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.begin("Once upon a time", &GenerateOptions::default())?;
    /// let mut generation = session.into_events();
    /// let first = generation.next();
    /// let session = generation.into_session();
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_session(self) -> Session {
        self.session
    }
}

fn whole_text(events: impl Iterator<Item = Result<Event>>) -> Result<String> {
    let reply = reply(events)?;
    if reply.is_cancelled() {
        let message = format!("the generation was cancelled after {} tokens", reply.n_generated);
        return Err(Error::new(Status::Cancelled, message));
    }
    Ok(reply.text)
}

fn reply(events: impl Iterator<Item = Result<Event>>) -> Result<Reply> {
    let mut text = String::new();
    for event in events {
        let event = event?;
        text += &event.text;
        if let Some(finish_reason) = event.finish_reason {
            return Ok(Reply { text, finish_reason, n_prompt: event.n_prompt, n_generated: event.n_generated });
        }
    }
    Err(Error::new(Status::InvalidState, "the generation has ended already"))
}

fn next_event(session: &mut Session, ended: &mut bool) -> Option<Result<Event>> {
    if *ended {
        return None;
    }
    let event = session.decode_step();
    *ended = !matches!(&event, Ok(event) if event.finish_reason.is_none());
    Some(event)
}

impl Iterator for Generation<'_> {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = next_event(self.session, &mut self.ended);
        if let (Some(said), Some(Ok(event))) = (&mut self.said, &event) {
            said.hear(event);
        }
        event
    }
}

impl FusedIterator for Generation<'_> {}

impl Iterator for OwnedGeneration {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        next_event(&mut self.session, &mut self.ended)
    }
}

impl FusedIterator for OwnedGeneration {}
