//! Saved sessions: what is restored goes on alike, and what cannot be is refused.
mod common;

use common::*;
use inlay::{ConstraintSource, ErrorKind, Sampler, SessionOptions, Status};
use std::io::{self, Read, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

fn hot() -> SessionOptions {
    SessionOptions::default()
        .max_tokens(20)
        .sampler(Sampler::default().temperature(0.9).seed(7).repetition_penalty(1.2))
}

#[test]
fn a_restored_session_goes_on_alike() {
    let engine = load();
    for n_drawn in [0, 1, 9, 20] {
        let mut session = engine.session(&hot()).expect("a session");
        session.prefill(PROMPT).expect("the prompt runs");
        let begun: Vec<_> = (0..n_drawn).map(|_| session.decode_step().expect("a step").text).collect();
        let state = session.save().expect("it is saved");
        let mut written = Vec::new();
        session.save_to(&mut written).expect("it is written");
        assert_eq!(state, written);
        let mut again = engine.restore(&state).expect("it is restored");
        let mut read = engine.restore_from(state.as_slice()).expect("it is read");
        assert_eq!(again.info().unwrap().n_tokens, session.info().unwrap().n_tokens);
        if n_drawn == 20 {
            assert_eq!(again.decode_step().unwrap_err().status(), Status::InvalidState);
            continue;
        }
        let text = session.events().into_text().expect("a text");
        assert_eq!(again.events().into_text().expect("a text"), text, "{begun:?}");
        assert_eq!(read.events().into_text().expect("a text"), text, "{begun:?}");
    }
}

#[test]
fn a_constraint_is_made_again() {
    let engine = load();
    let constraint =
        engine.constraint(&ConstraintSource::choices(["a long way", "a short way"])).expect("a constraint");
    let mut session = engine.session(&hot().constraint(constraint)).expect("a session");
    session.prefill(PROMPT).expect("the prompt runs");
    session.decode_step().expect("a step");
    let mut again = engine.restore(&session.save().expect("it is saved")).expect("it is restored");
    assert_eq!(again.info().unwrap().constraint_state, session.info().unwrap().constraint_state);
    assert_eq!(again.events().into_text().expect("a text"), session.events().into_text().expect("a text"));
}

#[test]
fn damage_is_refused() {
    let engine = load();
    let mut session = engine.session(&hot()).expect("a session");
    session.prefill(PROMPT).expect("the prompt runs");
    let state = session.save().expect("it is saved");
    for n in [0, 7, 47, state.len() / 2, state.len() - 1] {
        assert_eq!(engine.restore(&state[..n]).unwrap_err().status(), Status::Format, "the first {n}");
    }
    for at in (0..state.len()).step_by(977) {
        let mut damaged = state.clone();
        damaged[at] ^= 16;
        let status = engine.restore(&damaged).unwrap_err().status();
        assert!(status == Status::Format || status == Status::Unsupported, "byte {at}: {status:?}");
    }
    engine.restore(&state).expect("the control");
}

/// Fails, or panics, after some bytes.
struct Brittle<S> {
    stream: S,
    left: usize,
    panics: bool,
}

impl<S> Brittle<S> {
    fn take(&mut self, n: usize) -> io::Result<()> {
        if n <= self.left {
            self.left -= n;
            return Ok(());
        }
        assert!(!self.panics, "of the stream");
        Err(io::Error::from_raw_os_error(28))
    }
}

impl<S: Read> Read for Brittle<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.take(into.len())?;
        self.stream.read(into)
    }
}

impl<S: Write> Write for Brittle<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes.len())?;
        self.stream.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_streams_error_and_panic_reach_the_caller() {
    let engine = load();
    let mut session = engine.session(&hot()).expect("a session");
    session.prefill(PROMPT).expect("the prompt runs");
    let state = session.save().expect("it is saved");
    for left in [0, 60, state.len() - 1] {
        let error = session.save_to(Brittle { stream: io::sink(), left, panics: false }).unwrap_err();
        assert_eq!((error.kind(), error.status(), error.native_code()), (ErrorKind::Reader, Status::Io, 28));
        let error = engine.restore_from(Brittle { stream: state.as_slice(), left, panics: false }).unwrap_err();
        assert_eq!((error.kind(), error.status(), error.native_code()), (ErrorKind::Reader, Status::Io, 28));
        let panic =
            catch_unwind(AssertUnwindSafe(|| session.save_to(Brittle { stream: io::sink(), left, panics: true })));
        assert!(panic.is_err());
        let panic = catch_unwind(AssertUnwindSafe(|| {
            engine.restore_from(Brittle { stream: state.as_slice(), left, panics: true })
        }));
        assert!(panic.is_err());
    }
    let short = engine.restore_from(&state[..state.len() - 1]).unwrap_err();
    assert_eq!(short.kind(), ErrorKind::Reader, "{short:?}");
    assert_eq!(session.save().expect("it is as before"), state);
}
