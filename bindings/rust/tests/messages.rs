//! Conversations as messages: what they say, and that they are what the same JSON is.
mod common;

use common::*;
use inlay::{ChatEnd, ChatMessage, Status};

const JSON: &str = r#"[
    {"role": "system", "content": "Mira is a \"kind\" innkeeper.\n\tShe sits at C:\\inn."},
    {"role": "user", "content": "Do you have a room? \u00e9 \ud83d\ude00 \u0001\u001f"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Thank you."}
]"#;

fn messages() -> [ChatMessage; 4] {
    [
        ChatMessage::system("Mira is a \"kind\" innkeeper.\n\tShe sits at C:\\inn."),
        ChatMessage::user("Do you have a room? é 😀 \u{1}\u{1f}"),
        ChatMessage::assistant("Yes."),
        ChatMessage::new("user", "Thank you."),
    ]
}

#[test]
fn messages_are_what_their_json_is() {
    let engine = load();
    let messages = messages();
    for to_answer in [false, true] {
        let text = engine.chat_text(&messages, None, to_answer).unwrap();
        assert_eq!(text, engine.chat_text(JSON, None, to_answer).unwrap());
        assert!(messages.iter().all(|message| text.contains(&message.content)), "{text}");
        let tokens = engine.chat_tokens(&messages, None, to_answer).unwrap();
        assert!(!tokens.is_empty());
        assert_eq!(tokens, engine.chat_tokens(&JSON.to_owned(), None, to_answer).unwrap());
        assert_eq!(tokens, engine.chat_tokens(&messages.to_vec(), None, to_answer).unwrap());
    }
    assert_ne!(
        engine.chat_tokens(&messages, None, true).unwrap(),
        engine.chat_tokens(&messages[..3], None, true).unwrap()
    );
}

#[test]
fn any_role_and_character_reaches_a_template() {
    let engine = load();
    let template = "{% for m in messages %}{{ m.role }}={{ m.content }};{% endfor %}";
    let all: String = (1..0x300).filter_map(char::from_u32).chain("\u{2028}\u{fffd}\u{10ffff}".chars()).collect();
    let messages = [ChatMessage::new("a \"king\"\\", &all), ChatMessage::user("")];
    let text = engine.chat_text(&messages, Some(template), false).unwrap();
    assert_eq!(text, format!("a \"king\"\\={all};user=;"));
    assert_eq!(engine.chat_text(&[], Some(template), false).unwrap(), "");
}

#[test]
fn the_last_message_can_be_continued() {
    let engine = load();
    let template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}";
    let begun = [ChatMessage::user("Hi"), ChatMessage::assistant("Yes, ")];
    let text = engine.chat_text(&begun, Some(template), ChatEnd::LastMessage).unwrap();
    assert_eq!(text, "<user>Hi</><assistant>Yes, ");
    assert_eq!(engine.chat_text(&begun, Some(template), ChatEnd::Conversation).unwrap(), text + "</>");
    let lost = engine.chat_text(&begun, Some("x"), ChatEnd::LastMessage).unwrap_err();
    assert_eq!(lost.status(), Status::Unsupported);
}

#[test]
fn control_tokens_in_a_message_are_text() {
    let engine = load();
    let end = engine.detokenize(&[engine.info().unwrap().eos.unwrap()], true).unwrap();
    let count = |content: &str| {
        let tokens = engine.chat_tokens(&[ChatMessage::user(content)], None, true).unwrap();
        tokens.iter().filter(|&&token| engine.token_info(token).unwrap().is_control).count()
    };
    assert_eq!(count(&end), count("Hello"));
    assert_eq!(engine.chat_text("[{]", None, true).unwrap_err().status(), Status::Format);
}
