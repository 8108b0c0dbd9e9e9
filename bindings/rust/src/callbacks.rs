//! What the library calls: closures of the program behind C functions. A panic does not cross the library: it ends a call that
//! tells its progress and goes on after it; in a log sink it ends with the message.
use crate::{raw, Error, LogLevel, Result, Status};
use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::io::{self, Read, Seek, SeekFrom};
use std::mem::ManuallyDrop;
use std::ops::ControlFlow;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::thread::Builder;

/// Receives every log message of an engine, on whatever thread causes it, or those of a conversion.
pub type LogSink = Box<dyn Fn(LogLevel, &str) + Send + Sync>;

/// Is told how far a call is: what is done and what there is in all, bytes or tokens. `Break` cancels the call.
pub type ProgressFn<'a> = Box<dyn FnMut(u64, u64) -> ControlFlow<()> + 'a>;

/// Is told that a queue has something to poll which had nothing before: see [`QueueOptions::wake`](crate::QueueOptions::wake).
pub type WakeFn = Box<dyn Fn() + Send + Sync>;

/// A log sink that the library points to, for as long as this lives.
pub(crate) struct OwnedSink(*mut LogSink);

// SAFETY: the sink itself is Send and Sync, and the pointer owns it.
unsafe impl Send for OwnedSink {}
// SAFETY: as above.
unsafe impl Sync for OwnedSink {}

impl OwnedSink {
    pub(crate) fn new(sink: LogSink) -> Self {
        Self(Box::into_raw(Box::new(sink)))
    }

    pub(crate) fn install(&self, params: &mut raw::inlay_load_params) {
        params.log = Some(write_log);
        params.log_user = self.0.cast();
    }

    pub(crate) fn install_in_conversion(&self, params: &mut raw::inlay_convert_params) {
        params.log = Some(write_log);
        params.log_user = self.0.cast();
    }
}

impl Drop for OwnedSink {
    fn drop(&mut self) {
        // SAFETY: made by Box::into_raw, and the engine or conversion that used it is gone.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

unsafe extern "C" fn write_log(user: *mut c_void, level: raw::inlay_log_level, text: *const c_char, text_len: usize) {
    // SAFETY: `user` is the sink that OwnedSink keeps while the engine lives or the conversion runs; the text is valid during this call.
    let (sink, text) = unsafe { (&*user.cast::<LogSink>(), std::slice::from_raw_parts(text.cast::<u8>(), text_len)) };
    // The panic hook has reported a panic; there is no call of the program's that could pass it on.
    let _ = catch_unwind(AssertUnwindSafe(|| sink(LogLevel::from_raw(level), &String::from_utf8_lossy(text))));
}

/// A wake function that the library points to, for as long as this lives.
pub(crate) struct OwnedWake(*mut WakeFn);

// SAFETY: the function itself is Send and Sync, and the pointer owns it.
unsafe impl Send for OwnedWake {}
// SAFETY: as above.
unsafe impl Sync for OwnedWake {}

impl OwnedWake {
    pub(crate) fn new(wake: WakeFn) -> Self {
        Self(Box::into_raw(Box::new(wake)))
    }

    pub(crate) fn install(&self, params: &mut raw::inlay_queue_params) {
        params.wake = Some(call_wake);
        params.wake_user = self.0.cast();
    }
}

impl Drop for OwnedWake {
    fn drop(&mut self) {
        // SAFETY: made by Box::into_raw, and the queue that used it is gone.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

thread_local! {
    /// This thread is in a wake function, from which nothing of the library may be called.
    static IN_WAKE: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn is_in_wake() -> bool {
    IN_WAKE.get()
}

unsafe extern "C" fn call_wake(user: *mut c_void) {
    // SAFETY: `user` is the function that OwnedWake keeps until the queue is freed.
    let wake = unsafe { &*user.cast::<WakeFn>() };
    let was_in_wake = IN_WAKE.replace(true);
    // The panic hook has reported a panic; there is no call of the program's that could pass it on.
    let _ = catch_unwind(AssertUnwindSafe(wake));
    IN_WAKE.set(was_in_wake);
}

/// Frees a handle of the library. What a wake function drops, such as the last owner of a task that it wakes, is freed on a thread of
/// its own; without one it stays.
pub(crate) fn free(function: impl FnOnce() + Send + 'static) {
    if is_in_wake() {
        free_elsewhere(Builder::new(), function);
    } else {
        function();
    }
}

fn free_elsewhere(thread: Builder, function: impl FnOnce() + Send + 'static) {
    let function = ManuallyDrop::new(function); // which a spawn that fails must not drop: it may own the wake function that runs now
    drop(thread.spawn(move || ManuallyDrop::into_inner(function)()));
}

/// A handle of the library on its way to the thread that frees it.
pub(crate) struct Handle<T>(pub(crate) *mut T);

// SAFETY: handles belong to no thread; who sends one uses it no more.
unsafe impl<T> Send for Handle<T> {}

impl<T> Handle<T> {
    pub(crate) fn get(self) -> *mut T {
        self.0
    }
}

/// A progress function, and its panic once it has panicked.
pub(crate) struct Progress<'a> {
    function: ProgressFn<'a>,
    panic: Option<Box<dyn Any + Send>>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(function: ProgressFn<'a>) -> Self {
        Self { function, panic: None }
    }

    /// The parameters must not be used after `self`.
    pub(crate) fn install(&mut self, params: &mut raw::inlay_load_params) {
        params.progress = Some(tell_progress);
        params.progress_user = (&raw mut *self).cast();
    }

    /// The parameters must not be used after `self`.
    pub(crate) fn install_in_conversion(&mut self, params: &mut raw::inlay_convert_params) {
        params.progress = Some(tell_progress);
        params.progress_user = (&raw mut *self).cast();
    }

    /// The parameters must not be used after `self`.
    pub(crate) fn install_in_embedding(&mut self, params: &mut raw::inlay_embed_params) {
        params.progress = Some(tell_progress);
        params.progress_user = (&raw mut *self).cast();
    }

    /// The parameters must not be used after `self`.
    pub(crate) fn install_in_scoring(&mut self, params: &mut raw::inlay_score_params) {
        params.progress = Some(tell_progress);
        params.progress_user = (&raw mut *self).cast();
    }

    pub(crate) fn resume_panic(self) {
        if let Some(panic) = self.panic {
            resume_unwind(panic);
        }
    }
}

unsafe extern "C" fn tell_progress(user: *mut c_void, n_done: u64, n_total: u64) -> i32 {
    // SAFETY: `user` is the Progress that was installed; the call runs on this thread, so nobody else uses it now.
    let progress = unsafe { &mut *user.cast::<Progress<'_>>() };
    let function = &mut progress.function;
    match catch_unwind(AssertUnwindSafe(|| function(n_done, n_total))) {
        Ok(ControlFlow::Continue(())) => 0,
        Ok(ControlFlow::Break(())) => 1,
        Err(panic) => {
            progress.panic = Some(panic);
            1
        }
    }
}

/// A reader with its size, its error once it has failed, and its panic once it has panicked.
pub(crate) struct Reader<R> {
    reader: R,
    size: u64,
    error: Option<io::Error>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Number of the system's error for input and output, for errors that have none of their own: EIO, on Windows ERROR_IO_DEVICE.
pub(crate) const EIO: i32 = if cfg!(windows) { 1117 } else { 5 };
/// Bytes that are cleared and then read at a time: a part that the processor's cache holds.
const PIECE_BYTES: usize = 256 * 1024;

impl<R: Read + Seek> Reader<R> {
    pub(crate) fn new(mut reader: R) -> Result<Self> {
        let size = reader.seek(SeekFrom::End(0)).map_err(|error| {
            Error::new(Status::Io, format!("the reader cannot tell its size: {error}")).of_reader(error)
        })?;
        Ok(Self { reader, size, error: None, panic: None })
    }

    /// The description must not be used after `self`.
    pub(crate) fn describe(&mut self) -> raw::inlay_reader {
        raw::inlay_reader {
            user: (&raw mut *self).cast(),
            size: self.size,
            read: Some(read_range::<R>),
            ..Default::default()
        }
    }

    /// What the load came to: goes on with the reader's panic, and names its error as the cause.
    pub(crate) fn end<T>(self, outcome: Result<T>) -> Result<T> {
        if let Some(panic) = self.panic {
            resume_unwind(panic);
        }
        match (outcome, self.error) {
            (Err(error), Some(cause)) => Err(error.of_reader(cause)),
            (outcome, _) => outcome,
        }
    }

    /// # Safety
    /// `into` must have room for n bytes, which nobody else uses.
    unsafe fn read_at(&mut self, offset: u64, into: *mut u8, n: usize) -> io::Result<()> {
        self.reader.seek(SeekFrom::Start(offset))?;
        for begin in (0..n).step_by(PIECE_BYTES) {
            let size = PIECE_BYTES.min(n - begin);
            // SAFETY: within the room; cleared first, since a reader may look at what it is given.
            let piece = unsafe {
                let piece = into.add(begin);
                piece.write_bytes(0, size);
                std::slice::from_raw_parts_mut(piece, size)
            };
            self.fill(piece)?;
        }
        Ok(())
    }

    /// As `read_exact`, which panics where a reader says that it has read more than there is room for.
    fn fill(&mut self, mut room: &mut [u8]) -> io::Result<()> {
        while !room.is_empty() {
            match self.reader.read(room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) if n <= room.len() => room = &mut room[n..],
                Ok(n) => {
                    return Err(io::Error::other(format!(
                        "the reader says that it has read {n} bytes of {}",
                        room.len()
                    )))
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

pub(crate) fn native_code(error: &io::Error) -> i32 {
    error.raw_os_error().filter(|&code| code != 0).unwrap_or(EIO)
}

unsafe extern "C" fn read_range<R: Read + Seek>(user: *mut c_void, offset: u64, into: *mut c_void, n: u64) -> i32 {
    // SAFETY: `user` is the Reader that was described; the load runs on this thread, so nobody else uses it now.
    let reader = unsafe { &mut *user.cast::<Reader<R>>() };
    // SAFETY: the library gives room for n bytes, which fit into memory.
    match catch_unwind(AssertUnwindSafe(|| unsafe { reader.read_at(offset, into.cast(), n as usize) })) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            let code = native_code(&error);
            reader.error = Some(error);
            code
        }
        Err(panic) => {
            reader.panic = Some(panic);
            EIO
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_no_thread_frees_stays() {
        let owned = Arc::new(());
        let kept = owned.clone();
        free_elsewhere(Builder::new().stack_size(usize::MAX / 2), move || drop(kept));
        assert_eq!(Arc::strong_count(&owned), 2, "no thread has such a stack");
        let (kept, (tell, is_told)) = (owned.clone(), std::sync::mpsc::channel());
        free_elsewhere(Builder::new(), move || {
            drop(kept);
            tell.send(()).unwrap();
        });
        is_told.recv().unwrap();
        assert_eq!(Arc::strong_count(&owned), 2);
    }
}
