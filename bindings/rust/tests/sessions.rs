//! What sessions draw, alone and together, and what is left of them.
mod common;

use common::*;
use inlay::{
    decode_abandon, decode_slice, decode_step, FinishReason, GenerateOptions, LogitBias, Prompt, Sampler, Session,
    SessionOptions, Slice, Status, TokenizeOptions,
};

#[test]
fn generation_gives_the_text_of_its_tokens() {
    let engine = load();
    let mut session = engine.session(&SessionOptions::default().max_tokens(40)).unwrap();
    let events: Vec<_> =
        session.generate(PROMPT, &GenerateOptions::default()).unwrap().map(|event| event.unwrap()).collect();
    let tokens: Vec<_> = events.iter().filter_map(|event| event.token).collect();
    let text: String = events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(tokens, greedy(&engine, tokens.len()));
    assert_eq!(text, engine.detokenize(&tokens, false).unwrap());
    assert!(text.len() > 40, "{text}");
    assert!(events.iter().rev().skip(1).all(|event| event.finish_reason.is_none()));
    assert_eq!(events.last().unwrap().finish_reason, Some(FinishReason::MaxTokens));
    assert_eq!(session.info().unwrap().finish_reason, Some(FinishReason::MaxTokens));
}

#[test]
fn events_count_the_tokens_of_their_generation() {
    let engine = load();
    let n_prompt = engine.tokenize(PROMPT, TokenizeOptions::default()).unwrap().len() as u32;
    let mut session = endless(&engine);
    for turn in 0..2 {
        let n_prompt = n_prompt - turn; // the second prompt has no BOS
        let events: Vec<_> = session.generate(PROMPT, &GenerateOptions::default()).unwrap().take(6).collect();
        let counts: Vec<_> = events.into_iter().map(|e| e.unwrap()).map(|e| (e.n_prompt, e.n_generated)).collect();
        assert_eq!(counts, (1..=6).map(|n| (n_prompt, n)).collect::<Vec<_>>(), "turn {turn}");
        assert_eq!(session.info().unwrap().n_generated, 6);
    }
    let mut child = session.fork().unwrap();
    for event in decode_step([&mut session, &mut child]).unwrap() {
        assert_eq!(event.unwrap().n_generated, 7);
    }
    session.cancel_handle().cancel();
    let last = session.decode_step().unwrap();
    assert_eq!((last.finish_reason, last.n_generated), (Some(FinishReason::Cancelled), 7));
    let n_before = session.info().unwrap().n_tokens;
    session.shift(1, 2).unwrap();
    assert_eq!(session.info().unwrap().n_tokens, n_before - 2);
    assert_eq!(session.shift(1, n_before as usize).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(session.info().unwrap().n_generated, 7);
    session.truncate(3).unwrap();
    assert_eq!(session.decode_step().unwrap().n_generated, 1);
    assert_eq!(session.info().unwrap().n_generated, 1);
    // The token that ends a generation counts.
    let eos = engine.info().unwrap().eos.unwrap();
    let sampler = Sampler::default().bias([LogitBias { token: eos, bias: 1e6 }]);
    let mut ends = engine.session(&SessionOptions::default().sampler(sampler)).unwrap();
    let last = ends.generate(PROMPT, &GenerateOptions::default()).unwrap().last().unwrap().unwrap();
    assert_eq!(last.finish_reason, Some(FinishReason::EndOfGeneration));
    assert_eq!((last.n_prompt, last.n_generated), (n_prompt, ends.info().unwrap().n_generated));
}

#[test]
fn max_tokens_can_change() {
    let engine = load();
    let mut session = endless(&engine);
    let mut count = |max_tokens| {
        session.truncate(0).unwrap();
        let mut options = GenerateOptions::default();
        options.max_tokens = max_tokens;
        let events: Vec<_> = session.generate(PROMPT, &options).unwrap().take(20).collect();
        (events.len(), events.last().unwrap().as_ref().unwrap().finish_reason)
    };
    assert_eq!(count(None), (20, None));
    assert_eq!(count(Some(5)), (5, Some(FinishReason::MaxTokens)));
    assert_eq!(count(None), (5, Some(FinishReason::MaxTokens)), "None leaves it");
    assert_eq!(count(Some(1)), (1, Some(FinishReason::MaxTokens)));
    assert_eq!(count(Some(0)), (20, None), "0 is no limit");
    assert_eq!(count(Some(u32::MAX)), (20, None));
    // In the generation under way.
    let mut session = begun(&engine);
    draw(&mut session, 4);
    session.set_max_tokens(6).unwrap();
    let rest: Vec<_> = session.events().map(|event| event.unwrap().finish_reason).collect();
    assert_eq!(rest, [None, Some(FinishReason::MaxTokens)]);
    session.prefill(PROMPT).unwrap();
    draw(&mut session, 4);
    session.set_max_tokens(2).unwrap();
    assert_eq!(session.decode_step().unwrap().finish_reason, Some(FinishReason::MaxTokens));
}

#[test]
fn prompts_are_text_or_tokens() {
    let engine = load();
    let tokens = engine.tokenize(PROMPT, TokenizeOptions::default()).unwrap();
    let text = |prompt: Prompt<'_>| {
        let mut session = engine.session(&SessionOptions::default().max_tokens(12)).unwrap();
        session.generate(prompt, &GenerateOptions::default()).unwrap().into_text().unwrap()
    };
    assert_eq!(text(PROMPT.into()), text((&tokens).into()));
    assert_ne!(text(PROMPT.into()), text("The old fox said".into()));
    assert_eq!(text(tokens[..].into()), text((&PROMPT.to_owned()).into()));
}

#[test]
fn seed_and_stream_decide_the_draw() {
    let engine = load();
    let hot = |seed, stream| {
        let sampler = Sampler::default().temperature(1.5).seed(seed);
        let options = SessionOptions::default().sampler(sampler).stream(stream).ignore_end_of_generation(true);
        let mut session = engine.session(&options).unwrap();
        session.prefill(PROMPT).unwrap();
        draw(&mut session, 24)
    };
    let first = hot(1, 0);
    assert_eq!(hot(1, 0), first);
    assert_ne!(hot(2, 0), first);
    assert_ne!(hot(1, 1), first);
}

#[test]
fn a_step_of_many_draws_what_each_draws_alone() {
    let engine = load();
    let prompts = ["Once", "The old fox said", "A small boat", "In a small house"];
    let begin = |prompt: &&str| {
        let mut session = endless(&engine);
        session.prefill(*prompt).unwrap();
        session
    };
    let alone: Vec<_> = prompts.iter().map(|prompt| draw(&mut begin(prompt), 16)).collect();
    let mut sessions: Vec<Session> = prompts.iter().map(begin).collect();
    let mut together = vec![Vec::new(); prompts.len()];
    for _ in 0..16 {
        for (tokens, event) in together.iter_mut().zip(decode_step(&mut sessions).unwrap()) {
            tokens.extend(event.unwrap().token);
        }
    }
    assert_eq!(together, alone);
    assert_ne!(alone[0], alone[1]);
}

#[test]
fn slices_draw_what_steps_draw() {
    let engine = load();
    let begin = |prompt: &str| {
        let mut session = endless(&engine);
        session.prefill(prompt).unwrap();
        session
    };
    let alone: Vec<_> = ["Once", "The old fox said"].map(|prompt| draw(&mut begin(prompt), 12)).into();
    let mut sessions = [begin("Once"), begin("The old fox said")];
    let mut together = vec![Vec::new(); 2];
    let mut n_pending = 0;
    while together[0].len() < 12 {
        match decode_slice(&mut sessions, 2).unwrap() {
            Slice::Pending { units } => {
                assert!(units > 0);
                n_pending += 1;
            }
            Slice::Ended(events) => {
                for (tokens, event) in together.iter_mut().zip(events) {
                    tokens.extend(event.unwrap().token);
                }
            }
        }
    }
    assert_eq!(together, alone);
    assert!(n_pending >= 11 * 2, "{n_pending} parts were no whole steps");

    // A pending step refuses, until it is dropped; then it never was.
    let Slice::Pending { units } = decode_slice(&mut sessions, 0).unwrap() else { panic!("a step has units") };
    assert!(units as u32 > engine.info().unwrap().n_layers);
    assert_eq!(sessions[0].prefill("more").unwrap_err().status(), Status::InvalidState);
    let [one, two] = &mut sessions;
    for result in decode_step([&mut *one, &mut *two]).unwrap() {
        assert_eq!(result.unwrap_err().status(), Status::InvalidState);
    }
    assert_eq!(decode_abandon([&mut *two, &mut *one]).unwrap_err().status(), Status::InvalidState);
    decode_abandon(&mut sessions).unwrap();
    decode_abandon(&mut sessions).unwrap();
    let next = draw(&mut sessions[0], 1);
    assert_eq!(next, draw(&mut begin("Once"), 13)[12..]);
    assert_eq!(decode_slice(&mut sessions, -1).unwrap_err().status(), Status::InvalidArgument);
    assert!(matches!(decode_slice([], 1).unwrap(), Slice::Ended(events) if events.is_empty()));
}

#[test]
fn stop_strings_end_a_generation() {
    let engine = load();
    let whole = engine.detokenize(&greedy(&engine, 40), false).unwrap();
    let stop = whole.split(' ').nth(5).unwrap().to_owned();
    let mut session = endless(&engine);
    let options = GenerateOptions::default().stop([stop.clone()]);
    let mut last = None;
    let mut text = String::new();
    for event in session.generate(PROMPT, &options).unwrap() {
        let event = event.unwrap();
        text += &event.text;
        last = event.finish_reason;
    }
    assert_eq!(last, Some(FinishReason::StopString));
    assert_eq!(text, whole[..whole.find(&stop).unwrap()]);
    // None keeps the texts of before, an empty list removes them.
    session.truncate(0).unwrap();
    let again = session.generate(PROMPT, &GenerateOptions::default()).unwrap().into_text().unwrap();
    assert_eq!(again, text);
    session.truncate(0).unwrap();
    let none = GenerateOptions::default().stop([""; 0]);
    assert_eq!(session.generate(PROMPT, &none).unwrap().take(40).count(), 40);
}

#[test]
fn the_sampler_can_change_between_turns() {
    let engine = load();
    let token = engine.tokenize("fox", TokenizeOptions::default().no_bos_eos(true)).unwrap()[0];
    let sampler = Sampler::default().bias([LogitBias { token, bias: 1e6 }]).n_logprobs(3);
    let mut session = endless(&engine);
    let options = GenerateOptions::default().sampler(sampler);
    let event = session.generate(PROMPT, &options).unwrap().next().unwrap().unwrap();
    assert_eq!(event.token, Some(token));
    assert_eq!(event.top.len(), 3);
    assert!(event.top[0].logprob >= event.top[1].logprob && event.top[1].logprob >= event.top[2].logprob);
    session.set_sampler(&Sampler::default()).unwrap();
    session.truncate(0).unwrap();
    let mut plain = session.generate(PROMPT, &GenerateOptions::default()).unwrap();
    assert!(plain.next().unwrap().unwrap().top.is_empty());
}

#[test]
fn dry_breaks_repetitions_but_for_its_breakers() {
    let engine = load();
    let token = engine.tokenize("fox", TokenizeOptions::default().no_bos_eos(true)).unwrap()[0];
    let mut session = endless(&engine);
    let mut repeats = |sampler: Sampler| {
        session.truncate(0).unwrap();
        session.set_sampler(&sampler.bias([LogitBias { token, bias: 50.0 }])).unwrap();
        session.prefill(PROMPT).unwrap();
        draw(&mut session, 8) == [token; 8]
    };
    let dry = Sampler::default().dry_multiplier(100.0);
    assert!(repeats(Sampler::default()));
    assert!(!repeats(dry.clone()));
    assert!(repeats(dry.clone().dry_breakers(["never", "f"])), "the token has a breaker in its text");
    assert!(!repeats(dry.clone().no_dry_breakers(true)));
    assert!(repeats(dry.dry_allowed_length(20)));
}

#[test]
fn logits_are_those_that_the_token_is_drawn_from() {
    let engine = load();
    let mut session = begun(&engine);
    let logits = session.logits().unwrap();
    assert_eq!(logits.len(), engine.info().unwrap().n_vocab as usize);
    assert_eq!(session.view_logits().unwrap(), logits);
    let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
    assert_eq!(draw(&mut session, 1), [best as i32]);
}

#[test]
fn a_fork_goes_on_like_its_parent_and_outlives_it() {
    let engine = load();
    let want = greedy(&engine, 12);
    let mut parent = begun(&engine);
    assert_eq!(draw(&mut parent, 4), want[..4]);
    let mut child = parent.fork().unwrap();
    assert_eq!(draw(&mut parent, 8), want[4..]);
    drop(parent);
    drop(engine);
    assert_eq!(draw(&mut child, 8), want[4..]);
}

#[test]
fn truncate_goes_back() {
    let engine = load();
    let mut session = begun(&engine);
    let n = session.info().unwrap().n_tokens;
    let first = draw(&mut session, 8);
    session.truncate(n as usize).unwrap();
    assert_eq!(session.info().unwrap().n_tokens, n);
    assert_eq!(draw(&mut session, 8), first);
}

#[test]
fn every_order_of_drops_is_fine() {
    let engine = load();
    let other = engine.clone();
    let mut session = begun(&engine);
    let handle = session.cancel_handle();
    drop(engine);
    drop(other);
    assert_eq!(draw(&mut session, 4).len(), 4);
    assert!(session.engine().info().is_ok());
    drop(session);
    handle.cancel(); // nothing to cancel any more
}

#[test]
fn stop_tokens_end_a_generation() {
    let engine = load();
    let token = greedy(&engine, 4)[3];
    let options = SessionOptions::default().max_tokens(40).stop_tokens([token]);
    let mut session = engine.session(&options).unwrap();
    let events: Vec<_> =
        session.generate(PROMPT, &GenerateOptions::default()).unwrap().map(|event| event.unwrap()).collect();
    assert_eq!(events.last().unwrap().finish_reason, Some(FinishReason::StopToken));
    assert!(events.len() <= 5, "{}", events.len());
    let wrong = SessionOptions::default().stop_tokens([-1]);
    assert_eq!(engine.session(&wrong).err().unwrap().status(), Status::InvalidArgument);
}

/// A long text of one token does not fit into an event: the rest comes along.
#[test]
fn events_carry_all_of_a_long_text() {
    let engine = load();
    // The start of a stop string is held back until another token shows that it is none; then all of it is new text.
    let word = engine.tokenize(" the", TokenizeOptions::default().no_bos_eos(true)).unwrap()[0];
    let piece = engine.detokenize(&[word], false).unwrap();
    let n = 300 / piece.len();
    let mut session = endless(&engine);
    session.prefill(PROMPT).unwrap();
    session.set_stop(&[piece.repeat(n) + "!"]).unwrap();
    session.set_sampler(&Sampler::default().bias([LogitBias { token: word, bias: 1e6 }])).unwrap();
    let held: String = session.events().take(n).map(|event| event.unwrap().text).collect();
    assert_eq!(held, "");
    let banned = Sampler::default().bias([LogitBias { token: word, bias: f32::NEG_INFINITY }]);
    session.set_sampler(&banned).unwrap();
    let event = session.decode_step().unwrap();
    assert!(event.text.starts_with(&piece.repeat(n)), "{}", event.text);
    assert!(event.text.len() > inlay::raw::INLAY_EVENT_TEXT_BYTES);
    assert_eq!(session.info().unwrap().text_pending, 0);
    assert_eq!(session.take_text().unwrap(), "");
}

#[test]
fn accepted_tokens_count_as_drawn() {
    let engine = load();
    let drawn = greedy(&engine, 8);
    let mut session = begun(&engine);
    let n_prompt = session.info().unwrap().n_tokens as usize;
    assert_eq!(session.accept(&drawn[..4]).unwrap(), 4);
    let event = session.decode_step().unwrap();
    assert_eq!((event.token, event.n_tokens, event.n_generated), (Some(drawn[4]), 1, 5));
    assert!(event.text.starts_with(&engine.detokenize(&drawn[..4], false).unwrap()), "{}", event.text);
    assert_eq!(session.tokens(n_prompt).unwrap(), drawn[..5]);
    assert_eq!(session.tokens(0).unwrap().len(), n_prompt + 5);
    session.set_max_tokens(7).unwrap();
    assert_eq!(session.accept(&drawn).unwrap(), 2, "the limit ends it");
    assert_eq!(session.accept(&drawn).unwrap_err().status(), Status::InvalidState);
    assert_eq!(session.tokens(1000).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(endless(&engine).accept(&[1]).unwrap_err().status(), Status::InvalidState);
}
