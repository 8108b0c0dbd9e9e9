//! Constraints: what sessions and requests write under them, how they end, and which are refused.
mod common;

use common::*;
use inlay::{
    ConstraintKind, ConstraintSource, ConstraintState, Engine, FinishReason, GenerateOptions, LogitBias, QueueOptions,
    Reply, Request, Sampler, Session, SessionOptions, Status, TokenizeOptions,
};
use std::collections::HashSet;
use std::thread;

const SCHEMA: &str = r#"{"type": "object", "properties": {"name": {"type": "string", "maxLength": 8},
    "age": {"type": "integer", "minimum": 0, "maximum": 150}, "mood": {"enum": ["calm", "angry"]}},
    "required": ["name", "age", "mood"], "additionalProperties": false}"#;
const ANSWERS: [&str; 3] = ["yes", "no", "perhaps not"];

fn hot(seed: u64) -> SessionOptions {
    SessionOptions::default().max_tokens(100).sampler(Sampler::default().temperature(1.0).seed(seed))
}

fn reply(engine: &Engine, options: &SessionOptions) -> Reply {
    let mut session = engine.session(options).expect("a session");
    session.generate(PROMPT, &GenerateOptions::default()).expect("the prompt runs").into_reply().expect("a reply")
}

/// What is behind a string of JSON at the text's beginning, and how many characters that has.
fn behind_string(text: &str) -> Option<(&str, usize)> {
    let mut rest = text.strip_prefix('"')?.chars();
    for n in 0.. {
        match rest.next()? {
            '"' => return Some((rest.as_str(), n)),
            '\\' if !r#""\/bfnrt"#.contains(rest.next()?) => return None,
            c if c.is_control() && c < ' ' => return None,
            _ => {}
        }
    }
    None
}

/// Whether the text is compact JSON of `SCHEMA`.
fn is_right(text: &str) -> bool {
    let whole = || {
        let (rest, n) = behind_string(text.strip_prefix(r#"{"name":"#)?)?;
        let (age, mood) = rest.strip_prefix(r#","age":"#)?.split_once(',')?;
        let is_age = age == age.parse::<u32>().ok()?.to_string() && age.parse::<u32>().ok()? <= 150;
        Some(n <= 8 && is_age && [r#""mood":"calm"}"#, r#""mood":"angry"}"#].contains(&mood))
    };
    whole() == Some(true)
}

#[test]
fn the_test_knows_the_schema() {
    assert!(is_right(r#"{"name":"a\"b","age":0,"mood":"calm"}"#));
    for wrong in [
        "",
        r#"{"name":"a","age":0,"mood":"calm"} "#,
        r#"{"name":"a","age":151,"mood":"calm"}"#,
        r#"{"name":"a","age":07,"mood":"calm"}"#,
        r#"{"name":"123456789","age":7,"mood":"calm"}"#,
        r#"{"name":"a\","age":7,"mood":"calm"}"#,
    ] {
        assert!(!is_right(wrong), "{wrong}");
    }
}

#[test]
fn choices_are_written_whole() {
    let engine = load();
    let constraint = engine.constraint(&ConstraintSource::choices(ANSWERS)).unwrap();
    let mut seen = HashSet::new();
    for seed in 1..=30 {
        let reply = reply(&engine, &hot(seed).constraint(constraint.clone()));
        assert_eq!(reply.finish_reason, FinishReason::EndOfGeneration);
        assert!(ANSWERS.contains(&reply.text.as_str()), "{}", reply.text);
        seen.insert(reply.text);
    }
    assert!(seen.len() > 1, "the model still chooses: {seen:?}");
    assert!(!ANSWERS.contains(&reply(&engine, &hot(1)).text.as_str()), "alone it writes none of them");
}

#[test]
fn json_is_of_its_schema() {
    let engine = load();
    let constraint = engine.constraint(&ConstraintSource::json_schema(SCHEMA).compact(true)).unwrap();
    for seed in 1..=20 {
        let text = reply(&engine, &hot(seed).constraint(constraint.clone())).text;
        assert!(is_right(&text), "{text}");
        assert!(!is_right(&reply(&engine, &hot(seed)).text), "alone the model writes no JSON");
    }
    assert_eq!(constraint.remarks().unwrap(), [""; 0]);
}

#[test]
fn each_kind_writes_what_it_says() {
    let engine = load();
    let text_of = |source: ConstraintSource<'_>| {
        let constraint = engine.constraint(&source).unwrap();
        reply(&engine, &SessionOptions::default().max_tokens(100).constraint(constraint)).text
    };
    let room = text_of(ConstraintSource::gbnf(r#"root ::= "room " [1-9] "!""#));
    assert!(room.len() == 7 && room.starts_with("room ") && room.ends_with('!'), "{room}");
    let date = text_of(ConstraintSource::regex("20[0-9]{2}-[01][0-9]"));
    assert!(date.len() == 7 && date.starts_with("20") && date.as_bytes()[4] == b'-', "{date}");
    assert_eq!(text_of(ConstraintSource::regex("")), "");
    let mut session = engine.session(&SessionOptions::default()).unwrap();
    session.prefill(PROMPT).unwrap();
    let json = engine.constraint(&ConstraintSource::any_json()).unwrap();
    for (written, state) in [
        ("", ConstraintState::Incomplete),
        ("[1, {\"a\": ", ConstraintState::Incomplete),
        ("[true]", ConstraintState::Complete),
    ] {
        session.set_constraint(&json, written).unwrap();
        assert_eq!(session.info().unwrap().constraint_state, Some(state), "{written}");
    }
    assert_eq!(session.set_constraint(&json, "[tru]").unwrap_err().status(), Status::InvalidArgument);
}

/// Whether each text may be the beginning of what the constraint allows.
fn allowed<const N: usize>(session: &mut Session, source: &ConstraintSource<'_>, texts: [&str; N]) -> [bool; N] {
    let constraint = session.engine().constraint(source).unwrap();
    texts.map(|text| session.set_constraint(&constraint, text).is_ok())
}

#[test]
fn flags_say_how_json_is_written() {
    let engine = load();
    let mut session = begun_plain(&engine);
    let texts = ["[1,2]", "[1, 2]", r#"["\n"]"#, r#"["\u00e9"]"#];
    assert_eq!(allowed(&mut session, &ConstraintSource::any_json(), texts), [true, true, true, false]);
    assert_eq!(allowed(&mut session, &ConstraintSource::any_json().compact(true), texts), [true, false, true, false]);
    assert_eq!(allowed(&mut session, &ConstraintSource::any_json().escapes(true), texts), [true; 4]);
    let schema = r#"{"type": "string", "format": "no-such", "contains": {}, "unevaluatedItems": false}"#;
    let error = engine.constraint(&ConstraintSource::json_schema(schema)).unwrap_err();
    assert_eq!(error.status(), Status::Unsupported);
    assert!(error.message().contains("unevaluatedItems"), "{error}");
    let constraint = engine.constraint(&ConstraintSource::json_schema(schema).lenient(true)).unwrap();
    let remarks = constraint.remarks().unwrap();
    assert_eq!(constraint.info().unwrap().n_remarks, 2);
    for word in ["no-such", "unevaluatedItems"] {
        assert_eq!(remarks.iter().filter(|remark| remark.contains(word)).count(), 1, "{remarks:?}");
    }
}

fn begun_plain(engine: &Engine) -> Session {
    let mut session = engine.session(&SessionOptions::default().max_tokens(100)).unwrap();
    session.prefill(PROMPT).unwrap();
    session
}

#[test]
fn a_session_says_where_its_text_stands() {
    let engine = load();
    let state = |session: &Session| session.info().unwrap().constraint_state;
    let mut session = begun_plain(&engine);
    assert_eq!(state(&session), None);
    let constraint = engine.constraint(&ConstraintSource::choices(["yes", "yet"])).unwrap();
    session.set_constraint(&constraint, "").unwrap();
    assert_eq!(state(&session), Some(ConstraintState::Incomplete));
    assert!(session.info().unwrap().to_string().contains("constrained: incomplete"));
    let text = session.events().into_text().unwrap();
    assert!(["yes", "yet"].contains(&text.as_str()), "{text}");
    assert_eq!(state(&session), Some(ConstraintState::Complete));
    session.set_constraint(None, "").unwrap();
    assert_eq!(state(&session), None);
}

/// Accepted tokens count as drawn ones; where they leave the constraint nothing can follow.
#[test]
fn a_text_that_is_not_allowed_ends() {
    let engine = load();
    let tokens = |text| engine.tokenize(text, TokenizeOptions::default().no_bos_eos(true)).unwrap();
    let constraint = engine.constraint(&ConstraintSource::choices(["yes", "yet"])).unwrap();
    let mut session = engine.session(&SessionOptions::default().constraint(constraint.clone())).unwrap();
    session.prefill(PROMPT).unwrap();
    let n_prompt = session.info().unwrap().n_tokens as usize;
    session.accept(&tokens("ye")).unwrap();
    let text = session.events().into_text().unwrap();
    assert!(["yes", "yet"].contains(&text.as_str()), "{text}");
    session.truncate(n_prompt).unwrap();
    session.accept(&tokens("quite")).unwrap();
    assert_eq!(session.info().unwrap().constraint_state, Some(ConstraintState::Dead));
    let event = session.decode_step().unwrap();
    assert_eq!((event.token, event.finish_reason), (None, Some(FinishReason::DeadEnd)));
    assert_eq!(FinishReason::DeadEnd.to_string(), "dead end");
    assert_eq!(FinishReason::ConstraintEnd.to_string(), "constraint end");
    // A bias that bans all that may come.
    let n_vocab = engine.info().unwrap().n_vocab as i32;
    let banned = (0..n_vocab).filter(|&token| engine.token_info(token).unwrap().piece.starts_with(b"q"));
    let bias: Vec<_> = banned.map(|token| LogitBias { token, bias: f32::NEG_INFINITY }).collect();
    let only_q = engine.constraint(&ConstraintSource::choices(["q"])).unwrap();
    let options = SessionOptions::default().sampler(Sampler::default().bias(bias)).constraint(only_q);
    let reply = reply(&engine, &options);
    assert_eq!((reply.text.as_str(), reply.finish_reason), ("", FinishReason::DeadEnd));
}

#[test]
fn it_is_set_behind_what_was_written() {
    let engine = load();
    let constraint = engine.constraint(&ConstraintSource::json_schema(SCHEMA).compact(true)).unwrap();
    let begin = r#"{"name":""#;
    let mut session = engine.session(&SessionOptions::default().max_tokens(100)).unwrap();
    session.prefill(&(PROMPT.to_owned() + begin)).unwrap();
    let error = session.set_constraint(&constraint, "[").unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
    assert!(error.message().contains("does not allow what was written"), "{error}");
    assert_eq!(session.info().unwrap().constraint_state, None, "refused: as before");
    session.set_constraint(&constraint, begin).unwrap();
    let mut fork = session.fork().unwrap();
    let text = begin.to_owned() + &session.events().into_text().unwrap();
    assert!(is_right(&text), "{text}");
    assert_eq!(begin.to_owned() + &fork.events().into_text().unwrap(), text, "a fork takes it along");
    let error = session.set_constraint(None, "x").unwrap_err();
    assert!(error.message().contains("written is given without a constraint"), "{error}");
}

#[test]
fn a_generation_may_set_it() {
    let engine = load();
    let mut session = engine.session(&SessionOptions::default().max_tokens(100)).unwrap();
    let constraint = engine.constraint(&ConstraintSource::choices(ANSWERS)).unwrap();
    let options = GenerateOptions::default().constraint(constraint);
    for options in [options, GenerateOptions::default()] {
        let text = session.generate(PROMPT, &options).unwrap().into_text().unwrap();
        assert!(ANSWERS.contains(&text.as_str()), "{text}");
    }
}

#[test]
fn sessions_requests_and_threads_share_one() {
    let engine = load_with(options().max_sessions(8));
    let constraint = engine.constraint(&ConstraintSource::json_schema(SCHEMA).compact(true)).unwrap();
    assert_eq!(constraint, constraint.clone());
    assert_ne!(constraint, engine.constraint(&ConstraintSource::any_json()).unwrap());
    let memory = constraint.info().unwrap().memory_bytes;
    assert!(memory > 0);
    let alone: Vec<_> = (1..=6).map(|seed| reply(&engine, &hot(seed).constraint(constraint.clone()))).collect();
    thread::scope(|scope| {
        for (seed, right) in (1..=6).zip(&alone) {
            let options = hot(seed).constraint(constraint.clone());
            let (engine, constraint) = (&engine, &constraint);
            scope.spawn(move || {
                assert_eq!(&reply(engine, &options), right);
                assert!(constraint.info().unwrap().memory_bytes >= memory);
            });
        }
    });
    engine.set_thread(inlay::ThreadOptions::default()).unwrap();
    let answers: Vec<_> = (1..=6)
        .map(|seed| Request::new(PROMPT).session(hot(seed).constraint(constraint.clone())))
        .map(|request| engine.answer(&request).unwrap())
        .collect();
    let memory = constraint.info().unwrap().memory_bytes;
    assert!(memory < 64 << 20, "{memory}");
    drop(constraint);
    for (answer, right) in answers.into_iter().zip(&alone) {
        let text: String = answer.map(|piece| piece.unwrap().text).collect();
        assert_eq!(text, right.text);
        assert!(is_right(&text));
    }
}

/// Whatever is dropped first.
#[test]
fn what_has_it_keeps_it() {
    let engine = load();
    let constraint = engine.constraint(&ConstraintSource::choices(ANSWERS)).unwrap();
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let options = SessionOptions::default().constraint(constraint.clone());
    let mut session = engine.session(&options).unwrap();
    queue.submit(&Request::new(PROMPT).session(options)).unwrap();
    drop(engine);
    let memory = constraint.info().unwrap().memory_bytes;
    assert!(memory > 0, "{}", constraint.info().unwrap());
    session.prefill(PROMPT).unwrap();
    session.set_constraint(&constraint, "perhaps ").unwrap();
    drop(constraint);
    assert_eq!(session.events().into_text().unwrap(), "not");
    // A constraint whose engine is gone is none of the next one's.
    let old = session.engine().constraint(&ConstraintSource::any_json()).unwrap();
    drop((session, queue));
    let engine = load();
    let error = engine.session(&SessionOptions::default().constraint(old.clone())).unwrap_err();
    assert!(error.message().contains("made for another engine"), "{error}");
    assert!(format!("{old:?}").starts_with("Constraint(0x"), "{old:?}");
}

#[test]
fn those_of_another_engine_are_refused() {
    let (engine, other) = (load(), load());
    let foreign = other.constraint(&ConstraintSource::any_json()).unwrap();
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let mut session = begun_plain(&engine);
    let options = SessionOptions::default().constraint(foreign.clone());
    for error in [
        engine.session(&options).unwrap_err(),
        queue.submit(&Request::new(PROMPT).session(options)).unwrap_err(),
        session.set_constraint(&foreign, "").unwrap_err(),
        session.begin(PROMPT, &GenerateOptions::default().constraint(foreign.clone())).unwrap_err(),
    ] {
        assert_eq!(error.status(), Status::InvalidArgument);
        assert!(error.message().contains("the constraint was made for another engine"), "{error}");
    }
    assert!(other.session(&SessionOptions::default().constraint(foreign)).is_ok());
}

/// The numbers of one library mean nothing to another one.
#[cfg(all(feature = "dlopen", target_os = "linux"))]
#[test]
fn those_of_another_copy_of_the_library_are_refused() {
    let Some(path) = std::env::var_os("INLAY_LIBRARY") else {
        return; // where the library lies is not known
    };
    let copy = std::env::temp_dir().join(format!("inlay-constraints-{}.so", std::process::id()));
    std::fs::copy(path, &copy).unwrap();
    // SAFETY: it is the library of the other tests.
    let opened = unsafe { inlay::Library::open(copy.to_str().unwrap()) };
    std::fs::remove_file(&copy).unwrap();
    let foreign = opened.unwrap().load(model(), options()).unwrap().constraint(&ConstraintSource::any_json()).unwrap();
    let engine = load();
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let mut session = begun_plain(&engine);
    let options = SessionOptions::default().constraint(foreign.clone());
    for error in [
        engine.session(&options).unwrap_err(),
        queue.submit(&Request::new(PROMPT).session(options)).unwrap_err(),
        session.set_constraint(&foreign, "").unwrap_err(),
    ] {
        assert_eq!(error.status(), Status::InvalidArgument);
        assert!(error.message().contains("different copies of the Inlay library"), "{error}");
    }
}

#[test]
fn what_is_wrong_is_said_by_name() {
    let engine = load();
    let refused = |source: &ConstraintSource<'_>, status, part: &str| {
        let error = engine.constraint(source).unwrap_err();
        assert_eq!(error.status(), status, "{error}");
        assert!(error.message().contains(part), "{error}: {part}");
    };
    let none: [&str; 0] = [];
    refused(&ConstraintSource::default(), Status::InvalidArgument, "params.text is NULL");
    refused(&ConstraintSource::choices(none), Status::InvalidArgument, "params.n_choices is 0");
    refused(&ConstraintSource::choices(vec!["x"; 65537]), Status::InvalidArgument, "params.n_choices is 65537");
    refused(&ConstraintSource::choices(["x", ""]), Status::InvalidArgument, "choice 1 is empty");
    let mut mixed = ConstraintSource::choices(ANSWERS);
    mixed.kind = ConstraintKind::Gbnf;
    mixed.text = Some("root ::= \"a\"");
    refused(&mixed, Status::InvalidArgument, "params.choices are of another kind");
    mixed.kind = ConstraintKind::AnyJson;
    refused(&mixed, Status::InvalidArgument, "params.text is of another kind");
    mixed.kind = ConstraintKind::Other(77);
    refused(&mixed, Status::InvalidArgument, "params.kind is 77");
    refused(&ConstraintSource::json_schema("{"), Status::Format, "");
    refused(&ConstraintSource::json_schema(""), Status::Format, "");
    refused(&ConstraintSource::json_schema(r#"{"type": "wrong"}"#), Status::Format, "type");
    refused(&ConstraintSource::gbnf("root ::= other"), Status::Format, "other");
    refused(&ConstraintSource::regex("(a"), Status::Format, "");
    refused(&ConstraintSource::regex(r"(a)\1"), Status::Unsupported, "");
    let constraint = engine.constraint(&ConstraintSource::any_json()).unwrap();
    let error = engine.session(&SessionOptions::default().constraint(constraint).ignore_end_of_generation(true));
    assert!(error.unwrap_err().message().contains("IGNORE_END_OF_GENERATION"));
}
