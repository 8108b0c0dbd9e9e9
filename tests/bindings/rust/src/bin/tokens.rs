//! Prints the ids of the tokens that a model draws, for comparison with the same program in other languages: first each case
//! alone, then all of them together, one token each a step.
//! usage: tokens LIBRARY MODEL DEVICE CASES     a line of CASES: name, temperature, seed, tokens at most, prompt; tabs between
use inlay::{decode_step, DeviceKind, Engine, Library, LoadOptions, Sampler, Session, SessionOptions, Token};
use std::error::Error;

struct Case {
    name: String,
    options: SessionOptions,
    prompt: String,
}

fn parse(line: &str) -> Result<Case, Box<dyn Error>> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [name, temperature, seed, max_tokens, prompt] = columns[..] else {
        return Err(format!("the line has {} columns, not 5: {line}", columns.len()).into());
    };
    let sampler = Sampler::default().temperature(temperature.parse()?).seed(seed.parse()?);
    let options = SessionOptions::default().sampler(sampler).max_tokens(max_tokens.parse()?);
    Ok(Case { name: name.to_owned(), options, prompt: prompt.to_owned() })
}

fn begin(engine: &Engine, case: &Case) -> inlay::Result<Session> {
    let mut session = engine.session(&case.options)?;
    session.prefill(&case.prompt)?;
    Ok(session)
}

fn draw_alone(engine: &Engine, case: &Case) -> inlay::Result<Vec<Token>> {
    let mut tokens = Vec::new();
    for event in begin(engine, case)?.events() {
        tokens.extend(event?.token);
    }
    Ok(tokens)
}

fn draw_together(engine: &Engine, cases: &[Case]) -> inlay::Result<Vec<Vec<Token>>> {
    let mut tokens = vec![Vec::new(); cases.len()];
    let mut running = cases.iter().map(|case| begin(engine, case)).collect::<inlay::Result<Vec<_>>>()?;
    let mut owners: Vec<usize> = (0..cases.len()).collect();
    while !running.is_empty() {
        let events = decode_step(&mut running)?.into_iter().collect::<inlay::Result<Vec<_>>>()?;
        for (i, event) in events.iter().enumerate().rev() {
            tokens[owners[i]].extend(event.token);
            if event.finish_reason.is_some() {
                running.remove(i);
                owners.remove(i);
            }
        }
    }
    Ok(tokens)
}

fn print_line(case: &Case, tokens: &[Token]) {
    let ids: String = tokens.iter().map(|token| format!(" {token}")).collect();
    println!("{}{ids}", case.name);
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, model, device, cases] = &arguments[..] else {
        return Err("usage: tokens LIBRARY MODEL cpu|cuda|reference CASES".into());
    };
    let device = match device.as_str() {
        "cpu" => DeviceKind::Cpu,
        "cuda" => DeviceKind::Cuda,
        "reference" => DeviceKind::Reference,
        other => return Err(format!("no device {other}").into()),
    };
    let cases = std::fs::read_to_string(cases)?.lines().map(parse).collect::<Result<Vec<_>, _>>()?;
    // SAFETY: the caller names an Inlay library.
    let library = unsafe { Library::open(library) }?;
    let engine = library.load(model, LoadOptions::default().device(device).n_context(512).n_threads(2))?;
    for case in &cases {
        print_line(case, &draw_alone(&engine, case)?);
    }
    println!("together:");
    for (case, tokens) in cases.iter().zip(draw_together(&engine, &cases)?) {
        print_line(case, &tokens);
    }
    Ok(())
}
