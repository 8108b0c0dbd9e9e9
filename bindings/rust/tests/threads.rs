//! Several threads on one engine, and cancelling from another one.
mod common;

use common::*;
use inlay::{FinishReason, LoadOptions, Status};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn two_threads_with_a_session_each() {
    let engine = load();
    let want = greedy(&engine, 16);
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..2).map(|_| scope.spawn(|| (0..3).map(|_| greedy(&engine, 16)).collect::<Vec<_>>())).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), vec![want.clone(); 3]);
        }
    });
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
}

#[test]
fn what_any_thread_may_call_runs_beside_a_decode() {
    let engine = load();
    let want = greedy(&engine, 64);
    let done = AtomicBool::new(false);
    let n_rounds = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let tokens = engine.tokenize(PROMPT, Default::default()).unwrap();
                engine.detokenize(&tokens, false).unwrap();
                engine.stats().unwrap();
                engine.logs(0).unwrap();
                drop(endless(&engine));
                n_rounds.fetch_add(1, Ordering::Relaxed);
            }
        });
        let tokens = greedy(&engine, 64);
        while n_rounds.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(tokens, want);
    });
}

#[test]
fn a_session_moves_from_thread_to_thread() {
    let engine = load();
    let want = greedy(&engine, 12);
    let mut session = begun(&engine);
    for part in want.chunks(3) {
        let drawn;
        (session, drawn) = thread::spawn(move || {
            let drawn = draw(&mut session, 3);
            (session, drawn)
        })
        .join()
        .unwrap();
        assert_eq!(drawn, part);
    }
}

#[test]
fn cancel_takes_effect_within_a_step() {
    let engine = load();
    let mut session = begun(&engine);
    let handle = session.cancel_handle();
    let n_prompt = session.info().unwrap().n_tokens as usize;
    let n_drawn = AtomicUsize::new(0);
    thread::scope(|scope| {
        let drawing = scope.spawn(|| loop {
            match session.decode_step() {
                Ok(event) if event.finish_reason.is_some() => return event.finish_reason,
                Ok(_) => n_drawn.fetch_add(1, Ordering::SeqCst),
                // The other thread takes its time.
                Err(error) if error.status() == Status::ContextFull => {
                    session.truncate(n_prompt).unwrap();
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
        });
        while n_drawn.load(Ordering::SeqCst) < 3 {
            thread::yield_now();
        }
        handle.cancel();
        let n_until_cancel = n_drawn.load(Ordering::SeqCst);
        assert_eq!(drawing.join().unwrap(), Some(FinishReason::Cancelled));
        let n_late = n_drawn.load(Ordering::SeqCst) - n_until_cancel;
        assert!(n_late <= 1, "{n_late} tokens after the step that was under way");
    });
    assert_eq!(session.info().unwrap().finish_reason, Some(FinishReason::Cancelled));
    session.prefill(PROMPT).unwrap(); // a new turn
    draw(&mut session, 3);
}

#[test]
fn a_cancelled_prefill_keeps_whole_chunks() {
    let engine = load_with(LoadOptions { prefill_chunk: 8, ..options() });
    let prompt = vec![5; 400];
    let mut session = endless(&engine);
    for attempt in 0..400 {
        session.truncate(0).unwrap();
        let handle = session.cancel_handle();
        let started = AtomicBool::new(false);
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                while !started.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                thread::sleep(Duration::from_micros(100 * (attempt % 40)));
                handle.cancel();
            });
            started.store(true, Ordering::Relaxed);
            session.prefill(&prompt)
        });
        let n = session.info().unwrap().n_tokens;
        match outcome {
            Err(error) if n > 0 => {
                assert_eq!(error.status(), Status::Cancelled);
                assert!(n % 8 == 0 && n < 400, "{n}");
                return session.prefill(&prompt[n as usize..]).unwrap();
            }
            Err(error) => assert_eq!(error.status(), Status::Cancelled),
            // Too late: the next step takes the request back.
            Ok(()) => assert_eq!(session.decode_step().unwrap().finish_reason, Some(FinishReason::Cancelled)),
        }
    }
    panic!("no cancel came amid a prefill");
}

/// A handle on one thread against the drop of its session on another.
#[test]
fn cancelling_and_dropping_at_once_is_fine() {
    let engine = load();
    for _ in 0..500 {
        let session = endless(&engine);
        let handle = session.cancel_handle();
        thread::scope(|scope| {
            scope.spawn(move || (0..20).for_each(|_| handle.cancel()));
            scope.spawn(move || drop(session));
        });
    }
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
}
