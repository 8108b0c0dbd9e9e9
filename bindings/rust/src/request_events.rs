//! What became of requests, as a queue tells.
use crate::error::into_string;
use crate::{raw, Error, FinishReason, RequestEventKind, RequestId, Status, TokenLogprob, MAX_LOGPROBS};
use std::borrow::Cow;
use std::time::Duration;

/// Room for the events of a [`Queue::poll`](crate::Queue::poll), to be used again and again: each call replaces what the one before
/// brought, and makes no further room.
#[derive(Clone, Debug)]
pub struct RequestEvents {
    pub(crate) events: Vec<raw::inlay_request_event>,
    pub(crate) raw_tokens: Vec<raw::inlay_token_logprob>,
    pub(crate) text: Vec<u8>,
    /// Of the events.
    pub(crate) n: usize,
    tokens: Vec<TokenLogprob>,
}

/// A token, and the likeliest ones in its place.
const LEAST_TOKENS: usize = 1 + MAX_LOGPROBS;

/// Room for 64 events with 256 tokens and 4 KiB of text.
impl Default for RequestEvents {
    fn default() -> Self {
        Self::with_room(64, 256, 4096)
    }
}

impl RequestEvents {
    /// Room for at most so many events, tokens and bytes of text at a time: for one event, one token with as many
    /// likeliest ones as there can be, and four bytes at least. Less room loses nothing: the rest comes with the next call.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// let mut events = RequestEvents::with_room(8, 32, 256);
    /// assert_eq!(queue.poll(&mut events)?, 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_room(n_events: usize, n_tokens: usize, n_bytes: usize) -> Self {
        Self {
            events: vec![raw::inlay_request_event::default(); n_events.max(1)],
            raw_tokens: vec![raw::inlay_token_logprob::default(); n_tokens.max(LEAST_TOKENS)],
            text: vec![0; n_bytes.max(4)],
            n: 0,
            tokens: Vec::with_capacity(n_tokens.max(LEAST_TOKENS)),
        }
    }

    /// After a call that brought so many.
    pub(crate) fn hold(&mut self, n: usize) {
        self.n = n;
        let n_tokens = self
            .raw()
            .iter()
            .map(|event| event.first_token + event.n_tokens.max(0) as usize * (1 + event.n_top.max(0) as usize))
            .max();
        self.tokens.clear();
        self.tokens.extend(self.raw_tokens[..n_tokens.unwrap_or(0)].iter().map(TokenLogprob::from_raw));
    }

    fn raw(&self) -> &[raw::inlay_request_event] {
        &self.events[..self.n]
    }

    /// How many events the latest call brought.
    ///
    /// ```
    /// # use inlay::*;
    /// assert_eq!(RequestEvents::default().len(), 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether it brought none.
    ///
    /// ```
    /// # use inlay::*;
    /// assert!(RequestEvents::default().is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The event of this number, if there is one.
    ///
    /// ```
    /// # use inlay::*;
    /// assert_eq!(RequestEvents::default().get(0), None);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn get(&self, index: usize) -> Option<RequestEvent<'_>> {
        self.raw().get(index).map(|event| RequestEvent::from_raw(event, &self.tokens, &self.text))
    }

    /// The events, in their order.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// queue.submit(&Request::new("Once upon a time").session(SessionOptions::default().max_tokens(8)))?;
    /// engine.run(RunOptions::default())?;
    /// let mut events = RequestEvents::default();
    /// while queue.poll(&mut events)? > 0 {
    ///     for event in events.iter() {
    ///         print!("{}", event.text);
    ///     }
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RequestEvent<'_>> {
        self.raw().iter().map(|event| RequestEvent::from_raw(event, &self.tokens, &self.text))
    }
}

/// What became of a request since its last event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestEvent<'e> {
    /// Whose it is.
    pub request: RequestId,
    /// 1 for the first event that was polled from the queue, then one more for each.
    pub number: u64,
    /// Of the [`Request`](crate::Request).
    pub user: u64,
    /// What it is. One that a program does not know is to be passed over.
    pub kind: RequestEventKind,
    /// Tokens that were drawn.
    pub tokens: &'e [TokenLogprob],
    /// The likeliest in the place of each of them, as many as [`Sampler::n_logprobs`](crate::Sampler) asks for: see [`likeliest`](Self::likeliest).
    top: &'e [TokenLogprob],
    /// New text in whole characters. What may begin a stop string is held back until that is clear.
    pub text: Cow<'e, str>,
    /// How the request ended. `None`: it goes on.
    pub end: Option<RequestEnd>,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestEnd {
    /// Why.
    pub finish_reason: FinishReason,
    /// What failed, where that is the reason.
    pub error: Option<Error>,
    /// Tokens of the prompt.
    pub n_prompt: u32,
    /// Those of them that were not computed for this request.
    pub n_cached: u32,
    /// Tokens that were drawn.
    pub n_drawn: u32,
    /// Values of the vector that [`Queue::take_values`](crate::Queue::take_values) gives, where the reason is
    /// [`Embedded`](FinishReason::Embedded). Else 0.
    pub n_values: usize,
    /// From its submission until it began.
    pub queued: Duration,
    /// From there to its first token, or to its end if it drew none.
    pub prompt: Duration,
    /// From there to its end.
    pub decode: Duration,
}

impl<'e> RequestEvent<'e> {
    /// The likeliest tokens in the place of the event's token of this number, the likeliest first: as many as the request's sampler asks for,
    /// fewer where fewer have a probability.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let queue = engine.queue(QueueOptions::default())?;
    /// let session = SessionOptions::default().max_tokens(1).sampler(Sampler::default().n_logprobs(3));
    /// queue.submit(&Request::new("Once upon a time").session(session))?;
    /// engine.run(RunOptions::default())?;
    /// let mut events = RequestEvents::default();
    /// queue.poll(&mut events)?;
    /// assert_eq!(events.get(0).unwrap().likeliest(0).len(), 3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn likeliest(&self, index: usize) -> &'e [TokenLogprob] {
        let n_top = self.top.len() / self.tokens.len().max(1);
        let all = self.top.get(index * n_top..(index + 1) * n_top).unwrap_or(&[]);
        &all[..all.iter().position(|one| one.token < 0).unwrap_or(all.len())]
    }

    fn from_raw(event: &raw::inlay_request_event, tokens: &'e [TokenLogprob], text: &'e [u8]) -> Self {
        let text = &text[event.first_byte..event.first_byte + event.text_bytes];
        let n_tokens = event.n_tokens.max(0) as usize;
        let first_top = event.first_token + n_tokens;
        let kind = RequestEventKind::from_raw(event.kind);
        let end = (kind == RequestEventKind::End).then(|| RequestEnd::from_raw(event, text));
        let is_message = end.as_ref().is_some_and(|end| end.error.is_some());
        Self {
            request: RequestId(event.request_id),
            number: event.number,
            user: event.user,
            kind,
            tokens: &tokens[event.first_token..first_top],
            top: &tokens[first_top..first_top + n_tokens * event.n_top.max(0) as usize],
            text: if is_message { Cow::Borrowed("") } else { String::from_utf8_lossy(text) },
            end,
        }
    }
}

impl RequestEnd {
    fn from_raw(event: &raw::inlay_request_event, message: &[u8]) -> Self {
        let count = |n: i32| u32::try_from(n).unwrap_or(0);
        let failed = event.status != raw::INLAY_OK;
        Self {
            finish_reason: FinishReason::from_raw(event.finish_reason).unwrap_or(FinishReason::Other(0)),
            error: failed.then(|| Error::new(Status::from_raw(event.status), into_string(message.to_vec()))),
            n_prompt: count(event.n_prompt),
            n_cached: count(event.n_cached),
            n_drawn: count(event.n_drawn),
            n_values: event.n_values,
            queued: Duration::from_micros(event.queued_us),
            prompt: Duration::from_micros(event.prompt_us),
            decode: Duration::from_micros(event.decode_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events that no test can provoke: of an error, of a kind that is not known, and with text that is no UTF-8.
    #[test]
    fn every_event_arrives() {
        let mut events = RequestEvents::with_room(3, 0, 0);
        events.text = b"ab\xffdevice lost".to_vec();
        events.raw_tokens = vec![raw::inlay_token_logprob { token: 7, logprob: -1.0 }];
        let of = |kind, first_byte, text_bytes| raw::inlay_request_event {
            kind,
            first_byte,
            text_bytes,
            ..Default::default()
        };
        events.events = vec![
            raw::inlay_request_event { n_tokens: 1, ..of(raw::INLAY_REQUEST_EVENT_TOKENS, 0, 3) },
            of(99, 3, 0),
            raw::inlay_request_event {
                finish_reason: raw::INLAY_FINISH_ERROR,
                status: raw::INLAY_DEVICE_LOST,
                ..of(raw::INLAY_REQUEST_EVENT_END, 3, 11)
            },
        ];
        events.hold(3);
        let all: Vec<_> = events.iter().collect();
        assert_eq!((&*all[0].text, all[0].tokens[0].token, &all[0].end), ("ab\u{fffd}", 7, &None));
        assert_eq!((all[1].kind, &all[1].end, all[1].tokens.len()), (RequestEventKind::Other(99), &None, 0));
        let end = all[2].end.as_ref().unwrap();
        assert_eq!((end.finish_reason, &*all[2].text), (FinishReason::Error, ""));
        assert_eq!(end.error, Some(Error::new(Status::DeviceLost, "device lost")));
        events.hold(0);
        assert!(events.is_empty() && events.get(0).is_none() && events.iter().len() == 0);
    }
}
