use crate::{raw, Library};
use std::sync::{Arc, Mutex, PoisonError};

/// Stops a session from any thread, within one step or one chunk of a prefill. It does not keep the session alive: once the
/// session is dropped, cancelling does nothing.
#[derive(Clone)]
pub struct CancelHandle {
    shared: Arc<Shared>,
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

impl CancelHandle {
    pub(crate) fn new(library: Library, session: *mut raw::inlay_session) -> Self {
        Self { shared: Arc::new(Shared { library, session: Mutex::new(session) }) }
    }

    /// Asks the session to stop. A prefill under way ends with [`Status::Cancelled`](crate::Status::Cancelled) after its chunk;
    /// otherwise the session's next step, or its next prefill, sees the request, once: a step's event then has the finish
    /// reason [`Cancelled`](crate::FinishReason::Cancelled).
    pub fn cancel(&self) {
        let session = self.shared.session.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: null, or a session that cannot be freed before the lock is.
        unsafe { (self.shared.library.functions().inlay_session_cancel)(*session) }
    }

    pub(crate) fn forget_session(&self) {
        *self.shared.session.lock().unwrap_or_else(PoisonError::into_inner) = std::ptr::null_mut();
    }
}

impl std::fmt::Debug for CancelHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CancelHandle")
    }
}
