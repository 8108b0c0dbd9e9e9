//! Streams what a model writes to many clients at once, by server-sent events. Each client has a thread that reads and writes; one
//! thread decodes for all of them together. `curl -N -d "Once upon a time" 127.0.0.1:8080` shows the events.
//! usage: http MODEL [ADDRESS]
use inlay::{decode_step, Engine, Event, LoadOptions, Session, SessionOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::{thread, time::Duration};

const SESSIONS: usize = 8;
const MAX_WAITING: usize = 16; // clients that wait for a session; others are refused
const PATIENCE: Option<Duration> = Some(Duration::from_secs(10)); // with a client that does not read or write
type Request = (String, Sender<inlay::Result<Event>>);

/// The body of a request, which has at most 64 KiB in all.
fn read_prompt(client: &TcpStream) -> io::Result<String> {
    let mut reader = BufReader::new(client.take(1 << 16));
    let head = reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let length = |line: String| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok();
    let n_body = head.filter_map(length).fold(0, u64::max);
    io::read_to_string(reader.take(n_body))
}

/// Writes the events of an answer. Where that fails, the client has left, and nobody takes the rest.
fn serve(mut client: TcpStream, requests: &SyncSender<Request>) -> io::Result<()> {
    client.set_read_timeout(PATIENCE).and(client.set_write_timeout(PATIENCE))?;
    let (to_us, events) = channel();
    if requests.try_send((read_prompt(&client)?, to_us)).is_err() {
        return client.write_all(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\ntoo many clients\n");
    }
    let mut head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let quote = |c: char| if c < ' ' || "\"\\".contains(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() };
    for event in events {
        let (kind, text) = event.map_or_else(|e| ("event: error\n", e.to_string()), |event| ("", event.text));
        write!(client, "{head}{kind}data: {{\"text\":\"{}\"}}\n\n", text.chars().map(quote).collect::<String>())?;
        head = "";
    }
    client.write_all(b"event: end\ndata: {}\n\n")
}

/// Each step draws a token for each client. Whoever is done or has left gives the session to the next one that waits.
fn decode(engine: &Engine, requests: &Receiver<Request>) -> inlay::Result<()> {
    let options = SessionOptions::default().max_tokens(200);
    let mut answers: Vec<(Session, Sender<_>)> = Vec::new();
    loop {
        let first = if answers.is_empty() { requests.recv().ok() } else { None };
        for (prompt, client) in first.into_iter().chain(requests.try_iter()).take(SESSIONS - answers.len()) {
            match engine.session(&options).and_then(|mut session| session.prefill(&prompt).map(|()| session)) {
                Ok(session) => answers.push((session, client)),
                Err(error) => drop(client.send(Err(error))),
            }
        }
        let events = decode_step(answers.iter_mut().map(|(session, _)| session))?;
        for (i, event) in events.into_iter().enumerate().rev() {
            let goes_on = event.as_ref().is_ok_and(|event| event.finish_reason.is_none());
            match answers[i].1.send(event) {
                Ok(()) if goes_on => continue,
                Err(_) if goes_on => eprintln!("a client left before the end"),
                _ => {}
            }
            answers.swap_remove(i);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().ok_or("usage: http MODEL [ADDRESS]")?;
    let listener = TcpListener::bind(arguments.next().unwrap_or("127.0.0.1:8080".into()))?;
    let engine = Engine::load(model, LoadOptions::default().max_sessions(SESSIONS as u32))?;
    println!("listening on http://{}", listener.local_addr()?);
    let (requests, arriving) = sync_channel(MAX_WAITING);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let requests = requests.clone();
            thread::spawn(move || serve(client, &requests));
        }
    });
    Ok(decode(&engine, &arriving)?)
}
