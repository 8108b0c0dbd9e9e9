//! One request by itself: its text as an iterator, and as a stream.
use crate::{
    CancelHandle, Engine, Error, Queue, QueueOptions, Reply, Request, RequestEnd, RequestEventKind, RequestEvents,
    RequestId, RequestKind, Result, Status, TokenLogprob,
};
use std::fmt;
use std::future::{poll_fn, Future, IntoFuture};
use std::iter::FusedIterator;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The answer to a request as it comes, piece by piece: made by [`Engine::answer`], of which the engine runs all that there are
/// together.
///
/// It is an iterator, which blocks until there is a piece; and a stream, whose pieces are awaited by [`poll_next`](Self::poll_next) or
/// [`next_piece`](Self::next_piece). Awaited itself it is the whole [`Reply`]. The last piece has the [`RequestEnd`]; nothing comes
/// behind that, or behind an error. Dropping it cancels the request. It keeps its engine alive.
///
/// Somebody has to compute: a thread of the engine's own, [`Engine::set_thread`], or one that calls [`Engine::run`].
///
/// ```
/// # use inlay::*;
/// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
/// engine.set_thread(ThreadOptions::default())?;
/// let request = Request::new("Once upon a time").session(SessionOptions::default().max_tokens(8));
/// for piece in engine.answer(&request)? {
///     print!("{}", piece?.text);
/// }
/// # Ok::<(), Error>(())
/// ```
#[must_use = "dropping it cancels the request"]
pub struct Answer {
    queue: Arc<Queue>,
    events: RequestEvents,
    /// Of the events.
    n_taken: usize,
    id: RequestId,
    ended: bool,
    waker: Arc<Mutex<Option<Waker>>>,
    _engine: Engine,
}

/// A part of an [`Answer`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Piece {
    /// New text in whole characters. What may begin a stop string is held back until that is clear.
    pub text: String,
    /// Tokens that were drawn.
    pub tokens: Vec<TokenLogprob>,
    /// The likeliest in the place of each of them: see [`RequestEvent::likeliest`](crate::RequestEvent::likeliest).
    pub likeliest: Vec<Vec<TokenLogprob>>,
    /// How the request ended, in the last piece.
    pub end: Option<RequestEnd>,
}

/// The text.
impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn take(waker: &Mutex<Option<Waker>>) -> Option<Waker> {
    waker.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Engine {
    /// Submits a request by itself, and gives its text as it comes. Requests of several threads or tasks are computed together.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// engine.set_thread(ThreadOptions::default())?;
    /// let reply = engine.answer(&Request::new("Once upon a time").session(SessionOptions::default().max_tokens(8)))?.into_reply()?;
    /// assert_eq!(reply.n_generated, 8);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Queue::submit`], and [`Status::Unsupported`](crate::Status::Unsupported) where the library is older than ABI 1.3.
    pub fn answer(&self, request: &Request<'_>) -> Result<Answer> {
        if request.kind == RequestKind::Embed {
            return Err(Error::new(
                Status::InvalidArgument,
                "an answer has no vector: Queue::submit takes requests that embed",
            ));
        }
        let waker = Arc::new(Mutex::new(None));
        let woken = Arc::clone(&waker);
        let wake = move || {
            if let Some(waker) = take(&woken) {
                waker.wake();
            }
        };
        let queue = Arc::new(self.queue(QueueOptions::default().max_requests(1).wake(wake))?);
        let id = queue.submit(request)?;
        let events = RequestEvents::with_room(4, 64, 1024);
        Ok(Answer { queue, events, n_taken: 0, id, ended: false, waker, _engine: self.clone() })
    }
}

impl Answer {
    /// What stops the request from any thread. Once it is over that does nothing.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # engine.set_thread(ThreadOptions::default())?;
    /// let answer = engine.answer(&Request::new("Once upon a time"))?;
    /// answer.cancel_handle().cancel(); // on any thread
    /// let reply = answer.into_reply()?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle::of_request(&self.queue, self.id)
    }

    /// Waits for the end, and gives the text that is left and why it ended.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # engine.set_thread(ThreadOptions::default())?;
    /// let request = Request::new("Once upon a time").session(SessionOptions::default().max_tokens(8));
    /// let reply = engine.answer(&request)?.into_reply()?;
    /// println!("{} ({:?} after {} tokens)", reply.text, reply.finish_reason, reply.n_generated);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Of the request, if it failed; [`Status::InvalidState`](crate::Status::InvalidState) if nobody computes, or it was over.
    pub fn into_reply(mut self) -> Result<Reply> {
        let mut whole = Whole::default();
        loop {
            if let Some(reply) = whole.add(self.next()) {
                return reply;
            }
        }
    }

    /// The next piece for who awaits it, as a stream of an asynchronous runtime gives it: `poll_fn(move |cx| answer.poll_next(cx))` is
    /// one. The waker of the latest call is woken, on a thread of the engine's or of the program's that computes.
    ///
    /// ```
    /// # use inlay::*;
    /// # use std::{sync::Arc, task::{Context, Poll, Wake}};
    /// # struct Nobody;
    /// # impl Wake for Nobody {
    /// #     fn wake(self: Arc<Self>) {}
    /// # }
    /// # let waker = Arc::new(Nobody).into();
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let mut answer = engine.answer(&Request::new("Once upon a time").session(SessionOptions::default().max_tokens(8)))?;
    /// let mut context = Context::from_waker(&waker);
    /// assert!(answer.poll_next(&mut context).is_pending());
    /// engine.run(RunOptions::default())?;
    /// while let Poll::Ready(Some(piece)) = answer.poll_next(&mut context) {
    ///     print!("{}", piece?.text);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        // Before the events are looked at, so that none comes unseen.
        let waker = cx.waker().clone();
        let old = self.waker.lock().unwrap_or_else(PoisonError::into_inner).replace(waker);
        drop(old);
        self.take_piece().map_or(Poll::Pending, |piece| Poll::Ready(Some(piece)))
    }

    /// The next piece, to be awaited; `None` behind the last one.
    ///
    /// ```
    /// # use inlay::*;
    /// async fn show(mut answer: Answer) -> inlay::Result<()> {
    ///     while let Some(piece) = answer.next_piece().await {
    ///         print!("{}", piece?.text);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn next_piece(&mut self) -> impl Future<Output = Option<Result<Piece>>> + Send + '_ {
        poll_fn(|cx| self.poll_next(cx))
    }

    /// What has come and was not taken.
    fn take_piece(&mut self) -> Option<Result<Piece>> {
        loop {
            if self.n_taken == self.events.len() {
                self.n_taken = 0;
                match self.queue.poll(&mut self.events) {
                    Ok(0) => return None,
                    Ok(_) => {}
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(error));
                    }
                }
            }
            let event = self.events.get(self.n_taken)?;
            self.n_taken += 1;
            if matches!(event.kind, RequestEventKind::Other(_)) {
                continue;
            }
            self.ended = event.end.is_some();
            if let Some(RequestEnd { error: Some(error), .. }) = event.end {
                return Some(Err(error));
            }
            let likeliest = (0..event.tokens.len()).map(|i| event.likeliest(i).to_vec()).collect();
            let (text, tokens) = (event.text.into_owned(), event.tokens.to_vec());
            return Some(Ok(Piece { text, tokens, likeliest, end: event.end }));
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("id", &self.id).field("ended", &self.ended).finish_non_exhaustive()
    }
}

/// Blocks until there is a piece. Where nobody computes it is an error.
impl Iterator for Answer {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            if let Some(piece) = self.take_piece() {
                return Some(piece);
            }
            if let Err(error) = self.queue.wait(Duration::MAX) {
                self.ended = true;
                return Some(Err(error));
            }
        }
        None
    }
}

impl FusedIterator for Answer {}

impl IntoFuture for Answer {
    type Output = Result<Reply>;
    type IntoFuture = WholeAnswer;

    fn into_future(self) -> WholeAnswer {
        WholeAnswer { answer: self, whole: Whole::default() }
    }
}

/// An [`Answer`] that is awaited: it becomes a [`Reply`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct WholeAnswer {
    answer: Answer,
    whole: Whole,
}

impl Future for WholeAnswer {
    type Output = Result<Reply>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            match self.answer.poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(piece) => {
                    if let Some(reply) = self.whole.add(piece) {
                        return Poll::Ready(reply);
                    }
                }
            }
        }
    }
}

/// The text so far.
#[derive(Debug, Default)]
struct Whole(String);

impl Whole {
    /// The reply with the last piece.
    fn add(&mut self, piece: Option<Result<Piece>>) -> Option<Result<Reply>> {
        let piece = match piece {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => return Some(Err(error)),
            None => return Some(Err(crate::Error::new(crate::Status::InvalidState, "the answer has ended already"))),
        };
        self.0 += &piece.text;
        let end = piece.end?;
        let (n_prompt, n_generated) = (end.n_prompt, end.n_drawn);
        Some(Ok(Reply { text: std::mem::take(&mut self.0), finish_reason: end.finish_reason, n_prompt, n_generated }))
    }
}
