//! A game's loop with several characters that talk: each line is a request, and every frame computes for at most 4 ms and collects
//! what came. No thread, no session; characters that have not begun wait for the others.
//! usage: characters MODEL [TOKENS [PROMPT...]]      without a prompt, three of its own
use inlay::{Engine, LoadOptions, QueueOptions, Request, RequestEvents, SessionOptions};
use std::time::{Duration, Instant};

const OWN_PROMPTS: [&str; 3] = ["Once upon a time", "The old fox said", "The bear woke up"];
const FRAME: Duration = Duration::from_millis(16);
/// What the model may take of a frame.
const BUDGET: Duration = Duration::from_millis(4);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let model = arguments.first().ok_or("usage: characters MODEL [TOKENS [PROMPT...]]")?;
    let options = SessionOptions::default().max_tokens(arguments.get(1).map_or(Ok(30), |n| n.parse())?);
    let mut lines: Vec<String> = arguments.iter().skip(2).cloned().collect();
    if lines.is_empty() {
        lines = OWN_PROMPTS.map(String::from).to_vec();
    }
    let engine = Engine::load(model, LoadOptions::default().max_sessions(2))?;
    let queue = engine.queue(QueueOptions::default())?;
    for (character, line) in lines.iter().enumerate() {
        queue.submit(&Request::new(line).session(options.clone()).user(character as u64))?;
    }
    let mut events = RequestEvents::default();
    let mut n_talking = lines.len();
    while n_talking > 0 {
        let begin = Instant::now();
        engine.run(BUDGET)?;
        while queue.poll(&mut events)? > 0 {
            for event in events.iter() {
                lines[event.user as usize] += &event.text;
                n_talking -= usize::from(event.end.is_some());
            }
        }
        std::thread::sleep(FRAME.saturating_sub(begin.elapsed())); // the rest of the frame is the game's
    }
    for line in lines {
        println!("{line}");
    }
    Ok(())
}
