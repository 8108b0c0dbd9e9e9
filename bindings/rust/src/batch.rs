//! Steps of many sessions.
use crate::error::call;
use crate::session::check_library;
use crate::{raw, Error, Event, Result, Session, Status};

/// Draws one token for each of the sessions, reading the weights once for all. They must be of one engine.
///
/// Gives one result a session, in their order. A session that cannot advance is unchanged and its result is an error, of which
/// the first has the library's message, and each the session's index: [`Error::session_index`]. The others advance: a session
/// that has ended refuses none of them. If the sessions do not go together, nothing happens at all.
///
/// ```
/// # use inlay::*;
/// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
/// # let options = SessionOptions::default().max_tokens(8);
/// # let (mut one, mut two) = (engine.session(&options)?, engine.session(&options)?);
/// # one.prefill("Once upon a time")?;
/// # two.prefill("The old fox")?;
/// for event in decode_step([&mut one, &mut two])? {
///     print!("{}", event?.text);
/// }
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Status::InvalidArgument`] if the sessions do not go together; those of [`Session::decode_step`] for one.
pub fn decode_step<'s>(sessions: impl IntoIterator<Item = &'s mut Session>) -> Result<Vec<Result<Event>>> {
    let mut step = Step::of(sessions)?;
    let Some(first) = step.sessions.first() else {
        return Ok(Vec::new());
    };
    let run = first.functions().inlay_decode_step;
    step.begin();
    let (handles, n, stride) = (step.handles.as_ptr(), step.handles.len(), size_of::<raw::inlay_event>());
    // SAFETY: the sessions are borrowed for this call alone; there is room for an event of each.
    let outcome = call(|err| unsafe { run(handles, n, step.events.as_mut_ptr(), stride, err) });
    step.end(outcome)
}

/// What a part of a decode step came to.
#[derive(Debug)]
pub enum Slice {
    /// The step goes on with the next call of [`decode_slice`] for the same sessions in the same order.
    Pending {
        /// How much is left of it.
        units: i32,
    },
    /// The step has ended: what [`decode_step`] would have given.
    Ended(Vec<Result<Event>>),
}

/// Runs a part of a decode step: at most so many units. What a unit is is the engine's affair, and steps differ in their number;
/// those of one step take about the same time. For programs that give the model a little time in every frame.
///
/// The first call begins a step, the next ones go on with it. Zero units only begin it, and tell how many it has. While it is
/// pending the engine runs no other step and no prefill, and its sessions are not forked, cut or given another sampler:
/// [`Status::InvalidState`]; later versions may refuse fewer calls. Dropping one of them drops the step, as [`decode_abandon`]
/// does.
///
/// ```
/// # use inlay::*;
/// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
/// # let options = SessionOptions::default().max_tokens(8);
/// # let (mut one, mut two) = (engine.session(&options)?, engine.session(&options)?);
/// # one.prefill("Once upon a time")?;
/// # two.prefill("The old fox")?;
/// loop { // once a frame
///     match decode_slice([&mut one, &mut two], 2)? {
///         Slice::Pending { units } => println!("{units} units are left"),
///         Slice::Ended(events) => break assert_eq!(events.len(), 2),
///     }
/// }
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Status::InvalidArgument`], [`Status::Busy`] or [`Status::DeviceLost`] for all of them; those of [`Session::decode_step`] for
/// one.
pub fn decode_slice<'s>(sessions: impl IntoIterator<Item = &'s mut Session>, max_units: i32) -> Result<Slice> {
    let mut step = Step::of(sessions)?;
    let Some(first) = step.sessions.first() else {
        return Ok(Slice::Ended(Vec::new()));
    };
    let run = first.functions().inlay_decode_slice;
    step.begin();
    let (handles, n, stride) = (step.handles.as_ptr(), step.handles.len(), size_of::<raw::inlay_event>());
    let mut units = 0;
    let left = &mut units;
    // SAFETY: the sessions are borrowed for this call alone; there is room for an event of each.
    let outcome = call(|err| unsafe { run(handles, n, max_units, step.events.as_mut_ptr(), stride, left, err) });
    if units > 0 {
        return Ok(Slice::Pending { units });
    }
    step.end(outcome).map(Slice::Ended)
}

/// Drops the pending step that [`decode_slice`] has begun for these sessions: they are as they were before it, except that one
/// which it found cancelled has finished. If there is none, nothing happens.
///
/// ```
/// # use inlay::*;
/// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
/// # let options = SessionOptions::default().max_tokens(8);
/// # let (mut one, mut two) = (engine.session(&options)?, engine.session(&options)?);
/// # one.prefill("Once upon a time")?;
/// # two.prefill("The old fox")?;
/// if let Slice::Pending { .. } = decode_slice([&mut one, &mut two], 0)? {
///     decode_abandon([&mut one, &mut two])?;
/// }
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Status::InvalidState`]. Other sessions are in the step.
pub fn decode_abandon<'s>(sessions: impl IntoIterator<Item = &'s mut Session>) -> Result<()> {
    let step = Step::of(sessions)?;
    let Some(first) = step.sessions.first() else {
        return Ok(());
    };
    let abandon = first.functions().inlay_decode_abandon;
    // SAFETY: the sessions are borrowed for this call alone.
    call(|err| unsafe { abandon(step.handles.as_ptr(), step.handles.len(), err) })
}

/// The arguments of one call for many sessions.
struct Step<'s> {
    sessions: Vec<&'s mut Session>,
    handles: Vec<*mut raw::inlay_session>,
    events: Vec<raw::inlay_event>,
}

impl<'s> Step<'s> {
    fn of(sessions: impl IntoIterator<Item = &'s mut Session>) -> Result<Self> {
        let sessions: Vec<_> = sessions.into_iter().collect();
        for (index, other) in sessions.iter().enumerate() {
            check_library(sessions[0].engine().library(), other.engine().library())
                .map_err(|error| error.of_session(index))?;
        }
        let handles: Vec<_> = sessions.iter().map(|session| session.as_ptr()).collect();
        // Not NONE without an error, so that it shows whether the library wrote the event.
        let events = vec![raw::inlay_event { kind: -1, ..Default::default() }; handles.len()];
        Ok(Self { sessions, handles, events })
    }

    fn begin(&self) {
        self.sessions.iter().for_each(|session| session.works_on(0));
    }

    /// The error with the index of the first session that is of another engine than the others, if there is one.
    fn of_stranger(&self, error: Error) -> Error {
        let engine = self.sessions[0].engine().as_ptr();
        match self.sessions.iter().position(|session| session.engine().as_ptr() != engine) {
            Some(index) => error.of_session(index),
            None => error,
        }
    }

    /// Each session's event, after a step that has ended.
    fn end(self, outcome: Result<()>) -> Result<Vec<Result<Event>>> {
        let mut first_error = match outcome {
            Err(error) if self.events[0].kind < 0 => return Err(self.of_stranger(error)),
            outcome => outcome.err(),
        };
        let whole = |(session, event): (&'s mut Session, &raw::inlay_event)| match event.status {
            raw::INLAY_OK => session.whole_event(event),
            status => {
                let error = first_error.take().unwrap_or_else(|| did_not_advance(event.session_index, status));
                Err(error.of_session(event.session_index as usize))
            }
        };
        Ok(self.sessions.into_iter().zip(&self.events).map(whole).collect())
    }
}

fn did_not_advance(index: i32, status: raw::inlay_status) -> Error {
    Error::new(Status::from_raw(status), format!("session {index} did not advance"))
}
