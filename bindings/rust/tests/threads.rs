//! Several threads on one engine, and cancelling from another one.
mod common;

use common::*;
use inlay::{FinishReason, GenerateOptions, Session, Status};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
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
            let event = session.decode_step().unwrap();
            if event.token.is_some() {
                n_drawn.fetch_add(1, Ordering::SeqCst);
            }
            match event.finish_reason {
                // The other thread takes its time.
                Some(FinishReason::ContextFull) => session.shift(n_prompt, 100).unwrap(),
                Some(reason) => return Some(reason),
                None => {}
            }
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
    session.prefill(PROMPT).unwrap(); // a new generation
    draw(&mut session, 3);
}

#[test]
fn a_cancelled_prefill_keeps_whole_chunks() {
    let engine = load_with(options().prefill_chunk(8));
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

/// Fails if the work has not ended after a minute. A panic in it goes on here.
fn within_a_minute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (ended, waiting) = channel();
    let worker = thread::spawn(move || {
        let result = work();
        ended.send(()).expect("somebody waits");
        result
    });
    if waiting.recv_timeout(Duration::from_secs(60)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        panic!("it did not end");
    }
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The ends that a generation of a new one tells of, and its tokens: as many as are asked for, or all.
fn generate(session: &mut Session, most: usize) -> (Vec<Result<FinishReason, Status>>, Vec<inlay::Token>) {
    let (mut ends, mut tokens) = (Vec::new(), Vec::new());
    match session.generate(PROMPT, &GenerateOptions::default()) {
        Err(error) => ends.push(Err(error.status())),
        Ok(mut events) => {
            for event in events.by_ref().take(most) {
                match event {
                    Ok(event) => {
                        tokens.extend(event.token);
                        ends.extend(event.finish_reason.map(Ok));
                    }
                    Err(error) => ends.push(Err(error.status())),
                }
            }
            if !ends.is_empty() {
                assert!(events.next().is_none() && events.next().is_none(), "an event behind the end");
            }
        }
    }
    (ends, tokens)
}

/// Threads whose generations are cancelled, left in the middle, or dropped with their sessions: each generation that is not left
/// has one end, and nobody waits for ever.
#[test]
fn every_generation_ends_once() {
    let engine = load_with(options().n_context(48).max_sessions(8));
    let n_prompt = engine.tokenize(PROMPT, Default::default()).unwrap().len();
    let want = greedy(&engine, 48 - n_prompt);
    let threads: Vec<_> = (0..4u64)
        .map(|seed| {
            let (engine, want) = (engine.clone(), want.clone());
            move || {
                let mut reasons = Vec::new();
                let mut session = endless(&engine);
                for round in 0..24 {
                    if round % 5 == 4 {
                        session = endless(&engine); // the other one is dropped where it stands
                    }
                    session.truncate(0).unwrap();
                    let handle = session.cancel_handle();
                    let wait = Duration::from_micros((seed * 7 + round * 13) % 20 * 300);
                    let cancels = round % 3 == 1;
                    let cancelling = thread::spawn(move || {
                        thread::sleep(wait);
                        if cancels {
                            handle.cancel();
                        }
                    });
                    let most = if round % 3 == 2 { 5 } else { usize::MAX };
                    let (ends, tokens) = generate(&mut session, most);
                    cancelling.join().unwrap();
                    assert_eq!(tokens, want[..tokens.len()]);
                    assert_eq!(ends.len(), usize::from(most == usize::MAX), "{ends:?}");
                    if ends == [Ok(FinishReason::ContextFull)] {
                        assert_eq!(tokens.len(), want.len());
                    }
                    reasons.extend(ends);
                }
                reasons
            }
        })
        .collect();
    drop(engine);
    let reasons = within_a_minute(move || {
        let threads: Vec<_> = threads.into_iter().map(thread::spawn).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(reasons.len(), 4 * 16);
    assert!(reasons.contains(&Ok(FinishReason::ContextFull)));
    assert!(reasons.iter().any(|reason| matches!(reason, Ok(FinishReason::Cancelled) | Err(Status::Cancelled))));
    let known = |end: &Result<_, _>| {
        matches!(end, Ok(FinishReason::ContextFull | FinishReason::Cancelled) | Err(Status::Cancelled))
    };
    assert!(reasons.iter().all(known), "{reasons:?}");
}

/// Who listens to a thread that generates hears its end, although engine and handle are given up meanwhile.
#[test]
fn a_listener_hears_the_end() {
    let engine = load();
    let mut session = endless(&engine);
    let (events, arriving) = channel();
    let speaking = thread::spawn(move || {
        let options = GenerateOptions::default().max_tokens(30);
        for event in session.generate(PROMPT, &options).unwrap() {
            events.send(event.unwrap().finish_reason).unwrap();
        }
    });
    drop(engine);
    let mut heard = Vec::new();
    for _ in 0..30 {
        heard.push(arriving.recv_timeout(Duration::from_secs(60)).expect("the next event"));
    }
    assert!(
        heard[..29].iter().all(|reason| reason.is_none()) && heard[29] == Some(FinishReason::MaxTokens),
        "{heard:?}"
    );
    assert!(arriving.recv_timeout(Duration::from_secs(60)).is_err(), "nothing behind the end");
    speaking.join().unwrap();
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
