//! Requests: what sessions write, in the engine's own order, whoever computes.
mod common;

use common::*;
use inlay::{
    ChatMessage, Engine, FinishReason, GenerateOptions, Queue, QueueOptions, Request, RequestEnd, RequestEventKind,
    RequestEvents, RequestId, RunOptions, Sampler, Session, SessionOptions, Status, ThreadOptions, Token, TokenLogprob,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);
const PROMPTS: [&str; 4] = [PROMPT, "The old fox", "A little boat", "The queen"];

/// What a request came to.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    tokens: Vec<Token>,
    text: String,
    user: u64,
    end: Option<RequestEnd>,
}

impl Answer {
    fn reason(&self) -> FinishReason {
        self.end.as_ref().expect("it has ended").finish_reason
    }
}

type Answers = HashMap<RequestId, Answer>;

/// Polls all that is there; how many events there were.
fn poll(queue: &Queue, events: &mut RequestEvents, into: &mut Answers) -> usize {
    let mut n_all = 0;
    while let n @ 1.. = queue.poll(events).expect("the queue is polled") {
        assert_eq!((events.len(), events.iter().len()), (n, n));
        for event in events.iter() {
            let own = into.entry(event.request).or_default();
            assert_eq!(own.end, None, "an event behind the end");
            own.tokens.extend(event.tokens.iter().map(|token| token.token));
            own.text += &event.text;
            own.user = event.user;
            assert_eq!(event.kind == RequestEventKind::End, event.end.is_some());
            own.end = event.end;
        }
        n_all += n;
    }
    n_all
}

/// Computes all requests on this thread and collects them.
fn run_all(engine: &Engine, queue: &Queue) -> Answers {
    let (mut answers, mut events) = Default::default();
    while engine.run(RunOptions::default()).unwrap().n_requests > 0 {
        poll(queue, &mut events, &mut answers);
    }
    poll(queue, &mut events, &mut answers);
    answers
}

/// Waits and polls until so many requests have ended.
fn collect(queue: &Queue, n: usize) -> Answers {
    let (mut answers, mut events) = (Answers::new(), RequestEvents::with_room(3, 5, 16));
    while answers.values().filter(|answer| answer.end.is_some()).count() < n {
        assert!(queue.wait(LONG).unwrap(), "nothing comes");
        poll(queue, &mut events, &mut answers);
    }
    answers
}

fn up_to(n: u32) -> SessionOptions {
    SessionOptions::default().max_tokens(n).ignore_end_of_generation(true)
}

fn small(max_sessions: u32) -> Engine {
    load_with(options().n_context(256).max_sessions(max_sessions))
}

fn submit(queue: &Queue, n_tokens: u32) -> RequestId {
    queue.submit(&Request::new(PROMPT).session(up_to(n_tokens))).unwrap()
}

fn submit_three(queue: &Queue, n_tokens: u32) -> [RequestId; 3] {
    [(); 3].map(|()| submit(queue, n_tokens))
}

/// What a session of the options writes behind the prompt.
fn alone(engine: &Engine, tokens: &[Token], options: &SessionOptions) -> (Vec<Token>, String) {
    let mut session = engine.session(options).unwrap();
    let (mut drawn, mut text) = (Vec::new(), String::new());
    for event in session.generate(tokens, &GenerateOptions::default()).unwrap() {
        let event = event.unwrap();
        drawn.extend(event.token);
        text += &event.text;
    }
    (drawn, text)
}

#[test]
fn the_likeliest_tokens_come_along() {
    let engine = small(2);
    let options = up_to(9).sampler(Sampler::default().n_logprobs(4));
    let tokens = engine.tokenize(PROMPT, Default::default()).unwrap();
    let mut session = engine.session(&options).unwrap();
    let wanted: Vec<Vec<TokenLogprob>> = session
        .generate(&tokens, &GenerateOptions::default())
        .unwrap()
        .map(|event| event.unwrap().top)
        .filter(|top| !top.is_empty())
        .collect();
    drop(session);
    for mut events in [RequestEvents::default(), RequestEvents::with_room(0, 0, 0)] {
        let queue = engine.queue(QueueOptions::default()).unwrap();
        queue.submit(&Request::new(&tokens).session(options.clone())).unwrap();
        let mut got = Vec::new();
        while engine.run(RunOptions::default()).unwrap().n_requests > 0 || queue.poll(&mut events).unwrap() > 0 {
            for event in events.iter() {
                got.extend((0..event.tokens.len()).map(|i| event.likeliest(i).to_vec()));
                assert!(event.likeliest(event.tokens.len()).is_empty());
            }
        }
        assert_eq!((wanted.len(), &got), (9, &wanted));
    }
    engine.set_thread(ThreadOptions::default()).unwrap();
    let pieces = engine.answer(&Request::new(&tokens).session(options)).unwrap().map(Result::unwrap);
    assert_eq!(pieces.flat_map(|piece| piece.likeliest).collect::<Vec<_>>(), wanted);
}

#[test]
fn answers_are_those_of_sessions() {
    let engine = small(4);
    let drawn = up_to(40).sampler(Sampler::default().temperature(1.0).top_p(0.9).seed(5)).stream(3);
    let stopped = SessionOptions::default().max_tokens(60).stop([" and", "."]);
    for events in [RequestEvents::default(), RequestEvents::with_room(0, 0, 0)] {
        let queue = engine.queue(QueueOptions::default()).unwrap();
        let mut wanted = HashMap::new();
        for options in [up_to(40), drawn.clone(), stopped.clone()] {
            for (i, prompt) in PROMPTS.into_iter().enumerate() {
                let tokens = engine.tokenize(prompt, Default::default()).unwrap();
                let right = alone(&engine, &tokens, &options);
                let user = i as u64 + u64::MAX / 2;
                for request in [Request::new(prompt), Request::new(&tokens)] {
                    let id = queue.submit(&request.session(options.clone()).user(user)).unwrap();
                    wanted.insert(id, (right.clone(), user, tokens.len()));
                }
            }
        }
        let (mut answers, mut events) = (Answers::new(), events);
        while engine.run(RunOptions::default()).unwrap().n_requests > 0 || poll(&queue, &mut events, &mut answers) > 0 {
        }
        assert_eq!(answers.len(), wanted.len());
        for (id, ((tokens, text), user, n_prompt)) in wanted {
            let answer = &answers[&id];
            assert_eq!((&answer.tokens, &answer.text, answer.user), (&tokens, &text, user));
            let end = answer.end.as_ref().unwrap();
            assert_eq!((end.n_prompt as usize, end.n_drawn as usize, &end.error), (n_prompt, tokens.len(), &None));
        }
    }
}

#[test]
fn conversations_become_the_tokens_that_the_engine_makes_of_them() {
    let engine = small(2);
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let messages = [ChatMessage::user("Do you have a room?")];
    let template = "{% for m in messages %}[{{ m.content }}]{% endfor %}{% if add_generation_prompt %} Yes{% endif %}";
    for template in [None, Some(template)] {
        for end in [true, false] {
            let tokens = engine.chat_tokens(&messages, template, end).unwrap();
            let request = Request::chat(&messages).template(template).chat_end(end).session(up_to(10));
            let id = queue.submit(&request).unwrap();
            let answer = run_all(&engine, &queue).remove(&id).unwrap();
            assert_eq!((answer.tokens, answer.text), alone(&engine, &tokens, &up_to(10)));
        }
    }
    assert_eq!(queue.submit(&Request::chat("[{]")).unwrap_err().status(), Status::Format);
}

#[test]
fn what_is_wrong_is_refused_at_once() {
    let engine = small(2);
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let none: [Token; 0] = [];
    let long = vec![1; 256];
    for (request, status) in [
        (Request::new(PROMPT).priority(8), Status::InvalidArgument),
        (Request::new(PROMPT).priority(u32::MAX), Status::InvalidArgument),
        (Request::new(PROMPT).kind(inlay::RequestKind::Other(77)), Status::InvalidArgument),
        (Request::new(PROMPT).session(SessionOptions::default().stop([""])), Status::InvalidArgument),
        (Request::new(PROMPT).session(SessionOptions::default().reserve(true)), Status::InvalidArgument),
        (Request::new(PROMPT).template("x"), Status::InvalidArgument),
        (Request::new(&none), Status::InvalidArgument),
        (Request::new(&[-1]), Status::InvalidArgument),
        (Request::new(&long), Status::ContextFull),
    ] {
        assert_eq!(queue.submit(&request).unwrap_err().status(), status, "{request:?}");
    }
    let error = queue.submit(&Request::new(&long)).unwrap_err();
    assert_eq!((error.required(), error.available()), (257, 256));
    for options in [QueueOptions::default().max_requests(u32::MAX), QueueOptions::default().max_unread_tokens(2 << 20)]
    {
        assert_eq!(engine.queue(options).unwrap_err().status(), Status::InvalidArgument);
    }
    let ms = Duration::from_millis;
    for wrong in [ThreadOptions::default().busy(ms(4)), ThreadOptions::default().busy(ms(4)).period(ms(3))] {
        assert_eq!(engine.set_thread(wrong).unwrap_err().status(), Status::InvalidArgument);
    }
    assert_eq!(engine.run(RunOptions::default()).unwrap().n_requests, 0);
}

#[test]
fn a_cancelled_request_ends_with_what_it_has() {
    let engine = small(2);
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let (waits, runs) = (submit(&queue, 100), submit(&queue, 100));
    queue.cancel(waits).unwrap();
    let one_step = RunOptions::default().one_step(true);
    for _ in 0..5 {
        engine.run(one_step).unwrap();
    }
    queue.cancel(runs).unwrap();
    let answers = run_all(&engine, &queue);
    assert_eq!((answers[&waits].reason(), answers[&runs].reason()), (FinishReason::Cancelled, FinishReason::Cancelled));
    let n_drawn = answers[&runs].tokens.len();
    assert!(answers[&waits].tokens.is_empty() && (1..=5).contains(&n_drawn), "{n_drawn}");
    assert_eq!(answers[&runs].tokens, greedy(&engine, n_drawn));
    // What has ended stays as it was, and another queue's request is none of this one's.
    queue.cancel(runs).unwrap();
    let other = engine.queue(QueueOptions::default()).unwrap();
    let id = submit(&other, 3);
    queue.cancel(id).unwrap();
    assert!(run_all(&engine, &queue).is_empty());
    assert_eq!(run_all(&engine, &other)[&id].reason(), FinishReason::MaxTokens);
}

#[test]
fn a_request_ends_when_its_time_is_over() {
    let engine = small(2);
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let soon = queue.submit(&Request::new(PROMPT).timeout(Duration::ZERO)).unwrap();
    let later = queue.submit(&Request::new(PROMPT).session(up_to(5)).timeout(Duration::MAX)).unwrap();
    // Nobody computes: poll itself finds it.
    thread::sleep(Duration::from_millis(2));
    let (mut answers, mut events) = Default::default();
    poll(&queue, &mut events, &mut answers);
    assert_eq!((answers.len(), answers[&soon].reason()), (1, FinishReason::Timeout));
    assert_eq!(run_all(&engine, &queue)[&later].reason(), FinishReason::MaxTokens);
    // One that draws keeps its text.
    engine.set_thread(ThreadOptions::default()).unwrap();
    let endless = Request::new(PROMPT).session(SessionOptions::default().ignore_end_of_generation(true));
    let id = queue.submit(&endless.timeout(Duration::from_millis(20))).unwrap();
    let answer = collect(&queue, 1).remove(&id).unwrap();
    assert!(matches!(answer.reason(), FinishReason::Timeout | FinishReason::ContextFull), "{answer:?}");
    assert_eq!(answer.tokens, greedy(&engine, answer.tokens.len()));
}

#[test]
fn a_full_queue_says_so_and_has_room_once_an_end_was_polled() {
    let engine = small(2);
    let queue = engine.queue(QueueOptions::default().max_requests(2)).unwrap();
    let first = [submit(&queue, 3), submit(&queue, 3)];
    let request = Request::new(PROMPT).session(up_to(3));
    let error = queue.submit(&request).unwrap_err();
    assert_eq!((error.status(), error.available()), (Status::QueueFull, 2));
    // Other queues have room.
    submit(&engine.queue(QueueOptions::default()).unwrap(), 3);
    engine.run(RunOptions::default()).unwrap();
    assert_eq!(queue.submit(&request).unwrap_err().status(), Status::QueueFull, "nothing was polled");
    assert_eq!(run_all(&engine, &queue).len(), first.len());
    queue.submit(&request).unwrap();
}

#[test]
fn an_unread_request_rests_and_harms_nobody() {
    let engine = small(1);
    let deaf = engine.queue(QueueOptions::default().max_unread_tokens(3)).unwrap();
    let reads = engine.queue(QueueOptions::default()).unwrap();
    let unread = submit_three(&deaf, 30);
    engine.set_thread(ThreadOptions::default()).unwrap();
    submit_three(&reads, 30);
    assert!(collect(&reads, 3).values().all(|answer| answer.tokens.len() == 30));
    let mut events = RequestEvents::default();
    assert!(deaf.wait(LONG).unwrap());
    deaf.poll(&mut events).unwrap();
    assert!(events.iter().all(|event| event.tokens.len() <= 3));
    unread.into_iter().for_each(|id| deaf.cancel(id).unwrap());
}

#[test]
fn whoever_has_more_priority_comes_first() {
    let engine = small(1);
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let request = Request::new(PROMPT).session(up_to(3));
    let (plain, soon) = (queue.submit(&request).unwrap(), queue.submit(&request.clone().deadline(LONG)).unwrap());
    let high = queue.submit(&request.priority(7)).unwrap();
    engine.run(RunOptions::default()).unwrap();
    let mut events = RequestEvents::default();
    queue.poll(&mut events).unwrap();
    let ends: Vec<_> = events.iter().filter(|event| event.end.is_some()).map(|event| event.request).collect();
    assert_eq!(ends, [high, soon, plain]);
    assert_eq!(
        events.iter().map(|event| event.number).collect::<Vec<_>>(),
        (1..=events.len() as u64).collect::<Vec<_>>()
    );
}

#[test]
fn a_run_keeps_to_its_budget_and_says_what_is_left() {
    let engine = load_with(options().n_context(256).max_sessions(4).n_threads(1));
    let queue = engine.queue(QueueOptions::default()).unwrap();
    submit_three(&queue, 20);
    let info = engine.run(RunOptions::default().one_step(true).max_step(LONG)).unwrap();
    assert!(info.has_work && info.n_requests == 3, "{info:?}");
    let (mut n_tokens, mut n_calls) = (info.n_tokens, 0);
    loop {
        let least = RunOptions::default().no_wait(n_calls % 4 < 2); // of the host or the device
        let info = engine
            .run(if n_calls % 2 == 0 { least.budget(Duration::ZERO) } else { least.host_budget(Duration::ZERO) })
            .unwrap();
        (n_tokens, n_calls) = (n_tokens + info.n_tokens, n_calls + 1);
        if info.n_requests == 0 {
            break;
        }
    }
    assert_eq!(n_tokens, 60);
    assert!(n_calls > 19, "{n_calls} calls");
    let left = engine.run(RunOptions::default()).unwrap();
    assert_eq!((left.n_tokens, left.n_requests, left.has_work), (0, 0, false));
}

#[test]
fn an_engine_has_one_that_computes() {
    let engine = small(2);
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let wait = |patience| queue.wait(patience);
    assert_eq!(wait(LONG).unwrap_err().status(), Status::InvalidState, "nobody would wake it");
    assert!(!wait(Duration::ZERO).unwrap());
    engine.set_thread(ThreadOptions::default()).unwrap();
    assert_eq!(engine.run(RunOptions::default()).unwrap_err().status(), Status::InvalidState);
    let begin = Instant::now();
    assert!(!wait(Duration::from_millis(20)).unwrap());
    assert!(begin.elapsed() >= Duration::from_millis(20));
    let (ms, id) = (Duration::from_millis, submit(&queue, 20));
    engine.set_thread(ThreadOptions::default().busy(ms(2)).period(ms(4)).max_step(ms(2))).unwrap();
    assert_eq!(collect(&queue, 1)[&id].tokens, greedy(&engine, 20));
    engine.set_thread(None).unwrap();
    engine.set_thread(None).unwrap();
    let id = submit(&queue, 5);
    assert_eq!(run_all(&engine, &queue)[&id].tokens.len(), 5);
}

#[test]
fn a_wake_ends_who_waits_and_is_not_lost() {
    let engine = small(2);
    engine.set_thread(ThreadOptions::default()).unwrap();
    let (queue, other) =
        (engine.queue(QueueOptions::default()).unwrap(), engine.queue(QueueOptions::default()).unwrap());
    for round in 0..100 {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Acquire) {
                    let begin = Instant::now();
                    assert!(!queue.wait(LONG).unwrap(), "there is no event");
                    assert!(begin.elapsed() < LONG, "the wake was lost");
                }
            });
            if round % 2 == 0 {
                thread::sleep(Duration::from_micros(20 * round));
            }
            stop.store(true, Ordering::Release);
            queue.wake().unwrap();
        });
    }
    assert!(!other.wait(Duration::from_millis(1)).unwrap(), "it is another queue's");
    queue.wake().unwrap();
    let begin = Instant::now();
    assert!(!queue.wait(LONG).unwrap() && begin.elapsed() < LONG, "the wake was lost");
    queue.wake().unwrap();
    submit(&queue, 3);
    assert!(queue.wait(LONG).unwrap() || queue.wait(LONG).unwrap(), "events come as before");
}

#[test]
fn a_prefix_is_found_again_unless_the_engine_is_told_otherwise() {
    for no_cache in [false, true] {
        let engine = load_with(options().n_context(256).max_sessions(2).no_prefix_cache(no_cache));
        let (queue, prompt) = (engine.queue(QueueOptions::default()).unwrap(), vec![65; 100]);
        let ends: Vec<_> = (0..2)
            .map(|_| {
                queue.submit(&Request::new(&prompt).session(up_to(4))).unwrap();
                let answer = run_all(&engine, &queue).into_values().next().unwrap();
                (answer.tokens, answer.end.unwrap().n_cached)
            })
            .collect();
        assert_eq!((ends[0].1, ends[1].1 > 0), (0, !no_cache));
        assert_eq!(ends[0].0, ends[1].0);
    }
}

#[test]
fn blocks_whose_room_is_wanted_go_to_the_host_and_come_back() {
    let planned = Engine::memory_plan(model(), &options().n_context(256).max_sessions(1)).unwrap();
    let block_bytes = planned.kv_bytes / 8;
    let small = || {
        options()
            .n_context(256)
            .max_sessions(1)
            .kv_budget_bytes(4 * block_bytes)
            .prefix_cache_host_bytes(6 * block_bytes)
    };
    assert_eq!(planned.prefix_cache_host_bytes, 0);
    assert_eq!(Engine::memory_plan(model(), &small()).unwrap().prefix_cache_host_bytes, 6 * block_bytes);
    let engine = load_with(small());
    while engine.stats().unwrap().prefix_cache_host_bytes_taken < 6 * block_bytes {} // a thread takes it
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let n_cached = [65, 66, 65].map(|token| {
        queue.submit(&Request::new(&[token; 100]).session(up_to(4))).unwrap();
        run_all(&engine, &queue).into_values().next().unwrap().end.unwrap().n_cached
    });
    assert_eq!(n_cached, [0, 0, 96]);
    let stats = engine.stats().unwrap();
    assert_eq!((stats.n_kv_blocks_to_host, stats.n_kv_blocks_from_host), (6, 3));
    assert_eq!((stats.n_kv_blocks_on_host, stats.n_kv_blocks_host_dropped, stats.n_kv_blocks_used), (3, 0, 0));
}

#[test]
fn many_threads_submit_wait_and_poll() {
    let engine = load_with(options().n_context(256).max_sessions(8));
    let right = greedy(&engine, 30);
    engine.set_thread(ThreadOptions::default()).unwrap();
    let shared = engine.queue(QueueOptions::default()).unwrap();
    let n_ends = AtomicUsize::new(0);
    thread::scope(|scope| {
        for i in 0..8 {
            let (engine, shared, right, n_ends) = (&engine, &shared, &right, &n_ends);
            scope.spawn(move || {
                // A queue of its own.
                let queue = engine.queue(QueueOptions::default()).unwrap();
                let ids = submit_three(&queue, 30);
                if i % 2 == 0 {
                    queue.cancel(ids[1]).unwrap();
                }
                let answers = collect(&queue, 3);
                for (n, id) in ids.iter().enumerate() {
                    let is_whole = answers[id].tokens == *right;
                    assert!(is_whole || (i % 2 == 0 && n == 1 && right.starts_with(&answers[id].tokens)));
                }
                // One that all submit to and poll.
                submit_three(shared, 30);
                let mut events = RequestEvents::with_room(1, 8, 64);
                while n_ends.load(Ordering::SeqCst) < 24 {
                    if shared.wait(Duration::from_millis(10)).unwrap() && shared.poll(&mut events).unwrap() > 0 {
                        n_ends.fetch_add(events.iter().filter(|e| e.end.is_some()).count(), Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert_eq!(n_ends.load(Ordering::SeqCst), 24);
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
}

#[test]
fn an_engine_that_is_dropped_ends_its_requests_and_those_who_wait() {
    let engine = small(2);
    engine.set_thread(ThreadOptions::default()).unwrap();
    // So that it does not end by itself.
    let queue = engine.queue(QueueOptions::default().max_unread_tokens(3)).unwrap();
    let other = engine.queue(QueueOptions::default()).unwrap();
    let id = queue.submit(&Request::new(PROMPT).session(up_to(200))).unwrap();
    thread::scope(|scope| {
        let waiting: Vec<_> =
            [LONG, Duration::MAX].map(|patience| scope.spawn(move_wait(&other, patience))).into_iter().collect();
        thread::sleep(Duration::from_millis(20));
        drop(engine);
        for waits in waiting {
            assert_eq!(waits.join().unwrap().unwrap_err().status(), Status::InvalidState);
        }
    });
    assert!(queue.wait(Duration::ZERO).unwrap(), "its end is there");
    let mut events = RequestEvents::default();
    let mut end = None;
    while let Ok(1..) = queue.poll(&mut events) {
        end = events.iter().filter(|event| event.request == id).last().unwrap().end;
    }
    assert_eq!(end.unwrap().finish_reason, FinishReason::Cancelled);
    assert_eq!(queue.poll(&mut events).unwrap_err().status(), Status::InvalidState);
    assert!(events.is_empty());
    assert_eq!(queue.submit(&Request::new(PROMPT)).unwrap_err().status(), Status::InvalidState);
    assert_eq!(queue.wait(LONG).unwrap_err().status(), Status::InvalidState);
    queue.cancel(id).unwrap();
}

fn move_wait(queue: &Queue, patience: Duration) -> impl FnOnce() -> inlay::Result<bool> + '_ {
    move || queue.wait(patience)
}

#[test]
fn a_queue_that_is_dropped_takes_its_requests_along() {
    let engine = small(2);
    for with_thread in [false, true, false] {
        if with_thread {
            engine.set_thread(ThreadOptions::default()).unwrap();
        }
        for _ in 0..20 {
            let queue = engine.queue(QueueOptions::default().wake(thread::yield_now)).unwrap();
            submit_three(&queue, 100);
        }
        engine.set_thread(None).unwrap();
        let info = engine.run(RunOptions::default()).unwrap();
        assert_eq!((info.n_requests, engine.stats().unwrap().n_sessions), (0, 0));
    }
}

#[test]
fn the_wake_function_is_called_when_there_is_something_to_poll() {
    let engine = small(2);
    let (n_calls, (tell, told)) = (Arc::new(AtomicUsize::new(0)), channel());
    let counted = Arc::clone(&n_calls);
    let wake = move || {
        counted.fetch_add(1, Ordering::SeqCst);
        let _ = tell.send(thread::current().id());
        panic!("it goes no further");
    };
    let queue = engine.queue(QueueOptions::default().wake(wake)).unwrap();
    let id = submit(&queue, 10);
    assert_eq!(n_calls.load(Ordering::SeqCst), 0);
    for _ in 0..4 {
        engine.run(RunOptions::default().one_step(true)).unwrap();
    }
    assert_eq!(n_calls.load(Ordering::SeqCst), 1, "nobody has polled");
    assert_eq!(told.recv().unwrap(), thread::current().id());
    poll(&queue, &mut RequestEvents::default(), &mut Answers::new());
    queue.cancel(id).unwrap();
    assert_eq!(n_calls.load(Ordering::SeqCst), 2);
    engine.set_thread(ThreadOptions::default()).unwrap();
    poll(&queue, &mut RequestEvents::default(), &mut Answers::new());
    submit(&queue, 2);
    assert_ne!(told.iter().nth(1).unwrap(), thread::current().id());
    drop(queue);
    assert_eq!(Arc::strong_count(&n_calls), 1, "the function is dropped with the queue");
}

/// A wake function that first calls the queue and then drops all there is.
#[test]
fn what_a_wake_function_drops_is_freed_elsewhere() {
    for by_thread in [false, true] {
        let (owned, (tell, told)) = (Arc::new(Mutex::new(None::<(Queue, Session, Engine)>)), channel());
        let engine = small(2);
        let (mine, tell) = (Arc::clone(&owned), Mutex::new(tell));
        let wake = move || {
            let Some((queue, session, engine)) = mine.lock().unwrap().take() else { return };
            let refused = [
                queue.submit(&Request::new(PROMPT)).unwrap_err(),
                queue.wait(Duration::MAX).unwrap_err(),
                queue.poll(&mut RequestEvents::default()).unwrap_err(),
                queue.wait_handle().unwrap_err(),
                queue.wake().unwrap_err(),
            ];
            assert!(refused.iter().all(|error| error.status() == Status::InvalidState));
            drop((queue, session, engine));
            tell.lock().unwrap().send(refused.len()).unwrap();
        };
        let queue = engine.queue(QueueOptions::default().wake(wake)).unwrap();
        let session = begun(&engine);
        submit(&queue, 5);
        let runs = engine.clone();
        *owned.lock().unwrap() = Some((queue, session, engine));
        if by_thread {
            runs.set_thread(ThreadOptions::default()).unwrap();
        } else {
            runs.run(RunOptions::default().one_step(true)).unwrap();
        }
        drop(runs);
        assert_eq!(told.recv().unwrap(), 5);
        assert!(told.recv().is_err(), "the function is dropped with the queue");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_handle_is_ready_while_there_is_something_to_poll() {
    use std::os::fd::{AsFd, AsRawFd};
    #[repr(C)]
    struct PollFd {
        fd: i32,
        events: i16,
        revents: i16,
    }
    extern "C" {
        fn poll(fds: *mut PollFd, n: std::ffi::c_ulong, timeout_ms: i32) -> i32;
    }
    let engine = small(2);
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let handle = queue.wait_handle().unwrap();
    assert_eq!(handle.kind(), inlay::WaitKind::Eventfd);
    assert_eq!(i64::from(handle.as_fd().as_raw_fd()), handle.number());
    assert_eq!(queue.wait_handle().unwrap().number(), handle.number());
    let is_ready = |timeout_ms| {
        let mut one = PollFd { fd: handle.as_raw_fd(), events: 1, revents: 0 };
        // SAFETY: one entry, which is ours.
        unsafe { poll(&mut one, 1, timeout_ms) == 1 }
    };
    assert!(!is_ready(0));
    submit(&queue, 5);
    assert!(!is_ready(0));
    engine.set_thread(ThreadOptions::default()).unwrap();
    assert!(is_ready(60_000) && is_ready(0), "it stays so");
    collect(&queue, 1);
    assert!(!is_ready(0));
}
