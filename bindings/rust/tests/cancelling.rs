//! A cancel belongs to one generation.
mod common;

use common::*;
use inlay::{CancelHandle, FinishReason, GenerateOptions, Session, Status};
use std::sync::mpsc::sync_channel;
use std::thread;

/// How a generation of so many tokens ends.
fn generation(session: &mut Session, n_tokens: u32) -> Result<Option<FinishReason>, Status> {
    let options = GenerateOptions::default().max_tokens(n_tokens);
    let events = session.generate(&[5], &options).map_err(|error| error.status())?;
    events.last().expect("an event").map(|event| event.finish_reason).map_err(|error| error.status())
}

const WHOLE: Result<Option<FinishReason>, Status> = Ok(Some(FinishReason::MaxTokens));

fn was_cancelled(end: &Result<Option<FinishReason>, Status>) -> bool {
    matches!(end, Ok(Some(FinishReason::Cancelled)) | Err(Status::Cancelled))
}

/// Of every two generations the first one has a cancel from another thread, which comes at any time: before it or in it, and in every
/// other round after it, while the second one begins. That one, which nobody cancels, is whole.
#[test]
fn ten_thousand_late_cancels_end_no_other_generation() {
    let engine = load_with(options().n_threads(1));
    let mut session = endless(&engine);
    let (to_cancel, handles) = sync_channel::<(CancelHandle, u32)>(0);
    let mut n_cancelled = 0;
    thread::scope(|scope| {
        scope.spawn(move || {
            for (handle, n_spins) in handles {
                (0..n_spins).for_each(|_| std::hint::spin_loop());
                handle.cancel();
            }
        });
        for round in 0..10_000u32 {
            session.truncate(0).unwrap();
            let request = (session.cancel_handle(), round * 7919 % 8000);
            let end = if round % 2 == 0 {
                to_cancel.send(request).unwrap();
                generation(&mut session, 2)
            } else {
                let end = generation(&mut session, 1);
                assert_eq!(end, WHOLE, "round {round}");
                to_cancel.send(request).unwrap();
                end
            };
            if was_cancelled(&end) {
                n_cancelled += 1;
            } else {
                assert_eq!(end, WHOLE, "round {round}");
            }
            session.truncate(0).unwrap();
            assert_eq!(generation(&mut session, 1), WHOLE, "the generation after round {round}");
        }
        drop(to_cancel);
    });
    assert!(n_cancelled > 100, "{n_cancelled} generations cancelled");
}

#[test]
fn a_late_cancel_does_nothing() {
    let engine = load();
    let mut session = endless(&engine);
    let before = session.cancel_handle();
    assert_eq!(generation(&mut session, 2), WHOLE);
    before.cancel(); // the generation that it is for is over
    assert_eq!(generation(&mut session, 2), WHOLE);
    before.cancel();
    before.clone().cancel();
    assert_eq!(generation(&mut session, 2), WHOLE);
    // A generation that is left in its middle, and its own handle.
    let mut events = session.generate(PROMPT, &GenerateOptions::default()).unwrap();
    events.next().unwrap().unwrap();
    let amid = events.cancel_handle();
    drop(events);
    assert_eq!(generation(&mut session, 2), WHOLE);
    amid.cancel();
    assert_eq!(generation(&mut session, 2), WHOLE);
}

#[test]
fn a_handle_is_for_what_comes_next() {
    let engine = load();
    let mut session = endless(&engine);
    // The coming generation, before it begins.
    session.cancel_handle().cancel();
    assert_eq!(generation(&mut session, 2), Err(Status::Cancelled));
    assert_eq!(generation(&mut session, 2), WHOLE);
    session.cancel_handle().cancel();
    assert_eq!(generation(&mut session, 2), Err(Status::Cancelled));
    // The generation under way, which goes on.
    session.prefill(PROMPT).unwrap();
    session.set_max_tokens(0).unwrap();
    let handle = session.cancel_handle();
    draw(&mut session, 2);
    handle.cancel();
    assert_eq!(session.decode_step().unwrap().finish_reason, Some(FinishReason::Cancelled));
    // A generation is left in its middle; the handle that is made then is for the next one.
    session.prefill(PROMPT).unwrap();
    draw(&mut session, 2);
    let handle = session.cancel_handle();
    handle.cancel();
    assert_eq!(session.prefill(PROMPT).unwrap_err().status(), Status::Cancelled);
    handle.cancel();
    session.prefill(PROMPT).unwrap();
    draw(&mut session, 2);
    // A prompt that is refused begins no generation.
    let handle = session.cancel_handle();
    assert_eq!(session.prefill(&[1; 5000]).unwrap_err().status(), Status::ContextFull);
    handle.cancel();
    assert_eq!(generation(&mut session, 2), Err(Status::Cancelled));
    // A truncation begins a generation, too.
    session.prefill(PROMPT).unwrap();
    let handle = session.cancel_handle();
    draw(&mut session, 1);
    session.truncate(1).unwrap();
    handle.cancel();
    let of_this = session.cancel_handle();
    draw(&mut session, 1);
    of_this.cancel();
    assert_eq!(session.decode_step().unwrap().finish_reason, Some(FinishReason::Cancelled));
    // A generation's own handle.
    let mut events = session.generate(PROMPT, &GenerateOptions::default().max_tokens(0)).unwrap();
    events.next().unwrap().unwrap();
    events.cancel_handle().cancel();
    let last = events.next().unwrap().unwrap();
    assert_eq!((last.finish_reason, last.token), (Some(FinishReason::Cancelled), None));
}

#[test]
fn a_step_of_many_ends_only_the_cancelled_one() {
    let engine = load();
    let (mut one, mut two) = (begun(&engine), begun(&engine));
    let handle = two.cancel_handle();
    let reasons = |one: &mut Session, two: &mut Session| {
        let events = inlay::decode_step([one, two]).unwrap();
        events.into_iter().map(|event| event.unwrap().finish_reason).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&mut one, &mut two), [None, None]);
    handle.cancel();
    assert_eq!(reasons(&mut one, &mut two), [None, Some(FinishReason::Cancelled)]);
    two.prefill(PROMPT).unwrap();
    handle.cancel();
    assert_eq!(reasons(&mut one, &mut two), [None, None]);
}
