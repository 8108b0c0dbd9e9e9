//! Lets a model write for as long as it likes, and stops it from another thread, some time after the first token.
//! usage: cancel MODEL [MILLISECONDS]
use inlay::{Engine, FinishReason, LoadOptions, Session, SessionOptions};
use std::thread;
use std::time::{Duration, Instant};

/// Decodes until the session says that it was cancelled. Where the context is full, half of the tale goes.
fn decode_until_cancelled(session: &mut Session, n_prompt: usize) -> inlay::Result<u32> {
    let mut n_tokens = 0;
    loop {
        let event = session.decode_step()?;
        n_tokens += u32::from(event.token.is_some());
        match event.finish_reason {
            None => {}
            Some(FinishReason::Cancelled) => return Ok(n_tokens),
            Some(_) => session.shift(n_prompt, (session.info()?.n_tokens as usize - n_prompt) / 2)?,
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let model = arguments.get(1).ok_or("usage: cancel MODEL [MILLISECONDS]")?;
    let wait = Duration::from_millis(arguments.get(2).map_or(Ok(500), |n| n.parse())?);

    let engine = Engine::load(model, LoadOptions::default())?;
    let mut session = engine.session(&SessionOptions::default().ignore_end_of_generation(true))?;
    session.prefill("Once upon a time")?;

    let n_prompt = session.info()?.n_tokens as usize;
    let first = u32::from(session.decode_step()?.token.is_some());
    let handle = session.cancel_handle();
    let cancelling = thread::spawn(move || {
        thread::sleep(wait);
        let made = Instant::now();
        handle.cancel();
        made
    });
    let n_tokens = first + decode_until_cancelled(&mut session, n_prompt)?;
    let ended = Instant::now();
    let made = cancelling.join().map_err(|_| "the cancelling thread panicked")?;
    let late = ended.saturating_duration_since(made);
    println!("cancelled after {n_tokens} tokens, {:.2} ms after the request", late.as_secs_f64() * 1e3);
    Ok(())
}
