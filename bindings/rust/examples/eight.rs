//! Continues eight prompts at once: every step reads the weights once and draws a token for each of them.
//! usage: eight MODEL [TOKENS [PROMPT...]]      without a prompt, eight of its own
use inlay::{decode_step, Engine, LoadOptions, Session, SessionOptions};

const OWN_PROMPTS: [&str; 8] = [
    "Once upon a time",
    "The old fox said",
    "In a small house",
    "One cold winter day,",
    "The queen smiled",
    "A little boat",
    "Deep in the forest",
    "The bear woke up",
];

struct Line {
    session: Session,
    text: String,
    finished: bool,
}

fn begin(engine: &Engine, prompt: &str, max_tokens: u32) -> inlay::Result<Line> {
    let mut session = engine.session(&SessionOptions::default().max_tokens(max_tokens))?;
    session.prefill(prompt)?;
    Ok(Line { session, text: prompt.to_owned(), finished: false })
}

/// A line that has ended leaves the batch; the others go on.
fn step(lines: &mut [Line]) -> inlay::Result<()> {
    let mut running: Vec<&mut Line> = lines.iter_mut().filter(|line| !line.finished).collect();
    let events = decode_step(running.iter_mut().map(|line| &mut line.session))?;
    for (line, event) in running.iter_mut().zip(events) {
        let event = event?;
        line.text += &event.text;
        line.finished = event.finish_reason.is_some();
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let model = arguments.first().ok_or("usage: eight MODEL [TOKENS [PROMPT...]]")?;
    let max_tokens = arguments.get(1).map_or(Ok(30), |n| n.parse())?;
    let mut prompts: Vec<&str> = arguments.iter().skip(2).map(String::as_str).collect();
    if prompts.is_empty() {
        prompts = OWN_PROMPTS.to_vec();
    }
    let engine = Engine::load(model, LoadOptions::default().max_sessions(prompts.len() as u32))?;
    let mut lines =
        prompts.iter().map(|prompt| begin(&engine, prompt, max_tokens)).collect::<inlay::Result<Vec<_>>>()?;
    while lines.iter().any(|line| !line.finished) {
        step(&mut lines)?;
    }
    for line in lines {
        println!("{}", line.text);
    }
    Ok(())
}
