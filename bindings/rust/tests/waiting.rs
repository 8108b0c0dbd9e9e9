//! Waiting for a session while all of them are in use.
mod common;

use common::*;
use inlay::{EmbedOptions, Engine, Pooling, ScoreOptions, Session, SessionOptions, Status, TokenizeOptions};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(60);

fn of(n_sessions: u32) -> Engine {
    load_with(options().n_context(256).max_sessions(n_sessions))
}

fn wait(engine: &Engine, patience: Duration) -> inlay::Result<Session> {
    engine.wait_for_session(&SessionOptions::default(), patience)
}

#[test]
fn a_free_session_comes_at_once_and_a_missing_one_when_the_patience_is_over() {
    let engine = of(1);
    let held = wait(&engine, Duration::ZERO).unwrap();
    for patience in [Duration::ZERO, SHORT] {
        let begin = Instant::now();
        assert_eq!(wait(&engine, patience).unwrap_err().status(), Status::SessionLimit);
        assert!(begin.elapsed() >= patience);
    }
    drop(held);
    wait(&engine, Duration::MAX).unwrap();
    // What is wrong is told at once, not waited for.
    let begin = Instant::now();
    let wrong = SessionOptions::default().stop(["".to_owned()]);
    assert_eq!(engine.wait_for_session(&wrong, LONG).unwrap_err().status(), Status::InvalidArgument);
    assert!(begin.elapsed() < LONG / 2);
}

#[test]
fn a_session_that_another_thread_drops_is_waited_for() {
    let engine = of(1);
    for patience in [LONG, Duration::MAX] {
        let held = wait(&engine, LONG).unwrap();
        let (begin, other) = (Instant::now(), engine.clone());
        let waiting = thread::spawn(move || wait(&other, patience).map(|_| begin.elapsed()));
        thread::sleep(SHORT);
        drop(held);
        let waited = waiting.join().unwrap().unwrap();
        assert!(SHORT <= waited && waited < LONG / 2, "{waited:?}");
    }
}

#[test]
fn sessions_of_the_librarys_own_are_waited_for() {
    let (engine, text) = (of(1), "Once upon a time there was a fox. ".repeat(6));
    let tokens = engine.tokenize(&text, TokenizeOptions::default()).unwrap();
    let embed = || drop(engine.embed([&text], EmbedOptions::default().pooling(Pooling::Mean)).unwrap());
    let score = || drop(engine.score(&[&tokens], ScoreOptions::default()).unwrap());
    let calls: [(&str, &(dyn Fn() + Sync)); 2] = [("embed", &embed), ("score", &score)];
    for (name, call) in calls {
        // A call may be over before its session is seen.
        let was_waited_for = (0..1000).any(|_| {
            thread::scope(|scope| {
                let calling = scope.spawn(call);
                while engine.stats().unwrap().n_sessions == 0 && !calling.is_finished() {
                    thread::yield_now();
                }
                let was_seen = engine.session(&SessionOptions::default()).is_err();
                let begin = Instant::now();
                drop(wait(&engine, LONG).unwrap());
                assert!(begin.elapsed() < LONG / 2, "{name} wakes nobody");
                calling.join().unwrap();
                was_seen
            })
        });
        assert!(was_waited_for, "{name} was over each time");
    }
}

#[test]
fn many_threads_share_few_sessions() {
    let engine = of(3);
    let want = greedy(&engine, 5);
    thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                let mut session = wait(&engine, LONG).unwrap();
                session.prefill(PROMPT).unwrap();
                assert_eq!(draw(&mut session, 5), want);
            });
        }
    });
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
}
