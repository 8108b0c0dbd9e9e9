use crate::{raw, Status};
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// What a call of this crate gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where an error comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no Inlay library, or none that this crate can use.
    Library,
    /// The program's own reader or writer failed: the source is its error.
    Reader,
    /// A call failed: the status says how.
    Call,
}

/// What went wrong: the library's status, its message, and the numbers that come with it.
///
/// Any call may fail with [`Status::InvalidArgument`], [`Status::OutOfMemory`] or [`Status::Internal`] besides the errors that it
/// names, and with [`Status::Unsupported`] where the library is older than what is asked of it.
///
/// Two errors are equal if these are; their sources are not compared.
#[derive(Clone)]
pub struct Error {
    kind: ErrorKind,
    status: Status,
    native_code: i32,
    required: u64,
    available: u64,
    message: String,
    session_index: Option<usize>,
    source: Option<Arc<std::io::Error>>,
}

impl Error {
    /// Where it comes from: tells a missing library from a missing model.
    ///
    /// ```
    /// # use inlay::*;
    /// let error = Engine::load("no/such.gguf", LoadOptions::default()).unwrap_err();
    /// match error.kind() {
    ///     ErrorKind::Library => println!("Inlay is not installed: {error}"),
    ///     _ => assert_eq!(error.status(), Status::NotFound),
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether a cancel request or a callback of the program ended the call.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// session.cancel_handle().cancel();
    /// assert!(session.prefill("Once upon a time").unwrap_err().is_cancelled());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.status == Status::Cancelled
    }

    /// Of a call for many sessions: the position of the one at fault, if it is one's.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let mut empty = engine.session(&SessionOptions::default())?;
    /// session.prefill("Once upon a time")?;
    /// let events = decode_step([&mut session, &mut empty])?;
    /// assert_eq!(events[1].as_ref().unwrap_err().session_index(), Some(1));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn session_index(&self) -> Option<usize> {
        self.session_index
    }

    /// What failed, as the C API counts it.
    ///
    /// ```
    /// # use inlay::*;
    /// let error = Engine::load("no/such.gguf", LoadOptions::default()).unwrap_err();
    /// assert_eq!(error.status(), Status::NotFound);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn status(&self) -> Status {
        self.status
    }

    /// The system's or the driver's error number, 0 if there is none.
    ///
    /// ```
    /// # use inlay::*;
    /// let error = Engine::load("no/such.gguf", LoadOptions::default()).unwrap_err();
    /// println!("the system says {}", error.native_code());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn native_code(&self) -> i32 {
        self.native_code
    }

    /// What was needed, in the unit that the message names; 0 where that makes no sense.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let error = session.prefill(&vec![1; 100_000]).unwrap_err();
    /// assert!(error.required() > error.available());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn required(&self) -> u64 {
        self.required
    }

    /// What there was, in the unit of [`required`](Self::required).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let error = session.prefill(&vec![1; 100_000]).unwrap_err();
    /// println!("the prompt is too long: at most {} tokens", error.available());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn available(&self) -> u64 {
        self.available
    }

    /// What is wrong and where, in English.
    ///
    /// ```
    /// # use inlay::*;
    /// let error = Engine::load("no/such.gguf", LoadOptions::default()).unwrap_err();
    /// assert!(error.message().contains("no/such.gguf"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Call,
            status,
            native_code: 0,
            required: 0,
            available: 0,
            message: message.into(),
            session_index: None,
            source: None,
        }
    }

    pub(crate) fn of_room(self, required: usize, available: usize) -> Self {
        Self { required: required as u64, available: available as u64, ..self }
    }

    pub(crate) fn of_session(self, index: usize) -> Self {
        Self { session_index: Some(index), ..self }
    }

    /// An error that a reader or writer of the program caused.
    pub(crate) fn of_reader(self, source: std::io::Error) -> Self {
        Self {
            kind: ErrorKind::Reader,
            native_code: source.raw_os_error().unwrap_or(0),
            source: Some(Arc::new(source)),
            ..self
        }
    }

    #[cfg(feature = "dlopen")]
    pub(crate) fn of_library(status: Status, message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Library, ..Self::new(status, message) }
    }

    fn compared(&self) -> (ErrorKind, Status, i32, u64, u64, &str, Option<usize>) {
        let Self { kind, status, native_code, required, available, message, session_index, source: _ } = self;
        (*kind, *status, *native_code, *required, *available, message, *session_index)
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.compared() == other.compared()
    }
}

impl Eq for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.message, self.status)
    }
}

/// As a program that ends with the error shows it: the message, and the numbers that there are.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        if self.native_code != 0 {
            write!(f, ", native code {}", self.native_code)?;
        }
        if self.required != 0 {
            write!(f, ", {} needed, {} available", self.required, self.available)?;
        }
        if let Some(index) = self.session_index {
            write!(f, ", session {index}")?;
        }
        if let Some(source) = &self.source {
            write!(f, ", because of: {source}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Makes a call that can fail, with room for its error, which only a failure reads.
pub(crate) fn call(function: impl FnOnce(*mut raw::inlay_error) -> raw::inlay_status) -> Result<()> {
    let mut room = MaybeUninit::<raw::inlay_error>::uninit();
    let status = function(room.as_mut_ptr());
    if status == raw::INLAY_OK {
        return Ok(());
    }
    // SAFETY: `function` was a call of the library or of its stand-in, which write the error whenever they return.
    Err(unsafe { read_error(status, room.as_ptr()) })
}

/// # Safety
/// `error` must have been written by a call that failed; behind its message it need not be.
unsafe fn read_error(status: raw::inlay_status, error: *const raw::inlay_error) -> Error {
    // SAFETY: each field read is one that the library writes, and the message is read no further than its length.
    unsafe {
        let n = ((*error).message_len as usize).min(raw::INLAY_ERROR_MESSAGE_BYTES);
        let message = std::slice::from_raw_parts((&raw const (*error).message).cast::<u8>(), n);
        Error {
            native_code: (*error).native_code,
            required: (*error).required,
            available: (*error).available,
            ..Error::new(Status::from_raw(status), String::from_utf8_lossy(message))
        }
    }
}

/// Room for tokens at the first try.
pub(crate) const TOKENS: usize = 256;

/// What a function writes into a buffer of which it says how large it must be: as much as the call wrote that had room for it.
pub(crate) fn read_all<T: Clone + Default>(
    first_capacity: usize,
    mut function: impl FnMut(*mut T, usize, *mut usize, *mut raw::inlay_error) -> raw::inlay_status,
) -> Result<Vec<T>> {
    let mut all = vec![T::default(); first_capacity];
    loop {
        let mut needed = 0;
        match call(|err| function(all.as_mut_ptr(), all.len(), &mut needed, err)) {
            // Room for the zero that ends a text, too. What is needed may have grown since; then it is asked again.
            Err(error) if error.status == Status::BufferTooSmall && needed >= all.len() => {
                all = vec![T::default(); needed + 1]
            }
            Err(error) => return Err(error),
            Ok(()) => {
                all.truncate(needed);
                return Ok(all);
            }
        }
    }
}

/// As [`read_all`], of a text.
pub(crate) fn read_bytes(
    first_capacity: usize,
    function: impl FnMut(*mut u8, usize, *mut usize, *mut raw::inlay_error) -> raw::inlay_status,
) -> Result<Vec<u8>> {
    read_all(first_capacity, function)
}

/// As [`read_bytes`], of a text that is whole characters.
pub(crate) fn read_string(
    first_capacity: usize,
    function: impl FnMut(*mut u8, usize, *mut usize, *mut raw::inlay_error) -> raw::inlay_status,
) -> Result<String> {
    Ok(into_string(read_bytes(first_capacity, function)?))
}

/// Bytes as text; what is no UTF-8 becomes U+FFFD.
pub(crate) fn into_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Token;

    fn failed(number: i32, message: &str, message_len: u32) -> Error {
        call(|err| {
            let mut written =
                raw::inlay_error { status: number, native_code: 5, required: 7, message_len, ..Default::default() };
            written.available = 3;
            for (to, from) in written.message.iter_mut().zip(message.bytes()) {
                *to = from as std::ffi::c_char;
            }
            // SAFETY: `call` gives room for it.
            unsafe { err.write(written) };
            number
        })
        .unwrap_err()
    }

    /// Also those that no test can provoke.
    #[test]
    fn every_status_arrives_with_all_that_comes_with_it() {
        for number in 1..100 {
            let error = failed(number, "the message", 11);
            assert_eq!(error.status().to_raw(), number);
            assert_eq!((error.native_code(), error.required(), error.available()), (5, 7, 3));
            assert_eq!(error.message(), "the message");
        }
        assert_eq!(failed(raw::INLAY_DEVICE_LOST, "", 0).status(), Status::DeviceLost);
        assert_eq!(failed(raw::INLAY_BUSY, "", 0).status(), Status::Busy);
        assert_eq!(failed(99, "", 0).status(), Status::Other(99));
    }

    #[test]
    fn a_message_is_read_no_further_than_its_room() {
        assert_eq!(failed(1, &"x".repeat(480), u32::MAX).message().len(), raw::INLAY_ERROR_MESSAGE_BYTES);
    }

    #[test]
    fn what_changes_between_two_calls_is_read_as_it_is() {
        for sizes in [&[200][..], &[300, 270], &[300, 340, 340], &[300, 340, 280]] {
            let mut next = sizes.iter();
            let read = read_all(TOKENS, |to: *mut Token, cap, needed, err| {
                let n = *next.next().unwrap();
                // SAFETY: `read_all` gives room for the number, and `call` for the error.
                unsafe { (*needed, *err) = (n, raw::inlay_error::default()) };
                if cap < n {
                    return raw::INLAY_BUFFER_TOO_SMALL;
                }
                // SAFETY: there is room for `cap` numbers.
                (0..n).for_each(|i| unsafe { to.add(i).write(7) });
                raw::INLAY_OK
            });
            assert_eq!(read.unwrap(), vec![7; *sizes.last().unwrap()]);
        }
    }

    #[test]
    fn texts_grow_until_they_fit() {
        let text = "a text that is longer than the room for it at first";
        for capacity in [0, 1, text.len(), text.len() + 1, 200] {
            let mut n_calls = 0;
            let read = read_string(capacity, |buf, cap, needed, err| {
                n_calls += 1;
                // SAFETY: `read_string` gives room for the number, and `call` for the error.
                unsafe { (*needed, *err) = (text.len(), raw::inlay_error::default()) };
                if cap <= text.len() {
                    return raw::INLAY_BUFFER_TOO_SMALL;
                }
                // SAFETY: there is room for `cap` bytes.
                unsafe { buf.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
                raw::INLAY_OK
            });
            assert_eq!(read.unwrap(), text);
            assert_eq!(n_calls, if capacity > text.len() { 1 } else { 2 });
        }
    }
}
