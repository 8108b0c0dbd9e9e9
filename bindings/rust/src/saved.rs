//! Sessions as bytes: written by one program, restored by another.
use crate::callbacks::{native_code, EIO};
use crate::error::{call, read_all};
use crate::{raw, Engine, Result, Session};
use std::any::Any;
use std::ffi::c_void;
use std::io::{self, Read, Write};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// A reader or writer of the program behind a callback, its error once it has failed, and its panic once it has panicked.
struct Stream<S> {
    stream: S,
    error: Option<io::Error>,
    panic: Option<Box<dyn Any + Send>>,
}

impl<S> Stream<S> {
    fn new(stream: S) -> Self {
        Self { stream, error: None, panic: None }
    }

    fn user(&mut self) -> *mut c_void {
        (&raw mut *self).cast()
    }

    /// 0, or the number of an error that is kept.
    fn answer(&mut self, work: impl FnOnce(&mut S) -> io::Result<()>) -> i32 {
        let stream = &mut self.stream;
        match catch_unwind(AssertUnwindSafe(|| work(stream))) {
            Ok(Ok(())) => 0,
            Ok(Err(error)) => {
                let code = native_code(&error);
                self.error = Some(error);
                code
            }
            Err(panic) => {
                self.panic = Some(panic);
                EIO
            }
        }
    }

    /// What the call came to: goes on with the stream's panic, and names its error as the cause.
    fn end<T>(self, outcome: Result<T>) -> Result<T> {
        if let Some(panic) = self.panic {
            resume_unwind(panic);
        }
        match (outcome, self.error) {
            (Err(error), Some(cause)) => Err(error.of_reader(cause)),
            (outcome, _) => outcome,
        }
    }
}

unsafe extern "C" fn write_state<W: Write>(user: *mut c_void, state: *const c_void, n: u64) -> i32 {
    // SAFETY: `user` is the Stream that was described; the call runs on this thread, so nobody else uses it now.
    let stream = unsafe { &mut *user.cast::<Stream<W>>() };
    // SAFETY: the library gives n bytes, which fit into memory.
    let bytes = unsafe { std::slice::from_raw_parts(state.cast::<u8>(), n as usize) };
    stream.answer(|writer| writer.write_all(bytes))
}

unsafe extern "C" fn read_state<R: Read>(user: *mut c_void, into: *mut c_void, n: u64) -> i32 {
    // SAFETY: as in write_state().
    let stream = unsafe { &mut *user.cast::<Stream<R>>() };
    // SAFETY: the library gives room for n bytes; cleared first, since a reader may look at what it is given.
    let room = unsafe {
        into.cast::<u8>().write_bytes(0, n as usize);
        std::slice::from_raw_parts_mut(into.cast::<u8>(), n as usize)
    };
    stream.answer(|reader| reader.read_exact(room))
}

impl Session {
    /// All that the session is, as bytes: tokens, keys and values, sampler, limits, text that is held back, constraint. A session that
    /// [`Engine::restore`] makes of it goes on as this one would, and computes nothing again. Other sessions compute meanwhile.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.prefill("Once upon a time")?;
    /// let state = session.save()?;
    /// let mut again = engine.restore(&state)?;
    /// assert_eq!(session.events().into_text()?, again.events().into_text()?);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`](crate::Status::InvalidState): the session takes part in a step in slices; [`Status::Busy`](crate::Status::Busy):
    /// a request has it;
    /// [`Status::Unsupported`](crate::Status::Unsupported) or [`Status::DeviceLost`](crate::Status::DeviceLost).
    pub fn save(&mut self) -> Result<Vec<u8>> {
        let save = self.functions().inlay_session_save;
        // SAFETY: the session is used here alone, but for requests; there is room for `cap` bytes.
        read_all(1, |to: *mut u8, cap, n, err| unsafe { save(self.as_ptr(), to.cast(), cap, n, err) })
    }

    /// The same into a writer, part by part.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let mut state = Vec::new();
    /// session.save_to(&mut state)?;
    /// let again = engine.restore_from(state.as_slice())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Reader`](crate::ErrorKind::Reader), of which the source is the writer's error, behind what was written already; those of
    /// [`save`](Self::save).
    pub fn save_to<W: Write>(&mut self, writer: W) -> Result<()> {
        let mut stream = Stream::new(writer);
        let described =
            raw::inlay_state_writer { user: stream.user(), write: Some(write_state::<W>), ..Default::default() };
        // SAFETY: the session is used here alone; the stream lives during the call, and nothing else uses it.
        let outcome = call(|err| unsafe { (self.functions().inlay_session_save_to)(self.as_ptr(), &described, err) });
        stream.end(outcome)
    }
}

impl Engine {
    /// A session of what [`Session::save`] gave, here or in another process: of the same model, with weights and keys and values of the same
    /// types. Device, pool, threads and context may differ, as long as the tokens fit. Bytes of unknown origin do no harm.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let error = engine.restore(b"no saved session").unwrap_err();
    /// assert_eq!(error.status(), Status::Format);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Format`](crate::Status::Format): the bytes are damaged or no saved session; [`Status::Unsupported`](crate::Status::Unsupported):
    /// of another model, type of keys and values, or version. [`Status::ContextFull`](crate::Status::ContextFull),
    /// [`Status::KvFull`](crate::Status::KvFull), [`Status::SessionLimit`](crate::Status::SessionLimit) or
    /// [`Status::DeviceLost`](crate::Status::DeviceLost).
    pub fn restore(&self, state: &[u8]) -> Result<Session> {
        let mut session = std::ptr::null_mut();
        let restore = self.functions().inlay_session_restore;
        // SAFETY: engine and bytes live during the call.
        call(|err| unsafe { restore(self.as_ptr(), state.as_ptr().cast(), state.len(), &mut session, err) })?;
        Ok(Session::own(self.clone(), session))
    }

    /// The same from a reader, part by part. What lies behind the saved session is not read.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// # session.prefill("Once upon a time")?;
    /// let two: Vec<u8> = [session.save()?, session.save()?].concat();
    /// let mut rest = two.as_slice();
    /// let (one, other) = (engine.restore_from(&mut rest)?, engine.restore_from(&mut rest)?);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Reader`](crate::ErrorKind::Reader), of which the source is the reader's error; those of [`restore`](Self::restore).
    pub fn restore_from<R: Read>(&self, reader: R) -> Result<Session> {
        let mut stream = Stream::new(reader);
        let described =
            raw::inlay_state_reader { user: stream.user(), read: Some(read_state::<R>), ..Default::default() };
        let mut session = std::ptr::null_mut();
        let restore = self.functions().inlay_session_restore_from;
        // SAFETY: engine and stream live during the call, and nothing else uses the stream.
        let outcome = call(|err| unsafe { restore(self.as_ptr(), &described, &mut session, err) });
        stream.end(outcome)?;
        Ok(Session::own(self.clone(), session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Library, LoadOptions, SessionOptions};
    use std::ptr;

    const N_TOKENS: usize = 300;
    const N_LEFT: usize = 270;

    /// As a request does that continues the session, between two calls.
    unsafe fn cut(session: *mut raw::inlay_session) {
        // SAFETY: the session is the test's, which uses it alone.
        unsafe { (Library::get().unwrap().functions().inlay_session_truncate)(session, N_LEFT, ptr::null_mut()) };
    }

    unsafe extern "C" fn save_then_cut(
        session: *mut raw::inlay_session,
        state: *mut c_void,
        cap: usize,
        needed: *mut usize,
        err: *mut raw::inlay_error,
    ) -> raw::inlay_status {
        let save = Library::get().unwrap().functions().inlay_session_save;
        // SAFETY: as the caller has it.
        unsafe {
            let status = save(session, state, cap, needed, err);
            cut(session);
            status
        }
    }

    unsafe extern "C" fn read_then_cut(
        session: *mut raw::inlay_session,
        first: usize,
        tokens: *mut i32,
        cap: usize,
        n_tokens: *mut usize,
        err: *mut raw::inlay_error,
    ) -> raw::inlay_status {
        let read = Library::get().unwrap().functions().inlay_session_get_tokens;
        // SAFETY: as the caller has it.
        unsafe {
            let status = read(session, first, tokens, cap, n_tokens, err);
            cut(session);
            status
        }
    }

    #[test]
    fn a_session_may_change_while_it_is_read() {
        let Some(model) = std::env::var_os("INLAY_TEST_MODEL") else {
            return;
        };
        let mut functions = *Library::get().unwrap().functions();
        functions.inlay_session_save = save_then_cut;
        functions.inlay_session_get_tokens = read_then_cut;
        let library = Library::of(Box::leak(Box::new(functions)));
        let engine = library.load(model, LoadOptions::default().n_threads(2).n_context(512)).unwrap();
        let begun = || {
            let mut session = engine.session(&SessionOptions::default()).unwrap();
            session.prefill(&vec![65; N_TOKENS]).unwrap();
            session
        };
        let again = engine.restore(&begun().save().unwrap()).unwrap();
        assert_eq!(again.info().unwrap().n_tokens as usize, N_LEFT);
        assert_eq!(begun().tokens(0).unwrap(), [65; N_LEFT]);
    }
}
