//! Requests that continue a session: its tokens stay from one to the next.
mod common;

use common::*;
use inlay::{
    Engine, FinishReason, Queue, QueueOptions, Request, RequestEnd, RequestEvents, RequestKind, RunOptions, Sampler,
    Session, SessionOptions, Status, Token,
};

fn hot() -> SessionOptions {
    SessionOptions::default().max_tokens(6).sampler(Sampler::default().temperature(0.8).seed(5))
}

/// Computes all requests and gives the last one's end.
fn end(engine: &Engine, queue: &Queue) -> RequestEnd {
    let (mut events, mut last) = (RequestEvents::default(), None);
    while engine.run(RunOptions::default()).unwrap().n_requests > 0 {}
    while queue.poll(&mut events).unwrap() > 0 {
        last = events.iter().filter_map(|event| event.end.clone()).last().or(last);
    }
    last.expect("a request has ended")
}

fn tokens(session: &mut Session) -> Vec<Token> {
    session.tokens(0).unwrap()
}

#[test]
fn turns_are_those_of_a_session() {
    let engine = load_with(options().max_sessions(1));
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let mut stepping = engine.session(&hot()).unwrap();
    for text in [PROMPT, " and then"] {
        for event in stepping.generate(text, &Default::default()).unwrap() {
            event.unwrap();
        }
    }
    let wanted = tokens(&mut stepping);
    drop(stepping);
    let mut session = engine.session(&hot().for_requests(true)).unwrap();
    for text in [PROMPT, " and then"] {
        queue.submit(&Request::new(text).continues(&session)).unwrap(); // as the session draws
    }
    let last = end(&engine, &queue);
    assert_eq!(tokens(&mut session), wanted);
    assert_eq!(last.finish_reason, FinishReason::MaxTokens);
    assert_eq!(last.n_prompt as usize, wanted.len() - 6);
    assert!(last.n_cached > 0);
    let error = session.prefill(PROMPT).unwrap_err();
    assert_eq!(error.status(), Status::InvalidState);

    let prompt = Request::new("A little boat").kind(RequestKind::Prefill);
    queue.submit(&prompt.continues(&session).session(hot().max_tokens(1))).unwrap();
    assert_eq!(end(&engine, &queue).finish_reason, FinishReason::Prefilled);
    queue.submit(&Request::new("!").continues(&session)).unwrap();
    assert_eq!(end(&engine, &queue).n_drawn, 1, "the options of the request before hold");
}

#[test]
fn a_cancel_ends_the_request_that_has_the_session() {
    let engine = load_with(options().max_sessions(1).n_context(256));
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let endless = hot().max_tokens(0).ignore_end_of_generation(true);
    let mut session = engine.session(&endless.clone().for_requests(true)).unwrap();
    for is_restored in [false, true] {
        if is_restored {
            session = engine.restore(&session.save().unwrap()).unwrap();
        }
        let handle = session.cancel_handle();
        handle.cancel(); // nothing has it
        queue.submit(&Request::new(PROMPT).continues(&session).session(endless.clone())).unwrap();
        for _ in 0..3 {
            engine.run(RunOptions::default().one_step(true)).unwrap();
        }
        handle.cancel();
        assert_eq!(end(&engine, &queue).finish_reason, FinishReason::Cancelled);
        handle.cancel();
        let next = hot().max_tokens(2).ignore_end_of_generation(true);
        queue.submit(&Request::new("!").continues(&session).session(next)).unwrap();
        assert_eq!(end(&engine, &queue).finish_reason, FinishReason::MaxTokens, "the next one");
    }
}

/// It has the session before there is room for it.
#[test]
fn a_cancel_ends_a_request_that_waits_for_room() {
    let engine = load_with(options().max_sessions(1));
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let session = engine.session(&hot().for_requests(true).max_tokens(3).ignore_end_of_generation(true)).unwrap();
    let handle = session.cancel_handle();
    let step = || engine.run(RunOptions::default().one_step(true)).unwrap().n_requests;
    for _ in 0..2 {
        let holder = engine.session(&hot()).unwrap(); // takes the only place
        queue.submit(&Request::new(PROMPT).continues(&session)).unwrap();
        assert_eq!(step(), 1);
        handle.cancel();
        assert_eq!(step(), 0);
        assert_eq!(end(&engine, &queue).finish_reason, FinishReason::Cancelled);
        handle.cancel(); // nothing has it
        queue.submit(&Request::new(PROMPT).continues(&session)).unwrap();
        assert_eq!((step(), step()), (1, 1));
        drop(holder);
        assert_eq!(end(&engine, &queue).finish_reason, FinishReason::MaxTokens, "the next one");
    }
}

/// A pointer of one library means nothing to another one.
#[cfg(all(feature = "dlopen", target_os = "linux"))]
#[test]
fn a_session_of_another_copy_of_the_library_is_refused() {
    let Some(path) = std::env::var_os("INLAY_LIBRARY") else {
        return; // where the library lies is not known
    };
    let copy = std::env::temp_dir().join(format!("inlay-continued-{}.so", std::process::id()));
    std::fs::copy(path, &copy).unwrap();
    // SAFETY: it is the library of the other tests.
    let opened = unsafe { inlay::Library::open(copy.to_str().unwrap()) };
    std::fs::remove_file(&copy).unwrap();
    let foreign = opened.unwrap().load(model(), options()).unwrap().session(&hot().for_requests(true)).unwrap();
    let queue = load().queue(QueueOptions::default()).unwrap();
    let error = queue.submit(&Request::new(PROMPT).continues(&foreign)).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
    assert!(error.message().contains("different copies of the Inlay library"), "{error}");
}

#[test]
fn a_dropped_session_ends_its_requests() {
    let engine = load_with(options().max_sessions(1));
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let session = engine.session(&hot().for_requests(true).max_tokens(0)).unwrap();
    queue.submit(&Request::new(PROMPT).continues(&session)).unwrap();
    drop(session);
    assert_eq!(end(&engine, &queue).finish_reason, FinishReason::Cancelled);
    let stepping = engine.session(&hot()).unwrap();
    let error = queue.submit(&Request::new(PROMPT).continues(&stepping)).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument, "{error}");
}
