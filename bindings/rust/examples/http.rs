//! Streams what a model writes to many clients at once, by server-sent events. Each client has a thread, which waits for a session;
//! their generations share decode steps. `curl -N -d "Once upon a time" 127.0.0.1:8080` shows the events: `data: {"text":"..."}`, and
//! one of type end, which is the last and has the finish reason, and the status if the answer was cut short. A prompt that is refused
//! is answered by 400, or 413 if it is too large to be read; where too many clients wait it is 503.
//! usage: http MODEL [ADDRESS]
use inlay::{Engine, Error, GenerateOptions, LoadOptions, SessionOptions, Status};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{thread, time::Duration};

const SESSIONS: u32 = 8;
const MAX_CLIENTS: usize = 24; // that have a session or wait for one; others are refused
const MAX_REQUEST: u64 = 1 << 16; // bytes
const PATIENCE: Option<Duration> = Some(Duration::from_secs(10)); // with a client that does not read or write
static CLIENTS: AtomicUsize = AtomicUsize::new(0);

/// A refusal: the line of its status, and the reason.
type Refused = (&'static str, String);

/// The body of a request.
fn read_prompt(client: &TcpStream) -> io::Result<Result<String, Refused>> {
    let mut reader = BufReader::new(client.take(MAX_REQUEST));
    let head = reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let length = |line: String| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok();
    let n_body = head.filter_map(length).fold(0, u64::max);
    let mut body = Vec::new();
    reader.take(n_body).read_to_end(&mut body)?;
    let n_left = n_body.saturating_sub(body.len() as u64);
    if n_left > 0 {
        io::copy(&mut client.take(n_left), &mut io::sink())?; // so that it reads the answer
        return Ok(Err(("413 Content Too Large", format!("a request has at most {MAX_REQUEST} bytes"))));
    }
    Ok(String::from_utf8(body).map_err(|error| ("400 Bad Request", error.to_string())))
}

/// What the client is told of a prompt that does not run.
fn refused(error: Error) -> Refused {
    let is_wrong = matches!(error.status(), Status::ContextFull | Status::InvalidArgument);
    (if is_wrong { "400 Bad Request" } else { "503 Service Unavailable" }, error.to_string())
}

/// Answers a client. Where writing fails it has left: the session is dropped and serves the next one.
fn serve(engine: &Engine, mut client: &TcpStream, n_clients: usize) -> io::Result<()> {
    client.set_read_timeout(PATIENCE).and(client.set_write_timeout(PATIENCE))?;
    let mut prompt = read_prompt(client)?;
    if n_clients >= MAX_CLIENTS {
        prompt = Err(("503 Service Unavailable", "too many clients".into()));
    }
    let options = SessionOptions::default().max_tokens(200);
    let begun = prompt.and_then(|prompt| {
        let mut session = engine.wait_for_session(&options, Duration::MAX).map_err(refused)?;
        session.begin(&prompt, &GenerateOptions::default()).map_err(refused)?;
        Ok(session.into_events())
    });
    let events = match begun {
        Ok(events) => events,
        Err((status, reason)) => {
            return write!(
                client,
                "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n{reason}\n"
            )
        }
    };
    write!(client, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    let quote = |c: char| if c < ' ' || "\"\\".contains(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() };
    let (mut finish, mut status) = ("none".to_string(), "ok".to_string());
    for event in events {
        match event {
            Ok(event) => {
                write!(client, "data: {{\"text\":\"{}\"}}\n\n", event.text.chars().map(quote).collect::<String>())?;
                finish = event.finish_reason.map_or(finish, |reason| reason.to_string());
            }
            Err(error) => status = error.status().to_string(),
        }
    }
    write!(client, "event: end\ndata: {{\"finish\":\"{finish}\",\"status\":\"{status}\"}}\n\n")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().ok_or("usage: http MODEL [ADDRESS]")?;
    let listener = TcpListener::bind(arguments.next().unwrap_or("127.0.0.1:8080".into()))?;
    let engine = Engine::load(model, LoadOptions::default().max_sessions(SESSIONS))?;
    println!("listening on http://{}", listener.local_addr()?);
    for client in listener.incoming().flatten() {
        let engine = engine.clone();
        thread::spawn(move || {
            let n_clients = CLIENTS.fetch_add(1, Ordering::SeqCst);
            if let Err(error) = serve(&engine, &client, n_clients) {
                eprintln!("a client left before the end: {error}");
            }
            CLIENTS.fetch_sub(1, Ordering::SeqCst);
        });
    }
    Ok(())
}
