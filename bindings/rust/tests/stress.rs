//! 64 threads whose jobs are cancelled, dropped, left and forked at random, or whose clients vanish: every text is right as far as
//! it goes, and nothing is left. INLAY_TEST_GENERATIONS says how many jobs; a program of its own, whose threads and files nothing
//! else changes.
mod common;

use common::*;
use inlay::{decode_step, Engine, Event, GenerateOptions, Reply, Sampler, Session, SessionOptions, Status};
use std::ops::AddAssign;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::thread;
use std::time::Duration;

const THREADS: usize = 64;
/// Of generations: each has a seed and a length of its own.
const KINDS: usize = 16;

fn kind_options(kind: usize) -> GenerateOptions {
    let sampler = Sampler::default().temperature(0.9).seed(kind as u64);
    GenerateOptions::default().sampler(sampler).max_tokens(8 + kind as u32 % 7)
}

fn session(engine: &Engine) -> Session {
    engine.session(&SessionOptions::default()).expect("a session")
}

/// Numbers that look random, the same at each run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What jobs came to.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    whole: usize,
    cancelled: usize,
    left: usize,
    wrong: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.whole += other.whole;
        self.cancelled += other.cancelled;
        self.left += other.left;
        self.wrong += other.wrong;
    }
}

impl Counts {
    /// A text that ended, or a part that was left, against the right one.
    fn take(&mut self, text: &str, whole: bool, right: &str) {
        *(if whole { &mut self.whole } else { &mut self.left }) += 1;
        self.wrong += usize::from(if whole { text != right } else { !right.starts_with(text) });
    }

    /// What a generation that might be cancelled came to.
    fn take_reply(&mut self, reply: inlay::Result<Reply>, right: &str) {
        match reply {
            Ok(reply) if !reply.is_cancelled() => self.take(&reply.text, true, right),
            Ok(reply) => {
                self.cancelled += 1;
                self.wrong += usize::from(!right.starts_with(&reply.text));
            }
            Err(error) if error.status() == Status::Cancelled => self.cancelled += 1, // it met the prompt
            Err(error) => panic!("{error}"),
        }
    }
}

fn text_of(events: impl Iterator<Item = inlay::Result<Event>>) -> String {
    events.map(|event| event.expect("a step").text).collect()
}

/// One job of a kind. `right` are the texts of all kinds.
fn job(engine: &Engine, random: &mut Random, right: &[String], counts: &mut Counts) {
    let kind = random.below(KINDS as u64) as usize;
    let (options, right_text) = (kind_options(kind), &right[kind]);
    let n = random.below(5) as usize;
    match random.below(8) {
        0 => {
            let text = text_of(session(engine).generate(PROMPT, &options).unwrap().take(n));
            counts.take(&text, false, right_text);
        }
        1 => {
            let mut session = session(engine);
            let (handle, wait) = (session.cancel_handle(), Duration::from_micros(random.below(40_000)));
            let cancelling = thread::spawn(move || {
                thread::sleep(wait);
                handle.cancel();
            });
            let reply = session.generate(PROMPT, &options).and_then(|generation| generation.into_reply());
            cancelling.join().unwrap();
            counts.take_reply(reply, right_text);
        }
        2 => {
            // Its session outlives the caller's engine, and is dropped by another thread.
            let mut owned = owned(session(&engine.clone()), PROMPT, &options);
            let text = text_of(owned.by_ref().take(n));
            thread::spawn(move || drop(owned)).join().unwrap();
            counts.take(&text, false, right_text);
        }
        3 => {
            let text = with_client_that_vanishes(session(engine), &options, n);
            counts.take(&text, false, right_text);
        }
        4 => {
            let mut parent = session(engine);
            let mut text = text_of(parent.generate(PROMPT, &options).unwrap().take(n));
            let mut child = parent.fork().unwrap();
            drop(parent);
            text += &text_of(child.events());
            counts.take(&text, true, right_text);
        }
        5 => {
            let other = random.below(KINDS as u64) as usize;
            for (text, right) in together(engine, [kind, other]).iter().zip([right_text, &right[other]]) {
                counts.take(text, true, right);
            }
            counts.whole -= 1; // one job
        }
        _ => counts.take_reply(session(engine).generate(PROMPT, &options).unwrap().into_reply(), right_text),
    }
}

/// A thread that sends pieces to a client who goes away after n of them. What the client has read.
fn with_client_that_vanishes(mut session: Session, options: &GenerateOptions, n: usize) -> String {
    let (pieces, arriving) = channel();
    let speak = |pieces: Sender<String>, session: &mut Session| {
        for event in session.generate(PROMPT, options).unwrap() {
            if pieces.send(event.unwrap().text).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(move || speak(pieces, &mut session));
        let text = arriving.iter().take(n).collect();
        drop(arriving);
        text
    })
}

/// Two generations that share their steps.
fn together(engine: &Engine, kinds: [usize; 2]) -> [String; 2] {
    let mut sessions = kinds.map(|kind| {
        let mut session = session(engine);
        session.begin(PROMPT, &kind_options(kind)).unwrap();
        session
    });
    let mut texts = [String::new(), String::new()];
    let mut ended = [false; 2];
    while ended != [true; 2] {
        let running: Vec<usize> = (0..2).filter(|&i| !ended[i]).collect();
        let stepped = sessions.iter_mut().enumerate().filter(|(i, _)| running.contains(i)).map(|(_, session)| session);
        for (&i, event) in running.iter().zip(decode_step(stepped).unwrap()) {
            let event = event.unwrap();
            texts[i] += &event.text;
            ended[i] = event.finish_reason.is_some();
        }
    }
    texts
}

/// Runs jobs on all threads at once.
fn run_jobs(engine: &Engine, n_jobs: usize, right: &[String]) -> Counts {
    let n_begun = AtomicUsize::new(0);
    let mut all = Counts::default();
    thread::scope(|scope| {
        let begun = &n_begun;
        let work = |seed: usize| {
            move || {
                let (mut random, mut counts) = (Random(seed as u64), Counts::default());
                while begun.fetch_add(1, Ordering::Relaxed) < n_jobs {
                    job(engine, &mut random, right, &mut counts);
                }
                counts
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|seed| scope.spawn(work(seed))).collect();
        for thread in threads {
            all += thread.join().unwrap();
        }
    });
    all
}

/// Threads and open files of this process; none where the system does not tell in this way.
fn threads_and_files() -> [usize; 2] {
    if cfg!(windows) {
        return [0; 2]; // under Wine there is /proc, which counts Wine's own, too
    }
    ["/proc/self/task", "/proc/self/fd"].map(|folder| std::fs::read_dir(folder).map_or(0, Iterator::count))
}

/// A joined thread is in the system's list for a moment longer, so this waits for what must come.
fn expect_threads_and_files(before: [usize; 2]) {
    for _ in 0..1000 {
        if threads_and_files() == before {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(threads_and_files(), before, "threads and files");
}

/// The same figures notice texts of other seeds, and what is still there.
fn expect_that_faults_are_noticed(engine: &Engine, right: &[String]) {
    let n_wrong = |kind: usize, right: &str| {
        let mut counts = Counts::default();
        let reply = session(engine).generate(PROMPT, &kind_options(kind)).unwrap().into_reply();
        counts.take(&reply.as_ref().unwrap().text, false, right);
        counts.take_reply(reply, right);
        counts.wrong
    };
    for (kind, text) in right.iter().enumerate() {
        let other = &right[(kind + 1) % KINDS];
        assert_eq!((n_wrong(kind, text), n_wrong(kind, other)), (0, 2), "{text:?} against {other:?}");
    }
    let before = threads_and_files();
    let kept = begun(engine);
    let stats = engine.stats().unwrap();
    assert!(stats.n_sessions == 1 && stats.n_kv_blocks_used > 0);
    let (waited_for, wait) = channel::<()>();
    let (thread, file) = (thread::spawn(move || wait.recv()), std::fs::File::open(model()).unwrap());
    let during = threads_and_files();
    assert!(before == [0; 2] || during == before.map(|n| n + 1), "{before:?}, then {during:?}");
    drop((kept, waited_for, file));
    assert!(thread.join().unwrap().is_err(), "nothing was sent");
    expect_threads_and_files(before);
}

#[test]
fn jobs_on_many_threads_leave_nothing() {
    let n_jobs = std::env::var("INLAY_TEST_GENERATIONS").map_or(500, |n| n.parse().expect("a number"));
    let before_load = threads_and_files();
    let engine = load_with(options().n_context(64).max_sessions(2 * THREADS as u32));
    let right: Vec<_> = (0..KINDS)
        .map(|kind| session(&engine).generate(PROMPT, &kind_options(kind)).unwrap().into_text().unwrap())
        .collect();
    expect_that_faults_are_noticed(&engine, &right);
    let before = threads_and_files();
    let counts = run_jobs(&engine, n_jobs, &right);
    println!("{n_jobs} jobs: {counts:?}");
    assert_eq!(counts.wrong, 0, "wrong texts");
    assert_eq!(counts.whole + counts.cancelled + counts.left, n_jobs);
    assert!(counts.whole > n_jobs / 4 && counts.cancelled > 0 && counts.left > n_jobs / 8, "{counts:?}");
    let stats = engine.stats().unwrap();
    assert_eq!((stats.n_sessions, stats.n_kv_blocks_used), (0, 0));
    expect_threads_and_files(before);
    drop(engine);
    expect_threads_and_files(before_load);
}
