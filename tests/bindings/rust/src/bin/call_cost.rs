//! Prints what a call costs, in nanoseconds: the median of blocks of calls, or of single ones for decode_step.
//! usage: call_cost LIBRARY MODEL
use inlay::{DeviceKind, Library, LoadOptions, SessionOptions};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds of a call: the median of `n_blocks` blocks of `n_calls`.
fn median(
    n_blocks: usize,
    n_calls: u32,
    mut call: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut seconds = Vec::with_capacity(n_blocks);
    for _ in 0..n_blocks {
        let start = Instant::now();
        for _ in 0..n_calls {
            call()?;
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[n_blocks / 2] / f64::from(n_calls) * 1e9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, model] = &arguments[..] else {
        return Err("usage: call_cost LIBRARY MODEL".into());
    };
    // SAFETY: the caller names an Inlay library.
    let library = unsafe { Library::open(library) }?;
    let options = LoadOptions::default().device(DeviceKind::Cpu).n_context(512).n_threads(1);
    let engine = library.load(model, options)?;
    let mut session = engine.session(&SessionOptions::default().ignore_end_of_generation(true))?;
    session.prefill("Once")?;

    let abi_version = median(100, 10_000, || {
        black_box(library.abi_version());
        Ok(())
    })?;
    println!("abi_version {abi_version:.1}");
    let get_info = median(100, 1000, || {
        black_box(session.info()?);
        Ok(())
    })?;
    println!("session_get_info {get_info:.1}");
    let decode_step = median(500, 1, || {
        black_box(session.decode_step()?);
        Ok(())
    })?;
    println!("decode_step {decode_step:.1}");
    Ok(())
}
