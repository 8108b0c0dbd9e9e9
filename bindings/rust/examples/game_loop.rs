//! A game's loop: 60 frames a second, while a character talks. The model runs on a thread of its own and sends its words
//! through a channel, which each frame empties; a frame never waits for the model. Prints how long frames took with and
//! without it. usage: game_loop MODEL [SECONDS]
use inlay::{Engine, GenerateOptions, LoadOptions, Sampler, Session, SessionOptions};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

const FRAMES_A_SECOND: u32 = 60;
/// What the rest of the game takes of a frame.
const WORK: Duration = Duration::from_millis(4);

/// One tale after the other, until nobody listens. A tale ends where the model ends it, or with the context.
fn talk(mut session: Session, words: Sender<String>) -> inlay::Result<()> {
    loop {
        session.truncate(0)?;
        for event in session.generate("Once upon a time", &GenerateOptions::default())? {
            if words.send(event?.text).is_err() {
                return Ok(());
            }
        }
    }
}

/// Runs frames at their times, each of which shows the words that came. A frame's time goes from when it was due to the end of
/// its work. Returns how many words, each of one token, came.
fn run_frames(what: &str, n_frames: u32, words: Option<&Receiver<String>>) -> usize {
    let (mut shown, mut n_words) = (String::new(), 0);
    let mut took = Vec::with_capacity(n_frames as usize);
    let begin = Instant::now();
    for i in 0..n_frames {
        let due = begin + Duration::from_secs(1) * i / FRAMES_A_SECOND;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let start = Instant::now();
        for word in words.iter().flat_map(|words| words.try_iter()) {
            shown += &word;
            n_words += 1;
        }
        while start.elapsed() < WORK {
            std::hint::spin_loop();
        }
        took.push(due.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    let at = |part: usize| took[took.len() * part / 100];
    let max = took[took.len() - 1];
    let n_bytes = shown.len();
    println!(
        "{what:<9} {n_frames} frames, ms: p50 {:.2} p99 {:.2} max {max:.2}; {n_bytes} bytes shown",
        at(50),
        at(99)
    );
    n_words
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let model = arguments.get(1).ok_or("usage: game_loop MODEL [SECONDS]")?;
    let seconds: u32 = arguments.get(2).map_or(Ok(5), |n| n.parse())?;
    let n_frames = seconds.clamp(1, 3600) * FRAMES_A_SECOND;

    // One thread computes: the others stay with the game.
    let engine = Engine::load(model, LoadOptions::default().n_threads(1))?;
    let sampler = Sampler::default().temperature(0.8).seed(7);
    let session = engine.session(&SessionOptions::default().sampler(sampler))?;
    run_frames("silent", n_frames, None);

    let (words, arriving) = channel();
    let character = thread::spawn(move || talk(session, words));
    let start = Instant::now();
    let n_words = run_frames("talking", n_frames, Some(&arriving));
    println!("{n_words} tokens, {:.0} a second", n_words as f64 / start.elapsed().as_secs_f64());
    drop(arriving); // the character's next word finds nobody who listens
    character.join().map_err(|_| "the character's thread panicked")??;
    Ok(())
}
