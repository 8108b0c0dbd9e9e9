//! Generations of many threads share decode steps, and each writes what it writes alone.
mod common;

use common::*;
use inlay::{Engine, FinishReason, SessionOptions, Status};
use std::thread;
use std::time::Duration;

const MOST: u32 = 60;

fn prompt(i: usize) -> String {
    ["The old fox", "A little boat", "Once", "The queen"][i % 4].to_owned() + &" and".repeat(i / 4)
}

fn begin(engine: &Engine, prompt: &str, max_tokens: u32) -> inlay::OwnedGeneration {
    let options = SessionOptions::default().max_tokens(max_tokens).ignore_end_of_generation(true);
    owned(engine.session(&options).unwrap(), prompt, &Default::default())
}

/// Tokens that were drawn and steps that were run meanwhile.
fn counted(engine: &Engine, run: impl FnOnce()) -> (u64, u64) {
    let before = engine.stats().unwrap();
    run();
    let after = engine.stats().unwrap();
    (after.n_decode_tokens - before.n_decode_tokens, after.n_decode_steps - before.n_decode_steps)
}

#[test]
fn generations_of_threads_share_steps() {
    let engine = load_with(options().n_context(512).max_sessions(32));
    let alone: Vec<_> = (0..8).map(|i| begin(&engine, &prompt(i), MOST).text().unwrap()).collect();
    let generations: Vec<_> = (0..32).map(|i| begin(&engine, &prompt(i % 8), MOST)).collect();
    let (n_tokens, n_steps) = counted(&engine, || {
        thread::scope(|scope| {
            for (i, mut generation) in generations.into_iter().enumerate() {
                let right = &alone[i % 8];
                scope.spawn(move || {
                    let (mut text, mut reason) = (String::new(), None);
                    let handle = generation.cancel_handle();
                    for (n, event) in generation.by_ref().enumerate() {
                        let event = event.unwrap();
                        text += &event.text;
                        reason = event.finish_reason;
                        match i % 8 {
                            3 if n == i => break,
                            5 if n == i => handle.cancel(),
                            7 if n % 10 == 0 => thread::sleep(Duration::from_millis(10)),
                            _ => {}
                        }
                    }
                    let want = [Some(FinishReason::MaxTokens), None, Some(FinishReason::Cancelled)];
                    assert_eq!(reason, want[[0, 0, 0, 1, 0, 2, 0, 0][i % 8]], "{i}");
                    assert!(if reason == want[0] { text == *right } else { right.starts_with(&text) }, "{i}: {text:?}");
                });
            }
        })
    });
    assert!(3 * n_steps <= 2 * n_tokens, "{n_steps} steps for {n_tokens} tokens");
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
}

#[test]
fn one_thread_with_many_generations_steps_each_alone() {
    let engine = load();
    let mut generations: Vec<_> = (0..3).map(|i| begin(&engine, &prompt(i), 20)).collect();
    let counts = counted(&engine, || {
        for _ in 0..20 {
            generations.iter_mut().for_each(|generation| drop(generation.next().unwrap().unwrap()));
        }
    });
    assert_eq!(counts, (60, 60));
}

/// One that nobody asks for events does not go on, nor keeps others waiting.
#[test]
fn a_slow_generation_holds_nobody_up() {
    let engine = load();
    let mut slow = begin(&engine, "Once", 0);
    slow.next().unwrap().unwrap();
    thread::scope(|scope| {
        for i in 0..2 {
            let mut generation = begin(&engine, &prompt(i), 100);
            scope.spawn(move || assert!(!generation.text().unwrap().is_empty()));
        }
    });
    assert_eq!(slow.session().info().unwrap().n_generated, 1);
}

/// A session that cannot go on says why, as it does alone, while others share steps.
#[test]
fn a_session_that_cannot_go_on_disturbs_no_other_one() {
    let engine = load();
    let right = begin(&engine, "Once", 100).text().unwrap();
    let mut ended = begin(&engine, "Once", 1);
    ended.text().unwrap();
    let alone = ended.into_session().decode_step().unwrap_err();
    assert_eq!(alone.status(), Status::InvalidState);
    thread::scope(|scope| {
        for _ in 0..2 {
            let mut generation = begin(&engine, "Once", 100);
            let right = &right;
            scope.spawn(move || assert_eq!(&generation.text().unwrap(), right));
        }
        let mut generation = begin(&engine, "Once", 1);
        generation.text().unwrap();
        let mut session = generation.into_session();
        for _ in 0..50 {
            assert_eq!(session.events().next().unwrap().unwrap_err(), alone);
        }
    });
}
