//! Requests that make vectors.
mod common;

use common::*;
use inlay::{
    EmbedOptions, FinishReason, Pooling, Queue, QueueOptions, Request, RequestEnd, RequestEvents, RequestId,
    RequestKind, RunOptions, SessionOptions, Status, ThreadOptions,
};
use std::collections::HashMap;
use std::time::Duration;

const TEXTS: [&str; 4] = ["A fox in the woods.", "The old fox", "Once upon a time, there was a little boat", "!"];

fn mean() -> EmbedOptions {
    EmbedOptions::default().pooling(Pooling::Mean).normalize(true)
}

fn vector_of(text: &str) -> Request<'_> {
    Request::new(text).kind(RequestKind::Embed).embed(mean())
}

fn collect(queue: &Queue, ends: &mut HashMap<RequestId, RequestEnd>) {
    let mut events = RequestEvents::default();
    while queue.poll(&mut events).unwrap() > 0 {
        ends.extend(events.iter().filter_map(|event| Some((event.request, event.end.clone()?))));
    }
}

#[test]
fn are_those_of_embed() {
    let engine = load_with(options().max_sessions(2));
    let queue = engine.queue(QueueOptions::default()).unwrap();
    let wanted = engine.embed(TEXTS, mean()).unwrap();
    engine.set_thread(ThreadOptions::default()).unwrap();
    let beside = queue.submit(&Request::new(PROMPT).session(SessionOptions::default().max_tokens(5))).unwrap();
    let ids: Vec<_> = TEXTS.iter().map(|text| queue.submit(&vector_of(text)).unwrap()).collect();
    let mut ends = HashMap::new();
    while ends.len() < ids.len() + 1 {
        assert!(queue.wait(Duration::from_secs(60)).unwrap());
        collect(&queue, &mut ends);
    }
    for (id, wanted) in ids.iter().zip(&wanted) {
        assert_eq!(ends[id].finish_reason, FinishReason::Embedded);
        assert_eq!((ends[id].n_values, ends[id].n_drawn), (wanted.len(), 0));
        assert_eq!(&queue.take_values(*id).unwrap(), wanted);
        assert_eq!(queue.take_values(*id).unwrap_err().status(), Status::NotFound, "a vector is taken once");
    }
    assert_eq!(ends[&beside].n_values, 0);
}

#[test]
fn what_does_not_fit_is_refused() {
    let engine = load_with(options());
    let queue = engine.queue(QueueOptions::default().max_requests(1)).unwrap();
    let session = engine.session(&SessionOptions::default().for_requests(true)).unwrap();
    let messages = [inlay::ChatMessage::user("Hello")];
    let refused = [
        (vector_of("a").session(SessionOptions::default().max_tokens(3)), "request.session_params"),
        (vector_of("a").continues(&session), "request.continues"),
        (Request::chat(&messages).kind(RequestKind::Embed).embed(mean()), "request.conversation"),
        (vector_of("a").kind(RequestKind::Generate), "request.embed"),
    ];
    for (request, named) in refused {
        let error = queue.submit(&request).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument);
        assert!(error.to_string().contains(named), "{error}");
    }
    let id = queue.submit(&vector_of("a")).unwrap();
    assert_eq!(queue.take_values(id).unwrap_err().status(), Status::InvalidState, "it has not ended");
    engine.run(RunOptions::default()).unwrap();
    collect(&queue, &mut HashMap::new());
    assert_eq!(queue.submit(&vector_of("b")).unwrap_err().status(), Status::QueueFull, "nobody has taken it");
    queue.take_values(id).unwrap();
    queue.submit(&vector_of("b")).unwrap();
}
