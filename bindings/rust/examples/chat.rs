//! A conversation on the console: each line is a turn, and the answer is written as it is decoded. Ctrl-D ends it. The model's
//! file must have a chat template.
//! usage: chat MODEL [SYSTEM [TOKENS]]      SYSTEM: what the model is told before; TOKENS: the longest answer (256)
use inlay::{Chat, ChatMessage, Engine, LoadOptions, Sampler, SessionOptions, Status};
use std::io::Write;

/// Writes the answer to a line.
fn answer(chat: &mut Chat, line: String) -> Result<(), Box<dyn std::error::Error>> {
    let n_dropped = chat.n_dropped();
    let events = match chat.ask(line) {
        Err(error) if error.status() == Status::ContextFull => {
            eprintln!("({error})");
            return Ok(());
        }
        events => events?,
    };
    let (mut n_new, mut end) = (0, String::new());
    for event in events {
        let event = event?;
        print!("{}", event.text);
        std::io::stdout().flush()?;
        if let Some(reason) = event.finish_reason {
            n_new = event.n_prompt as usize;
            end = format!("{} drawn, {reason:?}", event.n_generated);
        }
    }
    println!();
    if chat.n_dropped() > n_dropped {
        eprintln!("(the context is full: the oldest turns are forgotten)");
    }
    eprintln!("({n_new} of {} tokens were new, {end})", n_new + chat.n_reused());
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let model = arguments.get(1).ok_or("usage: chat MODEL [SYSTEM [TOKENS]]")?;
    let system = arguments.get(2).map(ChatMessage::system);
    let max_tokens = arguments.get(3).map_or(Ok(256), |n| n.parse())?;
    let engine = Engine::load(model, LoadOptions::default().max_sessions(1))?;
    let sampler = Sampler::default().temperature(0.8).top_p(0.95).seed(1);
    let mut chat = engine.chat(&SessionOptions::default().sampler(sampler).max_tokens(max_tokens), system)?;
    for line in std::io::stdin().lines().filter(|line| !line.as_ref().is_ok_and(String::is_empty)) {
        answer(&mut chat, line?)?;
    }
    Ok(())
}
