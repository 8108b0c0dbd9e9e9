//! Generations that own their session.
mod common;

use common::*;
use inlay::{FinishReason, GenerateOptions, OwnedGeneration, SessionOptions, Status};
use std::thread;

fn options(n: u32) -> GenerateOptions {
    GenerateOptions::default().max_tokens(n)
}

#[test]
fn an_owned_generation_gives_what_a_borrowing_one_gives() {
    let engine = load();
    let want: Vec<_> = endless(&engine).generate(PROMPT, &options(20)).unwrap().map(|event| event.unwrap()).collect();
    let mut owned: OwnedGeneration = owned(endless(&engine), PROMPT, &options(20));
    drop(engine);
    let (part, mut owned) = thread::spawn(move || {
        let part: Vec<_> = owned.by_ref().take(7).map(|event| event.unwrap()).collect();
        (part, owned)
    })
    .join()
    .unwrap();
    assert_eq!(part, want[..7]);
    assert_eq!(owned.session().info().unwrap().n_generated, 7);
    assert_eq!(owned.by_ref().map(|event| event.unwrap()).collect::<Vec<_>>(), want[7..]);
    assert!(owned.next().is_none());
    // The session goes on, and can be asked for again.
    let mut session = owned.into_session();
    assert_eq!(session.info().unwrap().finish_reason, Some(FinishReason::MaxTokens));
    session.truncate(0).unwrap();
    let mut again = common::owned(session, PROMPT, &options(20));
    let whole: String = want.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(again.text().unwrap(), whole);
    assert_eq!(again.text().unwrap_err().status(), Status::InvalidState);
    let mut session = again.into_session();
    session.truncate(0).unwrap();
    session.begin(PROMPT, &options(20)).unwrap();
    let reply = session.into_events().reply().unwrap();
    assert_eq!((reply.to_string(), reply.n_generated), (whole, 20));
}

#[test]
fn an_owned_generation_is_cancelled_from_outside() {
    let engine = load();
    let cancelled = || {
        let mut owned = owned(endless(&engine), PROMPT, &options(0));
        let handle = owned.cancel_handle();
        let running = thread::spawn(move || {
            let mut n = 0;
            for event in owned.by_ref() {
                let event = event.unwrap();
                n += 1;
                if let Some(reason) = event.finish_reason {
                    return (reason, n, owned.into_session());
                }
            }
            panic!("no end");
        });
        handle.cancel();
        let (reason, n, mut session) = running.join().unwrap();
        handle.cancel();
        session.truncate(0).unwrap();
        assert_eq!(session.generate(PROMPT, &options(4)).unwrap().count(), 4);
        assert_eq!(engine.stats().unwrap().n_sessions, 1);
        (reason, n)
    };
    let (mut reason, mut n) = cancelled();
    for _ in 1..20 {
        if n < 500 {
            break;
        }
        (reason, n) = cancelled(); // the context was about full when the thread that cancels had a processor
    }
    assert!(reason == FinishReason::Cancelled && n < 500, "{reason:?} after {n} events");
}

#[test]
fn a_prompt_that_fails_keeps_the_session() {
    let engine = load();
    let long = vec![1; 5000];
    let mut session = endless(&engine);
    assert_eq!(session.begin(&long, &options(4)).unwrap_err().status(), Status::ContextFull);
    assert_eq!(engine.stats().unwrap().n_sessions, 1);
    session.begin(PROMPT, &options(4)).unwrap();
    assert_eq!(session.into_events().count(), 4);
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
}

#[test]
fn a_session_is_made_with_its_stop_texts() {
    let engine = load();
    let whole = engine.detokenize(&greedy(&engine, 40), false).unwrap();
    let stop = whole.split(' ').nth(5).unwrap().to_owned();
    let made = SessionOptions::default().stop([stop.clone()]).ignore_end_of_generation(true);
    let reply = engine.session(&made).unwrap().generate(PROMPT, &options(0)).unwrap().into_reply().unwrap();
    assert_eq!(
        (reply.finish_reason, reply.text.as_str()),
        (FinishReason::StopString, &whole[..whole.find(&stop).unwrap()])
    );
    let wrong = SessionOptions::default().stop([String::new()]);
    assert_eq!(engine.session(&wrong).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
}
