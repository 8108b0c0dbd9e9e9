//! What the tests share. The environment says what they run on: INLAY_LIBRARY, INLAY_TEST_MODEL (the model of the repository
//! unless set; a package of the crate has none) and INLAY_TEST_DEVICE: cpu (unless set), cuda or reference.
#![allow(dead_code)]

use inlay::{
    DeviceKind, Engine, GenerateOptions, LoadOptions, OwnedGeneration, Prompt, Session, SessionOptions, Token,
};
use std::path::PathBuf;

pub const PROMPT: &str = "Once upon a time";

pub fn model() -> PathBuf {
    std::env::var_os("INLAY_TEST_MODEL").map_or_else(
        || {
            let model: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../examples/model/tales.gguf"].iter().collect();
            assert!(model.is_file(), "the tests need a model: INLAY_TEST_MODEL is not set, which is the path of one");
            model
        },
        PathBuf::from,
    )
}

pub fn device() -> DeviceKind {
    match std::env::var("INLAY_TEST_DEVICE").as_deref() {
        Err(_) | Ok("cpu") => DeviceKind::Cpu,
        Ok("cuda") => DeviceKind::Cuda,
        Ok("reference") => DeviceKind::Reference,
        Ok(other) => panic!("INLAY_TEST_DEVICE is {other}"),
    }
}

pub fn options<'a>() -> LoadOptions<'a> {
    LoadOptions::default().device(device()).n_threads(2)
}

pub fn load_with(options: LoadOptions<'_>) -> Engine {
    Engine::load(model(), options).expect("the model loads")
}

pub fn load() -> Engine {
    load_with(options())
}

/// Does not end by itself.
pub fn endless(engine: &Engine) -> Session {
    engine.session(&SessionOptions::default().ignore_end_of_generation(true)).expect("a session")
}

/// Does not end by itself, and has read the prompt.
pub fn begun(engine: &Engine) -> Session {
    let mut session = endless(engine);
    session.prefill(PROMPT).expect("the prompt runs");
    session
}

/// The events of a prompt, by a generation that owns the session.
pub fn owned<'p>(mut session: Session, prompt: impl Into<Prompt<'p>>, options: &GenerateOptions) -> OwnedGeneration {
    session.begin(prompt, options).expect("the prompt runs");
    session.into_events()
}

pub fn draw(session: &mut Session, n: usize) -> Vec<Token> {
    session.events().take(n).map(|event| event.expect("a step").token.expect("a token")).collect()
}

/// The greedy continuation of the prompt.
pub fn greedy(engine: &Engine, n: usize) -> Vec<Token> {
    draw(&mut begun(engine), n)
}
