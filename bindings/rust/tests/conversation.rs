//! Chats: what is run, what stays of an answer, a context that fills, lines that are refused.
mod common;

use common::*;
use inlay::{Chat, ChatMessage, Engine, Event, FinishReason, GenerateOptions, Sampler, SessionOptions, Status};
use std::thread;

const SCENE: &str = "Mira is a kind innkeeper at an inn in Oakvale.";
const ROOM: &str = "Do you have a room?";
const NAME: &str = "What is your name?";

fn small() -> Engine {
    load_with(options().n_context(512).max_sessions(9))
}

fn scene() -> [ChatMessage; 1] {
    [ChatMessage::system(SCENE)]
}

fn chat(engine: &Engine, max_tokens: u32) -> Chat {
    engine.chat(&SessionOptions::default().max_tokens(max_tokens), scene()).unwrap()
}

/// The whole answer and its last event.
fn answer(chat: &mut Chat, line: &str) -> (String, Event) {
    let events: Vec<_> = chat.ask(line).unwrap().map(|event| event.unwrap()).collect();
    (events.iter().map(|event| event.text.as_str()).collect(), events.last().unwrap().clone())
}

#[test]
fn a_turn_runs_its_own_line_alone() {
    let engine = small();
    let mut chat = chat(&engine, 0);
    let (mut said, mut n_before) = (scene().to_vec(), 0);
    for line in [ROOM, "Thank you.", NAME] {
        let (text, last) = answer(&mut chat, line);
        said.push(ChatMessage::user(line));
        let prompt = engine.chat_tokens(&said, None, true).unwrap();
        let mut alone = engine.session(&SessionOptions::default()).unwrap();
        let reply = alone.generate(&prompt, &GenerateOptions::default()).unwrap().into_text().unwrap();
        assert_eq!(text, reply);
        assert!(!text.is_empty());
        assert_eq!(chat.n_reused() + last.n_prompt as usize, prompt.len());
        assert!(chat.n_reused() >= n_before, "{} tokens reused of {n_before}", chat.n_reused());
        said.push(ChatMessage::assistant(text));
        n_before = prompt.len() + last.n_generated as usize - 1;
        assert_eq!(chat.messages(), said);
    }
    // What is kept as messages goes on in another chat.
    let mut other = engine.chat(&SessionOptions::default(), chat.messages().to_vec()).unwrap();
    assert_eq!(answer(&mut other, ROOM).0, answer(&mut chat, ROOM).0);
    assert_eq!((other.messages(), other.n_reused()), (chat.messages(), 0));
    chat.clear();
    assert_eq!(chat.messages(), scene());
    answer(&mut chat, ROOM);
    assert_eq!(chat.messages(), &said[..3]);
    assert!(chat.n_reused() > 0, "the system's message is not run again");
}

#[test]
fn a_part_of_an_answer_stays_however_it_was_cut() {
    let engine = small();
    let options = SessionOptions::default().max_tokens(30).ignore_end_of_generation(true);
    for cancels in [false, true] {
        let mut chat = engine.chat(&options, scene()).unwrap();
        let mut generation = chat.ask(ROOM).unwrap();
        let part: String = generation.by_ref().take(6).map(|event| event.unwrap().text).collect();
        let mut rest = String::new();
        if cancels {
            generation.cancel_handle().cancel();
            let reply = generation.into_reply().unwrap();
            assert_eq!(reply.finish_reason, FinishReason::Cancelled);
            rest = reply.text;
        }
        let kept = [&scene()[..], &[ChatMessage::user(ROOM), ChatMessage::assistant(part + &rest)]].concat();
        assert_eq!(chat.messages(), kept);
        let mut fresh = engine.chat(&options, kept).unwrap();
        assert_eq!(answer(&mut chat, NAME).0, answer(&mut fresh, NAME).0);
        assert_eq!(chat.messages(), fresh.messages());
    }
}

#[test]
fn a_line_without_an_answer_is_taken_back() {
    let engine = small();
    let mut chat = chat(&engine, 0);
    answer(&mut chat, ROOM);
    let said = chat.messages().to_vec();
    let handle = chat.session().cancel_handle();
    handle.cancel();
    assert!(chat.ask(NAME).unwrap_err().is_cancelled());
    assert_eq!(chat.messages(), said);
    drop(chat.ask(NAME).unwrap());
    assert_eq!(chat.messages(), said);
    let generation = chat.ask(NAME).unwrap();
    generation.cancel_handle().cancel();
    assert_eq!(generation.into_reply().unwrap().text, "");
    assert_eq!(chat.messages(), said);
    let (text, last) = answer(&mut chat, "Thank you.");
    assert!(last.n_prompt <= 20, "{} tokens were run", last.n_prompt);
    assert_eq!(chat.messages()[said.len()..], [ChatMessage::user("Thank you."), ChatMessage::assistant(text)]);
}

#[test]
fn a_full_context_drops_the_oldest_turns() {
    let engine = small();
    let (max_tokens, room) = (64, 512 - 64);
    // The first turn has three messages.
    let before = ["user", "assistant", "tool"].map(|role| ChatMessage::new(role, "Hello."));
    let mut said = [&scene()[..], &before].concat();
    let mut chat = engine.chat(&SessionOptions::default().max_tokens(max_tokens), said.clone()).unwrap();
    let (mut n_shrunk, mut n_dropped) = (0, 0);
    for i in 0..30 {
        let line = [ROOM, NAME][i % 2];
        let (text, last) = answer(&mut chat, line);
        said.extend([ChatMessage::user(line), ChatMessage::assistant(text)]);
        let n_tokens = chat.n_reused() + last.n_prompt as usize;
        assert!(n_tokens <= room, "{n_tokens}");
        if chat.n_dropped() > n_dropped {
            let n_messages = 2 * (chat.n_dropped() - n_dropped) + usize::from(n_dropped == 0);
            said.drain(1..1 + n_messages);
            (n_shrunk, n_dropped) = (n_shrunk + 1, chat.n_dropped());
            assert!(n_tokens <= room / 2, "{n_tokens}");
        } else if i > 0 {
            assert!(last.n_prompt <= 20, "turn {i} ran {} tokens", last.n_prompt);
        }
        assert_eq!(chat.messages(), said);
    }
    assert!((1..=5).contains(&n_shrunk), "{n_shrunk}");
    chat.clear();
    assert_eq!((chat.messages(), chat.n_dropped()), (&scene()[..], 0));
}

#[test]
fn a_chat_draws_by_the_sampler_that_it_is_given() {
    let engine = small();
    let wild = |seed| Sampler::default().temperature(1.5).seed(seed);
    let with = |sampler| engine.chat(&SessionOptions::default().max_tokens(40).sampler(sampler), scene()).unwrap();
    let greedy = answer(&mut chat(&engine, 40), ROOM).0;
    let made = answer(&mut with(wild(3)), ROOM).0;
    assert_ne!(made, greedy);
    // Given later it draws the same; between two lines it changes the second one alone.
    let mut later = chat(&engine, 40);
    later.set_sampler(&wild(3)).unwrap();
    assert_eq!(answer(&mut later, ROOM).0, made);
    later.clear();
    later.set_sampler(&Sampler::default()).unwrap();
    assert_eq!(answer(&mut later, ROOM).0, greedy);
    assert_eq!(later.set_sampler(&Sampler::default().temperature(-1.0)).unwrap_err().status(), Status::InvalidArgument);
    // So do the texts that end an answer.
    let stop = greedy.split(' ').nth(3).unwrap();
    later.clear();
    later.set_stop(&[stop]).unwrap();
    let (text, last) = answer(&mut later, ROOM);
    assert_eq!(
        (text.as_str(), last.finish_reason),
        (&greedy[..greedy.find(stop).unwrap()], Some(FinishReason::StopString))
    );
}

#[test]
fn a_line_that_is_too_long_changes_nothing() {
    let engine = small();
    let mut chat = chat(&engine, 1000); // more than half of the context is half of it
    answer(&mut chat, ROOM);
    let said = chat.messages().to_vec();
    for _ in 0..2 {
        let error = chat.ask(format!("{ROOM} ").repeat(100)).unwrap_err();
        assert_eq!((error.status(), error.available()), (Status::ContextFull, 256));
        assert!(error.required() > 256 && error.message().contains("too long"), "{error:?}");
        assert_eq!((chat.messages(), chat.n_dropped()), (&said[..], 0));
    }
    assert!(answer(&mut chat, NAME).1.n_prompt <= 20);
}

#[test]
fn a_chat_needs_a_session_and_outlives_its_engine() {
    let engine = load_with(options().n_context(512).max_sessions(1));
    let mut chat = chat(&engine, 0);
    let refused = engine.chat(&SessionOptions::default(), []).unwrap_err();
    assert_eq!(refused.status(), Status::SessionLimit);
    drop(engine);
    assert!(!answer(&mut chat, ROOM).0.is_empty());
    let engine = chat.session().engine().clone();
    drop(chat);
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
    // One that says nothing at all has no messages.
    let mut empty = engine.chat(&SessionOptions::default(), []).unwrap();
    let (text, _) = answer(&mut empty, ROOM);
    assert_eq!(empty.messages(), [ChatMessage::user(ROOM), ChatMessage::assistant(text)]);
}

#[test]
fn chats_of_many_threads_answer_as_alone() {
    let engine = small();
    let talk = |i: usize| {
        let mut chat = chat(&engine, 0);
        for line in [&format!("Hello, I am number {i}."), ROOM, NAME] {
            answer(&mut chat, line);
        }
        chat.messages().to_vec()
    };
    let alone: Vec<_> = (0..8).map(talk).collect();
    let before = engine.stats().unwrap();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|i| scope.spawn(move || talk(i))).collect();
        for (thread, alone) in threads.into_iter().zip(&alone) {
            assert_eq!(&thread.join().unwrap(), alone);
        }
    });
    let after = engine.stats().unwrap();
    let n_tokens = after.n_decode_tokens - before.n_decode_tokens;
    let n_steps = after.n_decode_steps - before.n_decode_steps;
    assert!(3 * n_steps <= 2 * n_tokens, "{n_steps} steps for {n_tokens} tokens");
}
