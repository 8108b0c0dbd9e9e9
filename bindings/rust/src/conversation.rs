use crate::{
    ChatMessage, Engine, Error, Event, GenerateOptions, Generation, Result, Sampler, Session, SessionOptions, Status,
    Token,
};

/// A conversation: its messages, and a session that holds their tokens, so that an answer runs only what is new. The model's chat
/// template writes the messages, and the oldest turns are dropped where the context has no more room. Made by [`Engine::chat`].
///
/// Like a session it can be sent to another thread and is used by one at a time.
#[derive(Debug)]
pub struct Chat {
    session: Session,
    said: Said,
}

/// A chat without its session.
#[derive(Debug)]
pub(crate) struct Said {
    messages: Vec<ChatMessage>,
    n_system: usize,      // messages that are never dropped
    max_tokens: usize,    // of an answer
    held: Vec<Token>,     // what the session's tokens begin with
    line: Option<String>, // that is being answered, until the answer begins
    n_reused: usize,
    n_dropped: usize,
}

impl Chat {
    pub(crate) fn new(engine: &Engine, options: &SessionOptions, messages: Vec<ChatMessage>) -> Result<Self> {
        let mut session = engine.session(options)?;
        let half = session.info()?.n_context / 2;
        let max_tokens = if options.max_tokens == 0 { half } else { options.max_tokens.min(half) };
        session.set_max_tokens(max_tokens)?;
        let n_system = messages.iter().take_while(|message| message.role == "system").count();
        let (max_tokens, held, line) = (max_tokens as usize, Vec::new(), None);
        Ok(Self { session, said: Said { messages, n_system, max_tokens, held, line, n_reused: 0, n_dropped: 0 } })
    }

    /// Runs what the session does not hold yet of the conversation with the user's line, and gives the events of the answer.
    ///
    /// The line joins the messages with the first text of its answer, which grows with each event: a part of an answer stays
    /// however it was cut, and a line without one is as if it had not been said. A [`CancelHandle`](crate::CancelHandle) of
    /// [`session`](Self::session) that is made before ends prompt or answer from another thread.
    ///
    /// Where the conversation and the longest answer do not fit into the context together, the oldest turns are dropped until
    /// half of the room is free: [`n_dropped`](Self::n_dropped). After an error the messages are as they were.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [])?;
    /// for event in chat.ask("Do you have a room?")? {
    ///     print!("{}", event?.text);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::ContextFull`]: the line is too long even alone; the error has the tokens that were required and available.
    /// Those of [`Session::prefill`] and [`Engine::chat_tokens`].
    pub fn ask(&mut self, line: impl Into<String>) -> Result<Generation<'_>> {
        let (session, said, line) = (&mut self.session, &mut self.said, line.into());
        let info = session.info()?;
        let room = (info.n_context as usize).saturating_sub(said.max_tokens);
        let (drop_to, n_turns, prompt) = said.fitting(session.engine(), &line, room)?;
        let most = (info.n_tokens as usize).min(prompt.len().saturating_sub(1)); // a prompt has a token at least
        let n_reused = said.held.iter().zip(&prompt).take(most).take_while(|(held, token)| held == token).count();
        session.truncate(n_reused)?;
        said.held.clone_from(&prompt); // where a part of it is run, the session's length tells
        said.line = None;
        session.begin(&prompt[n_reused..], &GenerateOptions::default())?;
        said.messages.drain(said.n_system..drop_to);
        (said.n_reused, said.n_dropped, said.line) = (n_reused, said.n_dropped + n_turns, Some(line));
        Ok(Generation { session, said: Some(said), ended: false })
    }

    /// What was said and not dropped, the oldest first.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [])?;
    /// chat.ask("Do you have a room?")?.into_text()?;
    /// assert_eq!(chat.messages()[0], ChatMessage::user("Do you have a room?"));
    /// assert_eq!(chat.messages()[1].role, "assistant");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn messages(&self) -> &[ChatMessage] {
        &self.said.messages
    }

    /// How many turns have left the messages because the context was full, since the chat was made or cleared.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [])?;
    /// chat.ask("Do you have a room?")?.into_text()?;
    /// assert_eq!(chat.n_dropped(), 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn n_dropped(&self) -> usize {
        self.said.n_dropped
    }

    /// How many tokens of the latest [`ask`](Self::ask)'s conversation the session held already. With the events' `n_prompt`,
    /// which were run, they are the whole conversation.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [])?;
    /// chat.ask("Do you have a room?")?.into_text()?;
    /// chat.ask("Thank you.")?.into_text()?;
    /// assert!(chat.n_reused() > 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn n_reused(&self) -> usize {
        self.said.n_reused
    }

    /// Changes how the answers are drawn from now on, that of a line which is asked already included. They begin with the sampler of
    /// the options that the chat was made with.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [])?;
    /// chat.set_sampler(&Sampler::default().temperature(0.8).top_p(0.95).seed(42))?;
    /// let answer = chat.ask("Do you have a room?")?.into_text()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Session::set_sampler`].
    pub fn set_sampler(&mut self, sampler: &Sampler) -> Result<()> {
        self.session.set_sampler(sampler)
    }

    /// Changes the texts that end an answer.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [])?;
    /// chat.set_stop(&["."])?;
    /// let sentence = chat.ask("Do you have a room?")?.into_text()?;
    /// assert!(!sentence.contains('.'));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Session::set_stop`].
    pub fn set_stop<S: AsRef<str>>(&mut self, stops: &[S]) -> Result<()> {
        self.session.set_stop(stops)
    }

    /// The chat's session, for what it tells and for a [`CancelHandle`](crate::CancelHandle).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [])?;
    /// let handle = chat.session().cancel_handle(); // for another thread
    /// chat.ask("Do you have a room?")?.into_text()?;
    /// println!("{} tokens of {}", chat.session().info()?.n_tokens, chat.session().info()?.n_context);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Forgets all but the system's messages at the beginning.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [])?;
    /// chat.ask("Do you have a room?")?.into_text()?;
    /// chat.clear();
    /// assert!(chat.messages().is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn clear(&mut self) {
        self.said.messages.truncate(self.said.n_system);
        self.said.n_dropped = 0;
    }
}

impl Said {
    /// Behind the turns that have to be dropped, how many they are, and the tokens of the conversation with the line. Dropping
    /// goes on until half of the room is free: it changes all that follows, which runs again, and this should be rare.
    fn fitting(&self, engine: &Engine, line: &str, room: usize) -> Result<(usize, usize, Vec<Token>)> {
        let (mut drop_to, mut n_turns, mut wanted) = (self.n_system, 0, room);
        loop {
            let kept =
                [&self.messages[..self.n_system], &self.messages[drop_to..], &[ChatMessage::user(line)]].concat();
            let prompt = engine.chat_tokens(&kept, None, true)?;
            if prompt.len() <= wanted || (drop_to == self.messages.len() && prompt.len() <= room) {
                return Ok((drop_to, n_turns, prompt));
            }
            if drop_to == self.messages.len() {
                let message = "the line is too long: it has no room with the longest answer";
                return Err(Error::new(Status::ContextFull, message).of_room(prompt.len(), room));
            }
            let turn = &self.messages[drop_to + 1..];
            drop_to += 1 + turn.iter().take_while(|message| message.role != "user").count();
            (n_turns, wanted) = (n_turns + 1, room / 2);
        }
    }

    /// Takes what was drawn.
    pub(crate) fn hear(&mut self, event: &Event) {
        self.held.extend(event.token);
        if event.text.is_empty() {
            return;
        }
        if let Some(line) = self.line.take() {
            self.messages.extend([ChatMessage::user(line), ChatMessage::assistant("")]);
        }
        self.messages.last_mut().expect("an answer has begun").content += &event.text;
    }
}
