//! Parsers of messages, and constraints of messages.
mod common;

use common::*;
use inlay::{
    ChatDeltaKind, ConstraintKind, ConstraintSource, Engine, GenerateOptions, MessageOptions, Sampler, SessionOptions,
    Status, TokenizeOptions,
};

const FORMAT: &str = r#"{"name": "own", "reasoning": {"begin": "<think>", "end": "</think>"}, "calls": {"written": "tagged",
    "begin": "<call>", "end": "</call>", "arguments_begin": ":", "parameter_begin": "[", "parameter_name_end": "]", "value_end": "[/]"}}"#;
const TOOLS: &str =
    r#"[{"name": "add", "parameters": {"properties": {"a": {"type": "number"}, "b": {"type": "string"}}}}]"#;
const TEXT: &str = "<think>Stra\u{df}e</think>It is <call>add:[a]1.5[/][b]2.5[/]</call>";

fn options<'a>() -> MessageOptions<'a> {
    MessageOptions::default().format(FORMAT).tools(TOOLS)
}

/// Kind, call and text of what the pieces come to, with texts of one kind put together.
fn parts_of<'a>(engine: &Engine, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<(ChatDeltaKind, usize, String, bool)> {
    let mut parser = engine.message_parser(&options()).unwrap();
    let mut out: Vec<(ChatDeltaKind, usize, String, bool)> = Vec::new();
    let mut add = |parts: Vec<inlay::MessagePart>| {
        for part in parts {
            match out.last_mut() {
                Some(last) if last.0 == part.kind => last.2 += &part.text,
                _ => out.push((part.kind, part.call, part.text, part.is_whole)),
            }
        }
    };
    for piece in pieces {
        parser.append_text(piece).unwrap();
        add(parser.take().unwrap());
    }
    parser.finish().unwrap();
    add(parser.take().unwrap());
    out
}

#[test]
fn parts_are_the_same_however_the_text_is_cut() {
    let engine = load();
    let whole = parts_of(&engine, std::iter::once(TEXT.as_bytes()));
    let kinds: Vec<_> = whole.iter().map(|part| part.0).collect();
    use ChatDeltaKind::*;
    assert_eq!(kinds, [Reasoning, Content, CallBegin, CallId, Arguments, CallEnd]);
    assert_eq!((whole[0].2.as_str(), whole[1].2.as_str(), whole[2].2.as_str()), ("Stra\u{df}e", "It is ", "add"));
    assert_eq!((whole[3].2.len(), whole[4].2.as_str(), whole[5].3), (9, r#"{"a": 1.5, "b": "2.5"}"#, true));
    for n in 1..5 {
        assert_eq!(parts_of(&engine, TEXT.as_bytes().chunks(n)), whole);
    }
}

#[test]
fn a_message_is_the_conversations_next_one() {
    let engine = load();
    let tokens = engine.tokenize(TEXT, TokenizeOptions::default()).unwrap();
    let message = engine.parse_message(&tokens, &options()).unwrap();
    assert!(message.is_complete && !message.is_malformed && message.n_calls == 1);
    for part in [r#""role": "assistant", "content": "It is ""#, r#""name": "add", "arguments": {"a": 1.5, "b": "2.5"}"#]
    {
        assert!(message.json.contains(part), "{}", message.json);
    }
    let cut = engine.tokenize(TEXT.split("[b]").next().unwrap(), TokenizeOptions::default()).unwrap();
    let cut = engine.parse_message(&cut, &options()).unwrap();
    assert!(!cut.is_complete && cut.n_calls == 1);
    let malformed =
        engine.parse_message(&engine.tokenize("<call>(", TokenizeOptions::default()).unwrap(), &options()).unwrap();
    assert!(malformed.is_malformed && malformed.is_complete);
}

#[test]
fn a_prompt_may_have_begun_the_message() {
    let engine = load();
    let prompt = engine.tokenize("<think>", TokenizeOptions::default()).unwrap();
    let mut parser = engine.message_parser(&options().prompt(prompt)).unwrap();
    parser.append_text("why").unwrap();
    assert_eq!(parser.take().unwrap()[0].kind, ChatDeltaKind::Reasoning);
}

#[test]
fn a_parser_outlives_its_engine_and_goes_to_a_thread() {
    let engine = load();
    let mut parser = engine.message_parser(&options()).unwrap();
    drop(engine);
    let json = std::thread::spawn(move || {
        parser.append_text(TEXT).unwrap();
        parser.finish().unwrap();
        parser.message().unwrap().json
    });
    assert!(json.join().unwrap().contains("tool_calls"));
}

#[test]
fn wrong_ones_are_refused_by_name() {
    let engine = load();
    let refused = |options: &MessageOptions<'_>| engine.message_parser(options).map(|_| ()).unwrap_err();
    assert_eq!(refused(&MessageOptions::default().format("{}")).status(), Status::Format);
    assert!(refused(&MessageOptions::default().tools("[{}]")).message().contains("tools"));
    assert_eq!(refused(&MessageOptions::default().prompt([-1])).status(), Status::InvalidArgument);
    let mut parser = engine.message_parser(&options()).unwrap();
    assert_eq!(parser.append(&[i32::MAX]).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(parser.message().unwrap_err().status(), Status::InvalidState);
    parser.finish().unwrap();
    assert_eq!(parser.append_text("a").unwrap_err().status(), Status::InvalidState);
}

#[test]
fn formats_are_said() {
    let engine = load();
    assert!(engine.chat_format(&options()).unwrap().contains(r#""name": "own", "reasoning": true, "calls": true"#));
    let by_template = MessageOptions::default().chat_template("{{ '<tool_call>' }}");
    assert!(engine.chat_format(&by_template).unwrap().contains(r#""name": "hermes", "reasoning": false"#));
    let letters = engine.chat_format(&MessageOptions::default().written_markers(true)).unwrap();
    assert!(letters.contains("content"), "{letters}");
}

#[test]
fn content_is_of_its_schema() {
    let engine = load();
    let demand = r#"{"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer", "minimum": 10, "maximum": 99}}}}"#;
    let prompt = engine.tokenize(PROMPT, TokenizeOptions::default()).unwrap();
    let constraint = engine.constraint(&ConstraintSource::message(demand).prompt(prompt)).unwrap();
    let options = SessionOptions::default()
        .max_tokens(50)
        .sampler(Sampler::default().temperature(1.0).seed(3))
        .constraint(constraint);
    let text =
        engine.session(&options).unwrap().generate(PROMPT, &GenerateOptions::default()).unwrap().into_text().unwrap();
    assert!((10..=99).contains(&text.parse().unwrap()), "{text}");
    let limited = ConstraintSource::message(r#"{"reasoning": {"max_tokens": 5}}"#);
    assert!(engine.constraint(&limited).unwrap_err().message().contains("has no reasoning"));
    let tools = ConstraintSource::message(r#"{"tools": [{"name": "a"}], "tool_choice": "required"}"#);
    assert_eq!(tools.kind, ConstraintKind::Message);
    let error = engine.constraint(&tools).unwrap_err();
    assert!(error.status() == Status::Unsupported && error.message().contains("'content' has no calls"), "{error}");
    let own = r#"{"name": "own", "calls": {"written": "json", "begin": "<call>", "end": "</call>", "name_key": "name", "arguments_key": "arguments"}}"#;
    assert!(engine.constraint(&tools.clone().format(own)).is_ok());
    assert!(engine.constraint(&tools.clone().chat_template("{{ '<tool_call>' }}")).is_ok());
    let wrong = engine.constraint(&tools.format("{}")).unwrap_err();
    assert!(wrong.status() == Status::Format && wrong.message().contains("name"), "{wrong}");
    let other = ConstraintSource::any_json().prompt([1]);
    assert!(engine.constraint(&other).unwrap_err().message().contains("prompt"));
}
