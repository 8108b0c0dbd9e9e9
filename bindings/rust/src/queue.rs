use crate::callbacks::{free, is_in_wake, Handle, OwnedSink, OwnedWake};
use crate::error::call;
use crate::{
    raw, Engine, Error, Library, QueueOptions, Request, RequestEvents, RequestId, Result, RunInfo, RunOptions, Status,
    ThreadOptions, WaitKind,
};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// Where a part of a program submits requests to an engine, and collects what becomes of them. Made by [`Engine::queue`].
///
/// The engine computes them together, by itself, in an order of its own: on a thread of its own, [`Engine::set_thread`], or where the
/// program calls [`Engine::run`]. An engine may have several queues; none sees what becomes of another's requests.
///
/// It is used from any thread at any time, and does not keep its engine alive: when that is dropped, requests that have not ended end
/// as [`Cancelled`](crate::FinishReason::Cancelled), and once this was polled the calls fail with [`Status::InvalidState`]. Dropping
/// the queue cancels its requests.
pub struct Queue {
    queue: *mut raw::inlay_queue,
    library: Library,
    /// What the library may call before the queue is freed.
    kept: Option<(Option<OwnedWake>, Option<Arc<OwnedSink>>)>,
}

// SAFETY: all functions that take a const queue may be called from any thread at any time; the owner alone frees it.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Drop for Queue {
    fn drop(&mut self) {
        let (queue, functions, kept) = (Handle(self.queue), self.library.functions(), self.kept.take());
        free(move || {
            // SAFETY: the queue is ours, and nobody is in a call with it.
            unsafe { (functions.inlay_queue_free)(queue.get()) }
            drop(kept);
        });
    }
}

impl Queue {
    fn call(&self, function: impl FnOnce(&raw::Functions, *mut raw::inlay_error) -> raw::inlay_status) -> Result<()> {
        if is_in_wake() {
            return Err(Error::new(Status::InvalidState, "a queue was called from a wake function"));
        }
        call(|err| function(self.library.functions(), err))
    }

    /// The handle of the C API, for what this crate does not wrap. It is this object's: it must not be freed.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// let cancel = engine.library().functions().inlay_request_cancel;
    /// // SAFETY: the queue lives.
    /// assert_eq!(unsafe { cancel(queue.as_ptr(), 1, std::ptr::null_mut()) }, raw::INLAY_OK);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn as_ptr(&self) -> *const raw::inlay_queue {
        self.queue
    }

    /// Hands a request over, of which the prompt becomes tokens at once. What can be wrong with it is refused here.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// let options = SessionOptions::default().max_tokens(8);
    /// let first = queue.submit(&Request::new("Once upon a time").session(options.clone()))?;
    /// let second = queue.submit(&Request::new("The old fox").session(options).priority(7))?;
    /// assert_ne!(first, second);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`], [`Status::Unsupported`], [`Status::Format`], [`Status::ContextFull`] or [`Status::KvFull`]: it
    /// will never fit; [`Status::QueueFull`]: poll, then try again; [`Status::InvalidState`]: the engine is gone;
    /// [`Status::DeviceLost`].
    pub fn submit(&self, request: &Request<'_>) -> Result<RequestId> {
        let mut id = 0;
        request.with_raw(self.library, |request| {
            // SAFETY: the request lives during the call.
            self.call(|functions, err| unsafe { (functions.inlay_submit)(self.queue, request, &mut id, err) })
        })?;
        Ok(RequestId(id))
    }

    /// Ends a request of the queue: no token is added once this has returned. Those that wait to be polled still arrive, then its end.
    /// Nothing happens where that was there before.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// let id = queue.submit(&Request::new("Once upon a time"))?;
    /// queue.cancel(id)?;
    /// let mut events = RequestEvents::default();
    /// queue.poll(&mut events)?;
    /// assert_eq!(events.get(0).unwrap().end.unwrap().finish_reason, FinishReason::Cancelled);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn cancel(&self, request: RequestId) -> Result<()> {
        // SAFETY: the queue lives.
        self.call(|functions, err| unsafe { (functions.inlay_request_cancel)(self.queue, request.0, err) })
    }

    /// The vector of a request of kind [`Embed`](crate::RequestKind::Embed) that has ended as
    /// [`Embedded`](crate::FinishReason::Embedded), once. Until then it stays, and the request counts among
    /// [`max_requests`](QueueOptions::max_requests).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// let options = EmbedOptions::default().pooling(Pooling::Mean).normalize(true);
    /// queue.submit(&Request::new("A fox in the woods.").kind(RequestKind::Embed).embed(options))?;
    /// engine.run(RunOptions::default())?;
    /// let mut events = RequestEvents::default();
    /// queue.poll(&mut events)?;
    /// let event = events.get(0).unwrap();
    /// let vector = queue.take_values(event.request)?;
    /// assert_eq!(vector.len(), event.end.unwrap().n_values);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`]: the request has not ended; [`Status::NotFound`]: there is no vector of it, or it was taken.
    pub fn take_values(&self, request: RequestId) -> Result<Vec<f32>> {
        let mut n = 0;
        // SAFETY: the queue lives; no room only asks for the number.
        self.call(|functions, err| unsafe {
            (functions.inlay_request_take_values)(self.queue, request.0, std::ptr::null_mut(), 0, &mut n, err)
        })?;
        let mut values = vec![0.0; n];
        let to = values.as_mut_ptr();
        // SAFETY: there is room for n values.
        self.call(|functions, err| unsafe {
            (functions.inlay_request_take_values)(self.queue, request.0, to, n, &mut n, err)
        })?;
        Ok(values)
    }

    /// Collects what became of the requests, as far as there is room, and tells how many events there are. A request's events come in
    /// order, its end last; what there is no room for comes with the next call.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// queue.submit(&Request::new("Once upon a time").session(SessionOptions::default().max_tokens(8)).user(5))?;
    /// let mut events = RequestEvents::default(); // kept from frame to frame
    /// loop {
    ///     let left = engine.run(std::time::Duration::from_millis(4))?;
    ///     while queue.poll(&mut events)? > 0 {
    ///         for event in events.iter() {
    ///             println!("character {}: {}", event.user, event.text);
    ///         }
    ///     }
    ///     if left.n_requests == 0 {
    ///         break;
    ///     }
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`]. The engine was dropped, and all was polled.
    pub fn poll(&self, events: &mut RequestEvents) -> Result<usize> {
        events.hold(0);
        let mut n = 0;
        let (to, cap, stride) =
            (events.events.as_mut_ptr(), events.events.len(), size_of::<raw::inlay_request_event>());
        let (tokens, cap_tokens) = (events.raw_tokens.as_mut_ptr(), events.raw_tokens.len());
        let (text, cap_text) = (events.text.as_mut_ptr().cast(), events.text.len());
        self.call(|functions, err| {
            // SAFETY: there is room for as many events, tokens and bytes as is said.
            unsafe {
                (functions.inlay_poll)(self.queue, to, cap, stride, tokens, cap_tokens, text, cap_text, &mut n, err)
            }
        })?;
        events.hold(n);
        Ok(n)
    }

    /// Waits until there is something to poll; `false`: the time is over, or [`wake`](Self::wake) has ended the wait. [`Duration::ZERO`]
    /// asks only, [`Duration::MAX`] is for ever.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// engine.set_thread(ThreadOptions::default())?;
    /// queue.submit(&Request::new("Once upon a time").session(SessionOptions::default().max_tokens(8)))?;
    /// assert!(queue.wait(std::time::Duration::from_secs(60))?);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`]. Nobody would ever end it: the engine has no thread of its own and nobody has called
    /// [`Engine::run`]; or it was dropped, which also ends those that wait.
    pub fn wait(&self, patience: Duration) -> Result<bool> {
        // As much as the clock of the library can count.
        let most = i64::MAX / 2000;
        let timeout_us = i64::try_from(patience.as_micros()).ok().filter(|&us| us < most).unwrap_or(-1);
        let mut result = 0;
        // SAFETY: the queue lives, and the number is ours.
        self.call(|functions, err| unsafe { (functions.inlay_wait)(self.queue, timeout_us, &mut result, err) })?;
        Ok(result == raw::INLAY_WAIT_RESULT_READY)
    }

    /// Ends every [`wait`](Self::wait) that is under way; where none is, the next one that would wait ends at once. There is no event.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// use std::{sync::atomic::{AtomicBool, Ordering}, thread, time::Duration};
    ///
    /// engine.set_thread(ThreadOptions::default())?;
    /// let stop = AtomicBool::new(false);
    /// thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         while !stop.load(Ordering::Acquire) {
    ///             queue.wait(Duration::MAX).unwrap(); // and poll
    ///         }
    ///     });
    ///     stop.store(true, Ordering::Release);
    ///     queue.wake()
    /// })?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Unsupported`] where the library lacks it.
    pub fn wake(&self) -> Result<()> {
        // SAFETY: the queue lives.
        self.call(|functions, err| unsafe { (functions.inlay_queue_wake)(self.queue, err) })
    }

    /// What a loop of the system can wait for: ready while there is something to poll. [`poll`](Self::poll) alone makes it unready.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// let handle = queue.wait_handle()?;
    /// println!("{:?} {}", handle.kind(), handle.number());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Unsupported`], [`Status::Io`] or [`Status::InvalidState`].
    pub fn wait_handle(&self) -> Result<WaitHandle<'_>> {
        let (mut kind, mut number) = (0, 0);
        self.call(|functions, err| {
            // SAFETY: the queue lives, and the numbers are ours.
            unsafe { (functions.inlay_queue_get_handle)(self.queue, &mut kind, &mut number, err) }
        })?;
        Ok(WaitHandle { kind: WaitKind::from_raw(kind), number, queue: PhantomData })
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({:p})", self.queue)
    }
}

/// What a loop of the system can wait for, as [`Queue::wait_handle`] gives it: a file descriptor with `AsFd`, on Windows a handle with
/// `AsHandle`. It belongs to the queue, which closes it: it is not to be read, written or set.
#[derive(Clone, Copy, Debug)]
pub struct WaitHandle<'q> {
    kind: WaitKind,
    number: i64,
    queue: PhantomData<&'q Queue>,
}

impl WaitHandle<'_> {
    /// What it is to the system.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// assert_eq!(queue.wait_handle()?.kind(), if cfg!(windows) { WaitKind::WindowsEvent } else { WaitKind::Eventfd });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn kind(&self) -> WaitKind {
        self.kind
    }

    /// The file descriptor, or the handle as a number.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// assert!(queue.wait_handle()?.number() > 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn number(&self) -> i64 {
        self.number
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for WaitHandle<'_> {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.number as std::os::fd::RawFd
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for WaitHandle<'_> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        // SAFETY: the queue closes it, which lives as long as this.
        unsafe { std::os::fd::BorrowedFd::borrow_raw(self.number as std::os::fd::RawFd) }
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsRawHandle for WaitHandle<'_> {
    fn as_raw_handle(&self) -> std::os::windows::io::RawHandle {
        self.number as usize as std::os::windows::io::RawHandle
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsHandle for WaitHandle<'_> {
    fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
        // SAFETY: the queue closes it, which lives as long as this.
        unsafe { std::os::windows::io::BorrowedHandle::borrow_raw(self.number as usize as _) }
    }
}

impl Engine {
    /// Makes a queue for requests to this engine, which it does not keep alive.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let queue = engine.queue(QueueOptions::default().max_requests(100))?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] for a wrong option; [`Status::Unsupported`] where the library is older than ABI 1.3.
    pub fn queue(&self, options: QueueOptions) -> Result<Queue> {
        let mut params = options.to_raw();
        let wake = options.wake.map(OwnedWake::new);
        if let Some(wake) = &wake {
            wake.install(&mut params);
        }
        let mut queue = std::ptr::null_mut();
        // SAFETY: engine and parameters live during the call, and what it may call as long as the queue.
        call(|err| unsafe { (self.functions().inlay_queue_create)(self.as_ptr(), &params, &mut queue, err) })?;
        Ok(Queue { queue, library: self.library(), kept: Some((wake, self.log())) })
    }

    /// Computes the engine's requests, of all queues, on this thread: for programs with a loop of their own. A step that the budget
    /// cuts goes on at the next call; other calls that compute end it first. An engine with [a thread of its own](Self::set_thread)
    /// needs and takes none of this.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// queue.submit(&Request::new("Once upon a time").session(SessionOptions::default().max_tokens(8)))?;
    /// while engine.run(std::time::Duration::from_millis(4))?.n_requests > 0 { // once a frame
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Busy`]: another thread is in it; [`Status::InvalidState`]: the engine has a thread of its own, or a step of
    /// [`decode_slice`](crate::decode_slice) is pending; [`Status::DeviceLost`].
    pub fn run(&self, options: impl Into<RunOptions>) -> Result<RunInfo> {
        let (params, mut info) = (options.into().to_raw(), raw::inlay_run_info::default());
        // SAFETY: the structs are ours and say their sizes.
        call(|err| unsafe { (self.functions().inlay_run)(self.as_ptr(), &params, &mut info, err) })?;
        Ok(RunInfo::from_raw(&info))
    }

    /// Gives the engine a thread of its own that computes its requests, changes how that one computes, or, with `None`, ends it. The
    /// log may then be written from that thread.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// use std::time::Duration;
    ///
    /// engine.set_thread(ThreadOptions::default())?; // all the time
    /// engine.set_thread(ThreadOptions::default().busy(Duration::from_millis(4)).period(Duration::from_millis(16)))?;
    /// engine.set_thread(None)?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] for a share that makes no sense; [`Status::DeviceLost`].
    pub fn set_thread(&self, options: impl Into<Option<ThreadOptions>>) -> Result<()> {
        let params = options.into().map(ThreadOptions::to_raw);
        let params = params.as_ref().map_or(std::ptr::null(), |params| params as *const _);
        // SAFETY: the parameters live during the call.
        call(|err| unsafe { (self.functions().inlay_engine_set_thread)(self.as_ptr(), params, err) })
    }
}
