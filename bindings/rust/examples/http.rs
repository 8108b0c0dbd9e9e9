//! Streams what a model writes to many clients at once, by server-sent events. Each has a thread, which submits a request and
//! writes its answer; the engine computes all of them together, on a thread of its own. `curl -N -d "Once upon a time"
//! 127.0.0.1:8080` shows the events: `data: {"text":"..."}`, and at last one of type end, with the finish reason, and the status
//! if the answer was cut short. 400 and 413 refuse a prompt, and 503 a client more than 1024.
//! usage: http MODEL [ADDRESS [BYTES]]      BYTES: of the KV pool
use inlay::{Engine, LoadOptions, Request, SessionOptions, Status, ThreadOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::{sync::Arc, thread, time::Duration};

const MAX_CLIENTS: usize = 1024; // that are answered or wait; others are refused
const PATIENCE: Option<Duration> = Some(Duration::from_secs(10)); // with a client that does not read or write
const TOO_LARGE: (&str, &str) = ("413 Content Too Large", "a request has at most 65536 bytes");
const NO_TEXT: (&str, &str) = ("400 Bad Request", "the prompt is no utf-8");
const TOO_MANY: (&str, &str) = ("503 Service Unavailable", "too many clients");

/// The body of a request, or why it is refused.
fn read_prompt(client: &TcpStream) -> io::Result<Result<String, (&'static str, &'static str)>> {
    let mut reader = BufReader::new(client.take(1 << 16));
    let head = reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let length = |line: String| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok();
    let n_body = head.filter_map(length).fold(0, u64::max);
    let body = reader.take(n_body).bytes().collect::<io::Result<Vec<u8>>>()?;
    let n_left = n_body.saturating_sub(body.len() as u64);
    io::copy(&mut client.take(n_left), &mut io::sink())?; // so that it reads the answer
    Ok(if n_left > 0 { Err(TOO_LARGE) } else { String::from_utf8(body).map_err(|_| NO_TEXT) })
}

fn refuse(mut client: &TcpStream, (status, reason): (&str, &str)) -> io::Result<()> {
    write!(client, "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n{reason}\n")
}

/// Answers a client. Where writing fails it has left: the answer is dropped, which cancels its request.
fn serve(engine: &Engine, mut client: &TcpStream, n_clients: usize) -> io::Result<()> {
    client.set_read_timeout(PATIENCE).and(client.set_write_timeout(PATIENCE))?;
    let prompt = match read_prompt(client)? {
        Ok(_) if n_clients > MAX_CLIENTS => return refuse(client, TOO_MANY),
        Ok(prompt) => prompt,
        Err(reason) => return refuse(client, reason),
    };
    let mut answer = match engine.answer(&Request::new(&prompt).session(SessionOptions::default().max_tokens(200))) {
        Ok(answer) => answer.peekable(),
        Err(error) => {
            let is_wrong = matches!(error.status(), Status::ContextFull | Status::InvalidArgument);
            return refuse(client, (if is_wrong { "400 Bad Request" } else { TOO_MANY.0 }, &error.to_string()));
        }
    };
    answer.peek(); // once it has begun
    write!(client, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    let quote = |c: char| if c < ' ' || "\"\\".contains(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() };
    let (mut finish, mut status) = ("none".to_string(), "ok".to_string());
    for piece in answer {
        match piece {
            Ok(piece) => {
                write!(client, "data: {{\"text\":\"{}\"}}\n\n", piece.text.chars().map(quote).collect::<String>())?;
                finish = piece.end.map_or(finish, |end| end.finish_reason.to_string());
            }
            Err(error) => status = error.status().to_string(),
        }
    }
    write!(client, "event: end\ndata: {{\"finish\":\"{finish}\",\"status\":\"{status}\"}}\n\n")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().ok_or("usage: http MODEL [ADDRESS [BYTES]]")?;
    let listener = TcpListener::bind(arguments.next().unwrap_or("127.0.0.1:8080".into()))?;
    let n_bytes = arguments.next().map_or(Ok(0), |n| n.parse())?; // of the KV pool
    let engine = Arc::new(Engine::load(model, LoadOptions::default().max_sessions(8).kv_budget_bytes(n_bytes))?);
    engine.set_thread(ThreadOptions::default())?;
    println!("listening on http://{}", listener.local_addr()?);
    for client in listener.incoming().flatten() {
        let engine = engine.clone();
        thread::spawn(move || {
            let served = serve(&engine, &client, Arc::strong_count(&engine) - 1);
            served.unwrap_or_else(|error| eprintln!("a client left before the end: {error}"));
        });
    }
    Ok(())
}
