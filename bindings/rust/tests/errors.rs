//! Every status that can be provoked arrives as an error with that status.
mod common;

use common::*;
use inlay::{
    decode_step, raw, DeviceKind, Engine, Error, ErrorKind, FinishReason, GenerateOptions, KvDtype, LogitBias, Sampler,
    SessionOptions, Status,
};
use std::fmt::Debug;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

#[track_caller]
fn refused<T: Debug>(result: inlay::Result<T>, status: Status, says: &str) -> Error {
    let error = result.expect_err("an error");
    assert_eq!(error.status(), status, "{error}");
    assert!(error.message().contains(says), "{error}");
    error
}

#[test]
fn invalid_argument() {
    let engine = load();
    let wrong = Sampler::default().top_p(2.0);
    refused(endless(&engine).set_sampler(&wrong), Status::InvalidArgument, "top_p");
    refused(endless(&engine).set_stop(&[""]), Status::InvalidArgument, "stop");
    refused(endless(&engine).prefill(&[-1]), Status::InvalidArgument, "token");
    let far = options().n_context(u32::MAX);
    refused(Engine::load(model(), far), Status::InvalidArgument, "n_context");
}

#[test]
fn not_found() {
    let error = refused(Engine::load("no/such/model.gguf", options()), Status::NotFound, "no/such/model.gguf");
    assert_eq!(error.kind(), ErrorKind::Call);
    let engine = load();
    refused(engine.meta_value("no.such.key"), Status::NotFound, "no.such.key");
    refused(engine.meta_key(1 << 40), Status::NotFound, "");
    refused(engine.profile_text(inlay::ProfileForm::Kinds), Status::NotFound, "");
}

struct Unreadable;

impl Read for Unreadable {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(13))
    }
}

impl Seek for Unreadable {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(1000)
    }
}

#[test]
fn io_has_the_readers_error_number() {
    let error = refused(Engine::load_reader(Unreadable, options()), Status::Io, "");
    assert_eq!(error.native_code(), 13);
    assert_eq!(error.kind(), ErrorKind::Reader);
}

/// A reader that tells more bytes than there is room for.
struct Boasting {
    model: io::Cursor<Vec<u8>>,
    more: usize,
}

impl Read for Boasting {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.model.read(room).map(|n| n + self.more)
    }
}

impl Seek for Boasting {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.model.seek(to)
    }
}

#[test]
fn a_reader_that_reads_more_than_it_may_is_an_error() {
    let model = std::fs::read(model()).unwrap();
    for more in [0, 1, 1 << 20, usize::MAX >> 1] {
        let loaded = Engine::load_reader(Boasting { model: io::Cursor::new(model.clone()), more }, options());
        if more == 0 {
            loaded.unwrap();
            continue;
        }
        let error = refused(loaded, Status::Io, "");
        let source = std::error::Error::source(&error).expect("a source").to_string();
        assert!(source.starts_with("the reader says that it has read "), "{source}");
    }
}

/// A reader whose errors are its own; it has a size or not.
struct Sealed {
    has_size: bool,
}

#[derive(Debug)]
struct WrongKey(u32);

impl std::fmt::Display for WrongKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the key {} does not fit", self.0)
    }
}

impl std::error::Error for WrongKey {}

impl Read for Sealed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(WrongKey(7)))
    }
}

impl Seek for Sealed {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        if self.has_size {
            Ok(1000)
        } else {
            Err(io::Error::other(WrongKey(8)))
        }
    }
}

#[test]
fn a_readers_own_error_is_the_source() {
    for (has_size, number) in [(true, 7), (false, 8)] {
        let error = refused(Engine::load_reader(Sealed { has_size }, options()), Status::Io, "");
        assert_eq!((error.kind(), error.native_code()), (ErrorKind::Reader, 0), "{error:?}");
        let source = std::error::Error::source(&error).expect("a source").downcast_ref::<io::Error>().unwrap();
        let own = source.get_ref().unwrap().downcast_ref::<WrongKey>().expect("the reader's own error");
        assert_eq!(own.0, number);
        assert!(format!("{error:?}").contains(&format!("because of: the key {number} does not fit")), "{error:?}");
    }
    let other = Engine::load_memory(b"not a model", options()).unwrap_err();
    assert!(std::error::Error::source(&other).is_none());
}

#[test]
fn a_cancelled_text_is_told_from_a_whole_one() {
    let engine = load();
    let mut session = endless(&engine);
    let whole = GenerateOptions::default().max_tokens(8);
    let text = session.generate(PROMPT, &whole).unwrap().into_text().unwrap();
    let reply = session.generate(PROMPT, &whole).unwrap().into_reply().unwrap();
    assert_eq!((reply.finish_reason, reply.n_generated, reply.is_cancelled()), (FinishReason::MaxTokens, 8, false));
    session.truncate(0).unwrap();
    let mut events = session.generate(PROMPT, &whole).unwrap();
    let begun: String = events.by_ref().take(3).map(|event| event.unwrap().text).collect();
    assert!(!begun.is_empty() && text.starts_with(&begun));
    events.cancel_handle().cancel();
    let error = refused(events.into_text(), Status::Cancelled, "after 3 tokens");
    assert!(error.is_cancelled());
    let events = session.generate(PROMPT, &whole).unwrap();
    events.cancel_handle().cancel();
    let reply = events.into_reply().unwrap();
    assert_eq!((reply.finish_reason, reply.n_generated, reply.is_cancelled()), (FinishReason::Cancelled, 0, true));
    assert!(!refused(session.decode_step(), Status::InvalidState, "").is_cancelled());
}

#[test]
fn format() {
    refused(Engine::load_memory(b"no model at all, but long enough for a header", options()), Status::Format, "");
    let mut bytes = std::fs::read(model()).unwrap();
    bytes.truncate(bytes.len() / 2);
    refused(Engine::load_reader(Cursor::new(bytes), options()), Status::Format, "");
}

#[test]
fn unsupported() {
    let on_cpu = options().device(DeviceKind::Cpu).kv_dtype(KvDtype::Fp8);
    refused(Engine::load(model(), on_cpu), Status::Unsupported, "FP8");
}

#[test]
fn memory_that_there_is_not() {
    let status = if device() == DeviceKind::Cuda { Status::DeviceOutOfMemory } else { Status::OutOfMemory };
    let error = refused(Engine::load(model(), options().kv_budget_bytes(1 << 42)), status, "");
    assert!(error.required() > error.available() && error.available() > 0, "{error:?}");
}

#[test]
fn context_full() {
    let engine = load_with(options().n_context(16));
    let mut session = endless(&engine);
    let error = refused(session.prefill(&[1; 17]), Status::ContextFull, "");
    assert_eq!((error.required(), error.available()), (17, 16));
    refused(session.generate(&[1; 17], &GenerateOptions::default()), Status::ContextFull, "");
    assert_eq!(session.info().unwrap().n_tokens, 0);
    // A prompt that fits, and what is written after it, is no error.
    let mut events = session.generate(&[1; 14], &GenerateOptions::default()).unwrap();
    assert_eq!(events.next().unwrap().unwrap().finish_reason, None);
    let last = events.next().unwrap().unwrap();
    assert_eq!((last.finish_reason, last.token.is_some()), (Some(FinishReason::ContextFull), true));
    assert_eq!((last.n_prompt, last.n_generated), (14, 2));
    assert!(events.next().is_none());
    let info = session.info().unwrap();
    assert_eq!((info.n_tokens, info.finish_reason), (16, Some(FinishReason::ContextFull)));
    refused(session.decode_step(), Status::InvalidState, "");
    refused(session.prefill(&[1]), Status::ContextFull, "");
}

#[test]
fn a_prompt_that_fills_the_context_ends_without_a_token() {
    let engine = load_with(options().n_context(16));
    let (mut full, mut other) = (endless(&engine), endless(&engine));
    full.prefill(&[1; 16]).unwrap();
    let mut events = full.events();
    let last = events.next().unwrap().unwrap();
    assert_eq!((last.finish_reason, last.token), (Some(FinishReason::ContextFull), None));
    assert_eq!((last.text.as_str(), last.n_prompt, last.n_generated), ("", 16, 0));
    assert!(events.next().is_none());
    full.truncate(0).unwrap();
    assert_eq!(full.generate(&[1; 16], &GenerateOptions::default()).unwrap().into_text().unwrap(), "");
    full.truncate(0).unwrap();
    full.prefill(&[1; 15]).unwrap();
    other.prefill(&[1; 15 - 4]).unwrap();
    let events = decode_step([&mut full, &mut other]).unwrap();
    let reasons: Vec<_> = events.into_iter().map(|event| event.unwrap().finish_reason).collect();
    assert_eq!(reasons, [Some(FinishReason::ContextFull), None]);
    full.truncate(0).unwrap();
    let text = full.generate(&[1; 8], &GenerateOptions::default()).unwrap().into_text().unwrap();
    assert!(!text.is_empty());
    assert_eq!(full.info().unwrap().n_generated, 8);
}

#[test]
fn an_error_ends_the_events() {
    let engine = load();
    let mut session = endless(&engine);
    let mut events = session.events();
    refused(events.next().unwrap(), Status::InvalidState, "");
    assert!(events.next().is_none() && events.next().is_none());
    let mut session = begun(&engine);
    session.set_max_tokens(1).unwrap();
    assert_eq!(session.events().count(), 1);
    refused(session.events().into_text(), Status::InvalidState, "");
}

#[test]
fn kv_full() {
    let engine = load();
    let block_bytes = engine.info().unwrap().kv_bytes / u64::from(engine.stats().unwrap().n_kv_blocks);
    let n_block = engine.stats().unwrap().n_block_tokens as usize;
    let tight = load_with(options().kv_budget_bytes(2 * block_bytes));
    assert_eq!(tight.stats().unwrap().n_kv_blocks, 2);
    let (mut one, mut two) = (endless(&tight), endless(&tight));
    one.prefill(&vec![1; n_block]).unwrap();
    two.prefill(&vec![1; n_block - 4]).unwrap();
    draw(&mut one, 1); // drawn from the logits of the prefill; running it needs a block
    let events = decode_step([&mut one, &mut two]).unwrap();
    refused(events[0].clone(), Status::KvFull, "");
    assert!(events[1].is_ok());
    // A generation that meets it gives this error once.
    let mut events = one.events();
    refused(events.next().unwrap(), Status::KvFull, "");
    assert!(events.next().is_none() && events.next().is_none());
    drop(two);
    draw(&mut one, 1);
}

#[test]
fn cancelled() {
    let engine = load();
    let mut session = endless(&engine);
    session.cancel_handle().cancel();
    refused(session.prefill(PROMPT), Status::Cancelled, "");
    session.prefill(PROMPT).unwrap();
    let stop = options().progress(|_, _| ControlFlow::Break(()));
    refused(Engine::load(model(), stop), Status::Cancelled, "");
}

#[test]
fn no_device() {
    let absent = options().device(DeviceKind::Cuda).device_index(99);
    refused(Engine::load(model(), absent), Status::NoDevice, "");
}

#[test]
fn session_limit() {
    let engine = load_with(options().max_sessions(2));
    let mut one = endless(&engine);
    let two = endless(&engine);
    let error = refused(engine.session(&SessionOptions::default()), Status::SessionLimit, "");
    assert_eq!(error.available(), 2);
    refused(one.fork(), Status::SessionLimit, "");
    drop(two);
    one.fork().unwrap();
}

#[test]
fn every_field_of_a_sampler_arrives() {
    let engine = load();
    let s = Sampler::default;
    for (field, sampler) in [
        ("typical_p", s().typical_p(2.0)),
        ("top_n_sigma", s().top_n_sigma(-1.0)),
        ("dynatemp_range", s().dynatemp_range(-1.0)),
        ("dynatemp_exponent", s().dynatemp_exponent(-1.0)),
        ("xtc_probability", s().xtc_probability(2.0)),
        ("xtc_threshold", s().xtc_threshold(2.0)),
        ("mirostat_tau", s().mirostat_tau(-1.0)),
        ("mirostat_eta", s().mirostat_eta(-1.0)),
        ("adaptive_target", s().adaptive_target(2.0)),
        ("adaptive_decay", s().adaptive_decay(1.0)),
        ("dry_multiplier", s().dry_multiplier(-1.0)),
        ("dry_base", s().dry_base(0.5)),
        ("dry_window", s().dry_window(-2)),
        ("dry_breakers", s().dry_breakers(["x".repeat(129)])),
        ("n_dry_breakers", s().dry_breakers(["x"; 65])),
        ("in text 1", s().dry_breakers(["x", ""])),
        ("flags turn breakers off", s().dry_breakers(["x"]).no_dry_breakers(true)),
    ] {
        refused(engine.session(&SessionOptions::default().sampler(sampler)), Status::InvalidArgument, field);
    }
}

/// With room for one session, each refusal leaves that room free.
#[test]
fn what_is_refused_leaves_nothing() {
    let engine = load_with(options().max_sessions(1));
    let bias = vec![LogitBias { token: -5, bias: 1.0 }];
    let refusals = [
        SessionOptions::default().sampler(Sampler::default().temperature(-1.0)),
        SessionOptions::default().sampler(Sampler::default().bias(bias)),
        SessionOptions::default().stop_tokens([-1]),
        SessionOptions::default().stop_tokens([1; 1025]),
    ];
    for wrong in &refusals {
        refused(engine.session(wrong), Status::InvalidArgument, "");
        assert_eq!(engine.stats().unwrap().n_sessions, 0, "{wrong:?}");
        let mut session = begun(&engine);
        refused(session.fork(), Status::SessionLimit, "");
        assert_eq!(engine.stats().unwrap().n_sessions, 1);
    }
    // What a call of generate is refused for leaves the session usable.
    let mut session = begun(&engine);
    let want = greedy_after(&mut session);
    let wrong = GenerateOptions::default().stop([""]);
    refused(session.generate(PROMPT, &wrong), Status::InvalidArgument, "stop");
    let wrong = GenerateOptions::default().sampler(Sampler::default().top_p(2.0));
    refused(session.generate(PROMPT, &wrong), Status::InvalidArgument, "top_p");
    assert_eq!(greedy_after(&mut session), want);
}

/// What comes next, which the session forgets again.
fn greedy_after(session: &mut inlay::Session) -> Vec<inlay::Token> {
    let n = session.info().unwrap().n_tokens as usize;
    let tokens = draw(session, 4);
    session.truncate(n).unwrap();
    tokens
}

#[test]
fn invalid_state() {
    let engine = load();
    let mut session = engine.session(&SessionOptions::default().max_tokens(1)).unwrap();
    refused(session.decode_step(), Status::InvalidState, "");
    refused(session.logits(), Status::InvalidState, "");
    session.prefill(PROMPT).unwrap();
    session.decode_step().unwrap();
    let mut running = begun(&engine);
    let events = decode_step([&mut session, &mut running]).unwrap();
    let error = refused(events[0].clone(), Status::InvalidState, "");
    assert_eq!(error.session_index(), Some(0));
    assert!(events[1].is_ok());
}

/// Whatever is wrong with some sessions of a step, the others advance, and each error names its session.
#[test]
fn one_session_refuses_no_other() {
    let engine = load();
    let mut sessions: Vec<_> = (0..6).map(|_| begun(&engine)).collect();
    sessions[1].set_max_tokens(1).unwrap();
    sessions[1].decode_step().unwrap(); // has ended
    sessions[2].truncate(0).unwrap(); // has nothing to go on from
    sessions[4].cancel_handle().cancel(); // ends now
    let events = decode_step(&mut sessions).unwrap();
    for (index, event) in events.iter().enumerate() {
        match index {
            1 | 2 => {
                let error = refused(event.clone(), Status::InvalidState, "");
                assert_eq!(error.session_index(), Some(index));
                assert!(format!("{error:?}").contains(&format!("session {index}")), "{error:?}");
            }
            4 => assert_eq!(event.as_ref().unwrap().finish_reason, Some(FinishReason::Cancelled)),
            _ => assert_eq!(event.as_ref().unwrap().n_generated, 1, "session {index}"),
        }
    }
    assert_eq!(engine.session(&Default::default()).unwrap().decode_step().unwrap_err().session_index(), None);
}

#[test]
fn a_second_failure_of_a_step_is_named_too() {
    let engine = load();
    let (mut one, mut two) = (endless(&engine), endless(&engine));
    let events = decode_step([&mut one, &mut two]).unwrap();
    refused(events[0].clone(), Status::InvalidState, "");
    refused(events[1].clone(), Status::InvalidState, "session 1");
}

#[test]
fn sessions_of_two_engines_do_not_step_together() {
    let (here, there) = (load(), load());
    let (mut one, mut two) = (begun(&here), begun(&there));
    let error = refused(decode_step([&mut one, &mut two]), Status::InvalidArgument, "session 1");
    assert_eq!(error.session_index(), Some(1));
    assert_eq!(one.info().unwrap().n_generated, 0);
    assert!(decode_step([]).unwrap().is_empty());
}

#[test]
fn buffer_too_small_through_the_raw_layer() {
    let engine = load();
    let (mut token, mut n, mut error) = (0, 0, raw::inlay_error::default());
    // SAFETY: the text lives during the call, and there is room for one token.
    let status = unsafe {
        let tokenize = engine.library().functions().inlay_tokenize;
        tokenize(engine.as_ptr(), PROMPT.as_ptr().cast(), PROMPT.len(), 0, &mut token, 1, &mut n, &mut error)
    };
    assert_eq!((Status::from_raw(status), error.status), (Status::BufferTooSmall, status));
    assert_eq!(n, engine.tokenize(PROMPT, Default::default()).unwrap().len());
}

#[test]
fn an_error_says_status_and_message() {
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(Engine::load("missing", options()).unwrap_err());
    assert!(error.to_string().contains("missing") && error.to_string().contains("NotFound"), "{error}");
}
