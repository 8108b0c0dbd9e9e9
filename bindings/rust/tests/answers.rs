//! The answer to one request: as an iterator, as a stream, and awaited whole.
mod common;

use common::*;
use inlay::{
    Answer, DeviceKind, Engine, Error, FinishReason, GenerateOptions, Library, LoadOptions, Prompt, Reply, Request,
    RunOptions, Session, SessionOptions, Status, ThreadOptions, Token,
};
use std::future::{Future, IntoFuture};
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

const PROMPTS: [&str; 4] = [PROMPT, "The old fox", "A little boat", "The queen"];

fn up_to(n: u32) -> SessionOptions {
    SessionOptions::default().max_tokens(n).ignore_end_of_generation(true)
}

fn small(max_sessions: u32) -> Engine {
    load_with(options().n_context(256).max_sessions(max_sessions))
}

fn with_thread(max_sessions: u32) -> Engine {
    let engine = small(max_sessions);
    engine.set_thread(ThreadOptions::default()).unwrap();
    engine
}

fn ask(engine: &Engine, prompt: &str, n: u32) -> Answer {
    engine.answer(&Request::new(prompt).session(up_to(n))).unwrap()
}

/// What a session writes.
fn alone<'p>(engine: &Engine, prompt: impl Into<Prompt<'p>>, n: u32) -> Reply {
    engine.session(&up_to(n)).unwrap().generate(prompt, &GenerateOptions::default()).unwrap().into_reply().unwrap()
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread.
fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let (waker, mut future) = (Arc::new(Unpark(thread::current())).into(), pin!(future.into_future()));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn an_answer_is_an_iterator_of_what_a_session_writes() {
    let engine = with_thread(2);
    for prompt in PROMPTS {
        let right = alone(&engine, prompt, 60);
        let (mut text, mut n_tokens, mut ends) = (String::new(), 0, Vec::new());
        let mut answer = ask(&engine, prompt, 60);
        for piece in answer.by_ref() {
            let piece = piece.unwrap();
            assert_eq!(piece.to_string(), piece.text);
            text += &piece.text;
            n_tokens += piece.tokens.len();
            ends.extend(piece.end);
        }
        assert!(answer.next().is_none());
        assert_eq!((text, n_tokens, ends.len()), (right.text.clone(), 60, 1));
        assert_eq!((ends[0].n_drawn, ends[0].n_prompt), (60, right.n_prompt));
        assert_eq!(ask(&engine, prompt, 60).into_reply().unwrap(), right);
        assert_eq!(answer.into_reply().unwrap_err().status(), Status::InvalidState);
    }
}

#[test]
fn answers_of_many_threads_are_computed_together() {
    let engine = small(8);
    let right = PROMPTS.map(|prompt| alone(&engine, prompt, 60));
    let before = engine.stats().unwrap();
    let answers = (0..16).map(|i| (i, ask(&engine, PROMPTS[i % 4], 60))).collect::<Vec<_>>();
    engine.set_thread(ThreadOptions::default()).unwrap();
    thread::scope(|scope| {
        for (i, answer) in answers {
            let right = &right[i % 4];
            scope.spawn(move || assert_eq!(answer.into_reply().unwrap(), *right));
        }
    });
    let after = engine.stats().unwrap();
    let n_steps = after.n_decode_steps - before.n_decode_steps;
    assert!(n_steps < 16 * 60 / 2, "{n_steps} steps");
}

const CALLERS: u32 = 50;

/// A context has room for a caller's prompt of 100 tokens and the 60 that are drawn.
fn for_callers<'a>() -> LoadOptions<'a> {
    options().n_context(160).max_sessions(CALLERS).no_prefix_cache(true)
}

fn prompt_of(caller: u32) -> [Token; 100] {
    [Token::try_from(65 + caller % 4).unwrap(); 100]
}

/// The first error of sessions, one for each caller, that only run the prompts.
fn error_of_sessions(engine: &Engine) -> Option<Status> {
    let mut sessions: Vec<Session> = (0..CALLERS).map(|_| endless(engine)).collect();
    let mut callers = sessions.iter_mut().zip(0..);
    callers.find_map(|(session, caller)| session.prefill(&prompt_of(caller)).err()).map(|error| error.status())
}

/// 50 callers whose keys and values have a quarter of the room that they need. Sessions would see that; requests are put out
/// meanwhile, and all of them end whole. With all the room none is put out.
#[test]
fn fifty_callers_share_a_small_pool() {
    let n_bytes = Library::get().unwrap().memory_plan(model(), &for_callers()).unwrap().kv_bytes;
    for part in [4, 1] {
        let engine = load_with(for_callers().kv_budget_bytes(n_bytes / part));
        let is_small = part > 1;
        assert_eq!(error_of_sessions(&engine), is_small.then_some(Status::KvFull));
        let right = [0, 1, 2, 3].map(|caller| alone(&engine, &prompt_of(caller), 60));
        let before = engine.stats().unwrap();
        let answer_of = |caller| engine.answer(&Request::new(&prompt_of(caller)).session(up_to(60))).unwrap();
        let answers = (0..CALLERS).map(answer_of).collect::<Vec<_>>();
        engine.set_thread(ThreadOptions::default()).unwrap();
        thread::scope(|scope| {
            for (answer, caller) in answers.into_iter().zip(0..) {
                let right: &Reply = &right[caller % 4];
                scope.spawn(move || {
                    let reply = answer.into_reply().unwrap();
                    assert_eq!((reply.finish_reason, reply.n_generated), (FinishReason::MaxTokens, 60));
                    // On a GPU prompts have kernels of their own, so that what is computed again agrees within a tolerance.
                    assert!(device() == DeviceKind::Cuda || reply == *right, "{reply:?}, expected {right:?}");
                });
            }
        });
        let n_computed = engine.stats().unwrap().n_prefill_tokens - before.n_prefill_tokens;
        let n_prompts = u64::from(CALLERS) * 100;
        assert_eq!(n_computed > n_prompts, is_small, "{n_computed} tokens were run for prompts of {n_prompts}");
    }
}

#[test]
fn nobody_who_computes_is_an_error_of_who_would_wait_for_ever() {
    let engine = small(2);
    let mut answer = ask(&engine, PROMPT, 5);
    assert_eq!(answer.next().unwrap().unwrap_err().status(), Status::InvalidState);
    assert!(answer.next().is_none());
    let refused = engine.answer(&Request::new(PROMPT).priority(8)).unwrap_err();
    assert_eq!(refused.status(), Status::InvalidArgument);
}

#[test]
fn an_answer_that_is_dropped_or_cancelled_ends_its_request() {
    let engine = with_thread(2);
    for _ in 0..10 {
        let mut answer = ask(&engine, PROMPT, 200);
        answer.next().unwrap().unwrap();
    }
    let answer = ask(&engine, PROMPT, 0);
    let handle = answer.cancel_handle();
    assert!(format!("{handle:?}").contains("RequestId"), "{handle:?}");
    let right = ask(&engine, PROMPT, 0).into_reply().unwrap();
    let cancelling = thread::spawn(move || handle.cancel());
    let reply = answer.into_reply().unwrap();
    cancelling.join().unwrap();
    assert!(right.text.starts_with(&reply.text));
    let whole = ask(&engine, PROMPT, 3);
    let late = whole.cancel_handle();
    assert_eq!(whole.into_reply().unwrap().finish_reason, FinishReason::MaxTokens);
    late.cancel();
    engine.set_thread(None).unwrap();
    assert_eq!(engine.run(RunOptions::default()).unwrap().n_requests, 0);
    let waits = ask(&engine, PROMPT, 3);
    waits.cancel_handle().clone().cancel();
    assert!(waits.into_reply().unwrap().is_cancelled());
}

#[test]
fn an_answer_keeps_its_engine() {
    let engine = with_thread(2);
    let right = alone(&engine, PROMPT, 60);
    let answer = ask(&engine, PROMPT, 60);
    drop(engine);
    assert_eq!(answer.into_reply().unwrap(), right);
}

#[test]
fn an_answer_is_awaited_whole_and_piece_by_piece() {
    let engine = with_thread(2);
    let right = alone(&engine, PROMPT, 60);
    assert_eq!(block_on(ask(&engine, PROMPT, 60)).unwrap(), right);
    let pieces = async {
        let (mut answer, mut text) = (ask(&engine, PROMPT, 60), String::new());
        while let Some(piece) = answer.next_piece().await {
            text += &piece?.text;
        }
        assert!(answer.next_piece().await.is_none());
        Ok::<_, Error>(text)
    };
    assert_eq!(block_on(pieces).unwrap(), right.text);
    let request = Request::new(PROMPT).timeout(Duration::ZERO).session(up_to(200));
    let reply = block_on(engine.answer(&request).unwrap()).unwrap();
    assert_eq!(reply.finish_reason, FinishReason::Timeout);
}

/// Each task is one of an executor that runs all of them on this thread, as they are woken.
#[test]
fn many_answers_are_awaited_on_one_thread() {
    type Work = Pin<Box<dyn Future<Output = ()> + Send>>;
    struct Task(Mutex<Option<Work>>, Mutex<Sender<Arc<Task>>>);
    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            let ready = self.1.lock().unwrap().clone();
            ready.send(self).expect("the executor runs");
        }
    }
    let engine = with_thread(4);
    let right = PROMPTS.map(|prompt| alone(&engine, prompt, 40));
    let (ready, next) = channel::<Arc<Task>>();
    let n_done = Arc::new(AtomicUsize::new(0));
    for i in 0..24 {
        let (answer, right, n_done) = (ask(&engine, PROMPTS[i % 4], 40), right[i % 4].clone(), Arc::clone(&n_done));
        let work = async move {
            assert_eq!(answer.await.unwrap(), right);
            n_done.fetch_add(1, Ordering::SeqCst);
        };
        Arc::new(Task(Mutex::new(Some(Box::pin(work))), Mutex::new(ready.clone()))).wake();
    }
    while n_done.load(Ordering::SeqCst) < 24 {
        let task = next.recv_timeout(Duration::from_secs(60)).expect("somebody is woken");
        let waker = Arc::clone(&task).into();
        let mut work = task.0.lock().unwrap();
        if let Some(running) = &mut *work {
            if running.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                *work = None;
            }
        }
    }
}

/// As where a runtime has ended: who is woken drops the task, with its answer and the last of its engine, on the engine's thread.
#[test]
fn a_task_may_be_dropped_where_it_is_woken() {
    struct Dropped(Mutex<Option<(Answer, Engine)>>, Sender<()>);
    impl Wake for Dropped {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
            self.1.send(()).unwrap();
        }
    }
    for _ in 0..10 {
        let engine = small(2);
        let (tell, told) = channel();
        let mut answer = ask(&engine, PROMPT, 30);
        let task = Arc::new(Dropped(Mutex::new(None), tell));
        let waker = Arc::clone(&task).into();
        assert!(answer.poll_next(&mut Context::from_waker(&waker)).is_pending());
        let starts = engine.clone();
        *task.0.lock().unwrap() = Some((answer, engine));
        drop((task, waker));
        starts.set_thread(ThreadOptions::default()).unwrap();
        drop(starts);
        told.recv().unwrap();
    }
}
