//! What a program hands over to an engine's queues, and how these are computed.
use crate::callbacks::WakeFn;
use crate::options::{count, setters};
use crate::session::check_library;
use crate::texts::chat_params;
use crate::{raw, ChatEnd, Conversation, EmbedOptions, Library, Prompt, RequestKind, Result, Session, SessionOptions};
use std::fmt;
use std::time::Duration;

setters! {
    impl['a] Request<'a> {
        kind: RequestKind,
        template: impl Into<Option<&'a str>>,
        chat_end: impl Into<ChatEnd>,
        session: SessionOptions,
        priority: u32,
        deadline: impl Into<Option<Duration>>,
        timeout: impl Into<Option<Duration>>,
        user: u64,
        continues: impl Into<Option<&'a Session>>,
        embed: EmbedOptions,
    }
    impl[] QueueOptions {
        max_requests: u32,
        max_unread_tokens: u32,
    }
    impl[] RunOptions {
        budget: impl Into<Option<Duration>>,
        max_step: impl Into<Option<Duration>>,
        one_step: bool,
        no_wait: bool,
        host_budget: impl Into<Option<Duration>>,
    }
    impl[] ThreadOptions {
        busy: impl Into<Option<Duration>>,
        period: impl Into<Option<Duration>>,
        max_step: impl Into<Option<Duration>>,
    }
}

/// The longest time that the library takes, in microseconds: 36,000 years.
const MOST_US: u64 = 1 << 60;

/// Microseconds as the C API has them, where 0 is none: what is shorter than one counts as one.
fn micros(time: Option<Duration>) -> u64 {
    time.map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(MOST_US).clamp(1, MOST_US))
}

/// Names a request among all of the process. It is never used again, and there is nothing to free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(crate) u64);

/// The number in the C API.
impl From<RequestId> for u64 {
    fn from(id: RequestId) -> Self {
        id.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A prompt and what is to become of it, for [`Queue::submit`](crate::Queue::submit) and [`Engine::answer`](crate::Engine::answer),
/// which take a copy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    prompt: Asked<'a>,
    /// What is to become of the prompt.
    pub kind: RequestKind,
    /// The chat template that writes a conversation. `None`: the model's own. Other prompts are refused with one.
    pub template: Option<&'a str>,
    /// Where a conversation's text ends. Other prompts do not look at it.
    pub chat_end: ChatEnd,
    /// How tokens are drawn and what ends the request; with [`continues`](Self::continues) from now on, and where it is the default what
    /// the session has. `reserve` and `for_requests` are refused.
    pub session: SessionOptions,
    /// Who has more comes first, and may put out those that have less where the pool is full. A request that waits rises by one every
    /// 250 ms: that says when it begins, and puts out no equal. Range: 0 to 7.
    pub priority: u32,
    /// From now on. Among waiting requests of one priority the earliest comes first; it is no promise.
    pub deadline: Option<Duration>,
    /// From now on. Then the request ends with [`Timeout`](crate::FinishReason::Timeout), and keeps its text so far.
    pub timeout: Option<Duration>,
    /// Comes back in each event. Range: any number.
    pub user: u64,
    /// A session made with [`for_requests`](SessionOptions::for_requests), of the same engine, that the request continues: tokens and
    /// text come behind what it has, a text without special tokens in front unless the session is empty. A conversation takes the place
    /// of its tokens; what both begin with is not computed again. Requests for one session run one after the other, as they were
    /// submitted. The sequence stays in the session, also of a request that is cancelled. Dropping it cancels them.
    pub continues: Option<&'a Session>,
    /// What the vector of a request of kind [`Embed`](RequestKind::Embed) is made of, whose prompt is text or tokens and which has
    /// neither a session nor options of one. Other kinds are refused with it.
    pub embed: EmbedOptions,
    /// The request goes on behind what requests of the same number have computed, and nobody else's: so that nobody can tell by the
    /// time of an answer what others have asked. Of kind [`Embed`](RequestKind::Embed) it changes nothing. Range: any number.
    pub cache_salt: u64,
}

#[derive(Clone, Copy, Debug)]
enum Asked<'a> {
    Prompt(Prompt<'a>),
    Conversation(Conversation<'a>),
}

impl<'a> Request<'a> {
    /// A text, which becomes tokens as by [`Engine::tokenize`](crate::Engine::tokenize) without options, or tokens.
    ///
    /// ```
    /// # use inlay::*;
    /// let request = Request::new("Once upon a time").priority(3).timeout(std::time::Duration::from_secs(20));
    /// assert_eq!(request.priority, 3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(prompt: impl Into<Prompt<'a>>) -> Self {
        Self::of(Asked::Prompt(prompt.into()))
    }

    /// A conversation, as [`Engine::chat_tokens`](crate::Engine::chat_tokens) takes it.
    ///
    /// ```
    /// # use inlay::*;
    /// let messages = [ChatMessage::user("Do you have a room?")];
    /// let request = Request::chat(&messages).session(SessionOptions::default().max_tokens(100));
    /// assert_eq!(request.chat_end, ChatEnd::Answer);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn chat(conversation: impl Into<Conversation<'a>>) -> Self {
        Self::of(Asked::Conversation(conversation.into()))
    }

    fn of(prompt: Asked<'a>) -> Self {
        Self {
            prompt,
            kind: RequestKind::default(),
            template: None,
            chat_end: ChatEnd::Answer,
            session: SessionOptions::default(),
            priority: 0,
            deadline: None,
            timeout: None,
            user: 0,
            continues: None,
            embed: EmbedOptions::default(),
            cache_salt: 0,
        }
    }

    /// Makes a call with the request as the C API wants it.
    pub(crate) fn with_raw(
        &self,
        library: Library,
        function: impl FnOnce(&raw::inlay_request) -> Result<()>,
    ) -> Result<()> {
        if let Some(session) = self.continues {
            check_library(session.engine().library(), library)?;
        }
        let chat = chat_params(self.template, self.chat_end);
        self.session.with_raw(library, |session| {
            let embeds = self.kind == RequestKind::Embed;
            let keeps = (self.continues.is_some() || embeds) && self.session == SessionOptions::default();
            let embed = self.embed.to_raw();
            let has_chat = matches!(self.prompt, Asked::Conversation(_))
                || self.template.is_some()
                || self.chat_end != ChatEnd::Answer;
            let request = raw::inlay_request {
                chat: if has_chat { &chat } else { std::ptr::null() },
                kind: self.kind.to_raw(),
                session_params: if keeps { std::ptr::null() } else { session },
                continues: self.continues.map_or(std::ptr::null(), |session| session.as_ptr().cast_const()),
                priority: count(self.priority),
                deadline_us: micros(self.deadline),
                timeout_us: micros(self.timeout),
                user: self.user,
                cache_salt: self.cache_salt,
                embed: if embeds || self.embed != EmbedOptions::default() { &embed } else { std::ptr::null() },
                ..Default::default()
            };
            match self.prompt {
                Asked::Prompt(Prompt::Tokens(tokens)) => {
                    function(&raw::inlay_request { tokens: tokens.as_ptr(), n_tokens: tokens.len(), ..request })
                }
                Asked::Prompt(Prompt::Text(text)) => {
                    function(&raw::inlay_request { text: text.as_ptr().cast(), text_len: text.len(), ..request })
                }
                Asked::Conversation(conversation) => {
                    let json = conversation.json();
                    let (conversation, conversation_len) = (json.as_ptr().cast(), json.len());
                    function(&raw::inlay_request { conversation, conversation_len, ..request })
                }
            }
        })
    }
}

/// What a [`Queue`](crate::Queue) holds. Zero means default.
#[derive(Default)]
#[non_exhaustive]
pub struct QueueOptions {
    /// Requests that were submitted and whose ends were not polled, or whose vectors were not taken: one more is
    /// [`QueueFull`](crate::Status::QueueFull). Default: 1024. Range: 0 to 1048576.
    pub max_requests: u32,
    /// A request of which as many tokens wait to be polled rests until some are. It loses nothing, and holds no other up. Default:
    /// 256. Range: 0 to 1048576.
    pub max_unread_tokens: u32,
    /// Called when there comes something to poll, on whatever thread brought that about, one of the engine's among them. It should do
    /// no more than wake somebody: a call of the queue is refused in it with [`Status::InvalidState`](crate::Status::InvalidState),
    /// and it must call nothing else of the library. What it drops, engines and queues among them, is freed by another thread.
    pub wake: Option<WakeFn>,
}

impl QueueOptions {
    /// Sets [`wake`](Self#structfield.wake).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let host = std::thread::current();
    /// let queue = engine.queue(QueueOptions::default().wake(move || host.unpark()))?;
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn wake(mut self, wake: impl Fn() + Send + Sync + 'static) -> Self {
        self.wake = Some(Box::new(wake));
        self
    }

    /// The parameters without the callback.
    pub(crate) fn to_raw(&self) -> raw::inlay_queue_params {
        raw::inlay_queue_params {
            max_requests: count(self.max_requests),
            max_unread_tokens: count(self.max_unread_tokens),
            ..Default::default()
        }
    }
}

impl fmt::Debug for QueueOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueOptions")
            .field("max_requests", &self.max_requests)
            .field("max_unread_tokens", &self.max_unread_tokens)
            .finish_non_exhaustive()
    }
}

/// How long [`Engine::run`](crate::Engine::run) may compute. A [`Duration`] stands for one with that budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunOptions {
    /// The call begins no part of a step that it does not expect to end within this time, by what parts like it have taken, but the
    /// first, so that requests go on with any budget. `None`: until no request can go on.
    pub budget: Option<Duration>,
    /// Bounds what prompts add to a step, and so the time from one token to the next of those that draw. `None`: no bound.
    pub max_step: Option<Duration>,
    /// One step at most: each request that draws gets one token.
    pub one_step: bool,
    /// The call does not wait for a GPU: it collects what the GPU has computed since the last one and queues the next part, one step at
    /// most; `budget` is then the GPU's time. Calls of sessions wait for what is queued. The CPU computes as without it.
    pub no_wait: bool,
    /// Bounds the calling thread's time as `budget` does the computing. With `no_wait` on a GPU, where `budget` is the GPU's time alone,
    /// the call begins nothing that it does not expect the thread to have done within this time. Where the call waits for what it
    /// computes the smaller of the two counts. `None`: no bound of its own.
    pub host_budget: Option<Duration>,
}

impl RunOptions {
    pub(crate) fn to_raw(self) -> raw::inlay_run_params {
        raw::inlay_run_params {
            flags: if self.one_step { raw::INLAY_RUN_ONE_STEP } else { 0 }
                | if self.no_wait { raw::INLAY_RUN_NO_WAIT } else { 0 },
            budget_us: micros(self.budget),
            host_budget_us: micros(self.host_budget),
            max_step_us: micros(self.max_step),
            ..Default::default()
        }
    }
}

impl From<Duration> for RunOptions {
    fn from(budget: Duration) -> Self {
        Self::default().budget(budget)
    }
}

/// What a call of [`Engine::run`](crate::Engine::run) came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// Requests can go on at the next call.
    pub has_work: bool,
    /// Tokens that were drawn.
    pub n_tokens: u64,
    /// Requests of the engine that have not ended.
    pub n_requests: u32,
}

impl RunInfo {
    pub(crate) fn from_raw(info: &raw::inlay_run_info) -> Self {
        Self {
            has_work: info.flags & raw::INLAY_RUN_INFO_HAS_WORK != 0,
            n_tokens: info.n_tokens,
            n_requests: u32::try_from(info.n_requests).unwrap_or(0),
        }
    }
}

/// How an engine's own thread computes: see [`Engine::set_thread`](crate::Engine::set_thread).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadOptions {
    /// It computes for at most this long in each period, as far as that can be foretold. `None`: all the time.
    pub busy: Option<Duration>,
    /// At least as long as `busy`; both are set or neither. `None`: all the time.
    pub period: Option<Duration>,
    /// As [`RunOptions::max_step`]. `None`: no bound.
    pub max_step: Option<Duration>,
}

impl ThreadOptions {
    pub(crate) fn to_raw(self) -> raw::inlay_thread_params {
        raw::inlay_thread_params {
            busy_us: micros(self.busy),
            period_us: micros(self.period),
            max_step_us: micros(self.max_step),
            ..Default::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_what_the_library_takes() {
        assert_eq!(micros(None), 0);
        assert_eq!(micros(Some(Duration::ZERO)), 1);
        assert_eq!(micros(Some(Duration::from_nanos(1999))), 1);
        assert_eq!(micros(Some(Duration::from_millis(4))), 4000);
        assert_eq!(micros(Some(Duration::MAX)), MOST_US);
    }
}
