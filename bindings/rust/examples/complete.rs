//! Streams the text that a model writes after a prompt.
//! usage: complete MODEL PROMPT [TOKENS]
use inlay::{Engine, GenerateOptions, LoadOptions, SessionOptions};
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let (Some(model), Some(prompt)) = (arguments.get(1), arguments.get(2)) else {
        return Err("usage: complete MODEL PROMPT [TOKENS]".into());
    };
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
