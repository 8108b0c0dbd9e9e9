use crate::{raw, Library, Queue, RequestId};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Stops one generation of a session from any thread, within one step or one chunk of a prefill. A generation is a prompt and what
/// is drawn after it, up to the next prompt or truncation. A request that comes when it is over has no effect on later ones.
///
/// It does not keep the session alive: once the session is dropped, cancelling does nothing. A library older than ABI 1.2 knows
/// no numbers of generations; with it a late request ends the session's next one.
///
/// One of an [`Answer`](crate::Answer) stops its request in the same way.
#[derive(Clone)]
pub struct CancelHandle(Of);

#[derive(Clone)]
enum Of {
    Generation { shared: Arc<Shared>, ticket: Arc<Mutex<Ticket>> },
    Request { queue: Weak<Queue>, id: RequestId },
}

struct Shared {
    library: Library,
    /// Null once the session is being freed. The lock keeps it from being freed during a cancel.
    session: Mutex<*mut raw::inlay_session>,
}

// SAFETY: a session may be cancelled from any thread while it exists, which the lock sees to.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// What a handle is for.
#[derive(Clone, Copy, Default)]
struct Ticket {
    /// `None` until the session works again.
    generation: Option<u64>,
    requested: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// `None`: the one under way. Nothing happens where none has begun.
    fn cancel_generation(&self, generation: Option<u64>) {
        let session = lock(&self.session);
        if session.is_null() {
            return;
        }
        let functions = self.library.functions();
        // SAFETY: a session that cannot be freed before the lock is; the struct is ours and says its size.
        unsafe {
            let mut info = raw::inlay_session_info::default();
            if generation.is_none() {
                (functions.inlay_session_get_info)(*session, &mut info, std::ptr::null_mut());
                if info.generation == 0 {
                    return;
                }
            }
            let generation = generation.unwrap_or(info.generation);
            let cancel = functions.inlay_session_cancel_generation;
            if cancel(*session, generation, std::ptr::null_mut()) == raw::INLAY_UNSUPPORTED {
                (functions.inlay_session_cancel)(*session);
            }
        }
    }
}

impl CancelHandle {
    /// Asks for the end of the generation. A prefill under way ends with [`Status::Cancelled`](crate::Status::Cancelled) after
    /// its chunk; otherwise the next step, or the prefill that begins the generation, sees the request, once: a step's event
    /// then has the finish reason [`Cancelled`](crate::FinishReason::Cancelled).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let handle = session.cancel_handle();
    /// std::thread::spawn(move || handle.cancel()).join().unwrap();
    /// let error = session.prefill("Once upon a time").unwrap_err();
    /// assert!(error.is_cancelled());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cancel(&self) {
        match &self.0 {
            Of::Generation { shared, ticket } => {
                let mut ticket = lock(ticket);
                ticket.requested = true;
                // A session that requests continue never works itself: the generation under way is the request's that has it. Another
                // one ends this generation, or the one that it begins in its place, when it works again.
                shared.cancel_generation(ticket.generation);
            }
            Of::Request { queue, id } => {
                // It fails only where the request is at its end, too.
                let _ = queue.upgrade().map(|queue| queue.cancel(*id));
            }
        }
    }

    pub(crate) fn of_request(queue: &Arc<Queue>, id: RequestId) -> Self {
        Self(Of::Request { queue: Arc::downgrade(queue), id })
    }
}

impl std::fmt::Debug for CancelHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("CancelHandle");
        match &self.0 {
            Of::Generation { ticket, .. } => shown.field("generation", &lock(ticket).generation),
            Of::Request { id, .. } => shown.field("request", id),
        };
        shown.finish()
    }
}

/// A session's side of its handles.
pub(crate) struct Cancels {
    shared: Arc<Shared>,
    /// Of the handles that were made since the session last worked: what it does next decides their generation.
    open: RefCell<Option<Arc<Mutex<Ticket>>>>,
}

impl Cancels {
    pub(crate) fn new(library: Library, session: *mut raw::inlay_session) -> Self {
        Self { shared: Arc::new(Shared { library, session: Mutex::new(session) }), open: RefCell::default() }
    }

    /// A handle for the generation that the session works on next.
    pub(crate) fn handle_of_next(&self) -> CancelHandle {
        let ticket = Arc::clone(self.open.borrow_mut().get_or_insert_with(Arc::default));
        CancelHandle(Of::Generation { shared: Arc::clone(&self.shared), ticket })
    }

    /// A handle for this generation.
    pub(crate) fn handle_of(&self, generation: u64) -> CancelHandle {
        let ticket = Arc::new(Mutex::new(Ticket { generation: Some(generation), requested: false }));
        CancelHandle(Of::Generation { shared: Arc::clone(&self.shared), ticket })
    }

    pub(crate) fn has_open_handles(&self) -> bool {
        self.open.borrow().is_some()
    }

    /// Before the session works on a generation: the handles that were made for it learn its number, and what they were asked for
    /// meanwhile is passed on.
    pub(crate) fn works_on(&self, generation: u64) {
        let Some(open) = self.open.borrow_mut().take() else {
            return;
        };
        let mut ticket = lock(&open);
        ticket.generation = Some(generation);
        if ticket.requested {
            self.shared.cancel_generation(Some(generation));
        }
    }

    pub(crate) fn forget_session(&self) {
        *lock(&self.shared.session) = std::ptr::null_mut();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{c_void, CStr};
    use std::ptr;
    use std::sync::atomic::{AtomicU32, Ordering};

    static N_CANCELS: AtomicU32 = AtomicU32::new(0);

    /// Such a library knows no number of the generation.
    unsafe extern "C" fn tell_nothing(
        _: *const raw::inlay_session,
        _: *mut raw::inlay_session_info,
        _: *mut raw::inlay_error,
    ) -> raw::inlay_status {
        raw::INLAY_OK
    }

    unsafe extern "C" fn count_cancel(_: *const raw::inlay_session) {
        N_CANCELS.fetch_add(1, Ordering::SeqCst);
    }

    /// A library of ABI 1.1, which has no `inlay_session_cancel_generation`, gets the request that it knows; a session that is
    /// gone gets none.
    #[test]
    fn an_older_library_is_asked_in_its_own_way() {
        let find = |name: &CStr| match name.to_str() {
            Ok("inlay_session_cancel") => count_cancel as *mut c_void,
            Ok("inlay_session_get_info") => tell_nothing as *mut c_void,
            Ok("inlay_session_cancel_generation") => ptr::null_mut(),
            _ => ptr::NonNull::<c_void>::dangling().as_ptr(),
        };
        // SAFETY: none of the functions that lie nowhere is called.
        let functions = unsafe { raw::Functions::resolve(1, find) }.unwrap();
        let cancels = Cancels::new(Library::of(Box::leak(Box::new(functions))), ptr::NonNull::dangling().as_ptr());
        let early = cancels.handle_of_next();
        early.cancel();
        assert_eq!(N_CANCELS.load(Ordering::SeqCst), 0, "nothing has begun");
        cancels.works_on(0);
        assert_eq!(N_CANCELS.load(Ordering::SeqCst), 1, "passed on");
        early.cancel();
        cancels.handle_of(0).cancel();
        assert_eq!(N_CANCELS.load(Ordering::SeqCst), 3);
        assert!(!cancels.has_open_handles());
        cancels.forget_session();
        early.cancel();
        assert_eq!(N_CANCELS.load(Ordering::SeqCst), 3);
    }
}
