//! Continues a prompt, and streams the text as it is decoded.
//! usage: complete MODEL [PROMPT [TOKENS]]
use inlay::{Engine, GenerateOptions, LoadOptions, SessionOptions};
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let model = arguments.get(1).ok_or("usage: complete MODEL [PROMPT [TOKENS]]")?;
    let prompt = arguments.get(2).map_or("Once upon a time", String::as_str);
    let max_tokens = arguments.get(3).map_or(Ok(100), |n| n.parse())?;

    let engine = Engine::load(model, LoadOptions::default())?;
    let mut session = engine.session(&SessionOptions::default().max_tokens(max_tokens))?;
    print!("{prompt}");
    for event in session.generate(prompt, &GenerateOptions::default())? {
        print!("{}", event?.text);
        std::io::stdout().flush()?;
    }
    println!();
    Ok(())
}
