//! Prompts behind what a session has already: BOS stands at the beginning alone, unless it is asked for.
mod common;

use common::*;
use inlay::{Engine, GenerateOptions, Token, TokenizeOptions};

fn bos(engine: &Engine) -> Token {
    engine.info().unwrap().bos.expect("the model has a BOS token")
}

fn n_tokens(engine: &Engine, text: &str, no_bos_eos: bool) -> u32 {
    engine.tokenize(text, TokenizeOptions::default().no_bos_eos(no_bos_eos)).unwrap().len() as u32
}

#[test]
fn a_second_prompt_has_no_bos() {
    let engine = load();
    assert_eq!(engine.tokenize(PROMPT, TokenizeOptions::default()).unwrap()[0], bos(&engine));
    let (with, without) = (n_tokens(&engine, PROMPT, false), n_tokens(&engine, PROMPT, true));
    assert_eq!(with, without + 1);
    let mut session = endless(&engine);
    let length = |session: &inlay::Session| session.info().unwrap().n_tokens;
    session.prefill(PROMPT).unwrap();
    assert_eq!(length(&session), with);
    session.prefill(PROMPT).unwrap();
    assert_eq!(length(&session), with + without);
    // In two parts a text gives what it gives whole, where a word ends between them.
    let mut whole = endless(&engine);
    whole.prefill(&PROMPT.repeat(2)).unwrap();
    assert_eq!(draw(&mut session, 12), draw(&mut whole, 12));
    // An empty session begins with BOS again; so does any that is told to.
    session.truncate(0).unwrap();
    session.prefill(PROMPT).unwrap();
    assert_eq!(length(&session), with);
    let always = TokenizeOptions::default().always_bos_eos(true);
    session.begin(PROMPT, &GenerateOptions::default().tokenize(always)).unwrap();
    assert_eq!(length(&session), with + with);
    session.truncate(0).unwrap();
    session.begin(PROMPT, &GenerateOptions::default().tokenize(TokenizeOptions::default().no_bos_eos(true))).unwrap();
    assert_eq!(length(&session), without);
    session.begin(PROMPT, &GenerateOptions::default().tokenize(always.no_bos_eos(true))).unwrap();
    assert_eq!(length(&session), without + without);
}

#[test]
fn a_generations_prompt_has_bos_only_at_the_beginning() {
    let engine = load();
    let (with, without) = (n_tokens(&engine, PROMPT, false), n_tokens(&engine, PROMPT, true));
    let mut session = endless(&engine);
    let mut n_prompt = |tokenize| {
        let options = GenerateOptions::default().max_tokens(1).tokenize(tokenize);
        session.generate(PROMPT, &options).unwrap().into_reply().unwrap().n_prompt
    };
    assert_eq!(n_prompt(TokenizeOptions::default()), with);
    assert_eq!(n_prompt(TokenizeOptions::default()), without);
    assert_eq!(n_prompt(TokenizeOptions::default().always_bos_eos(true)), with);
}
