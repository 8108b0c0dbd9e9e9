use crate::error::call;
use crate::raw;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a leader waits at most, and half a step at most.
const MOST_WAIT: Duration = Duration::from_millis(1);

type DecodeStep = unsafe extern "C" fn(
    *const *mut raw::inlay_session,
    usize,
    *mut raw::inlay_event,
    usize,
    *mut raw::inlay_error,
) -> raw::inlay_status;

/// Lets the generations of an engine that run at a time share decode steps. Nothing runs by itself: who comes while no step is
/// under way leads, runs one for all that wait, and hands the lead on to the first of those that have come meanwhile. A leader
/// waits for those of the step before, who are busy with its events, but not for long: another step costs more than that.
#[derive(Default)]
pub(crate) struct Steps {
    state: Mutex<State>,
    /// None of the sessions is missing any more.
    back: Condvar,
}

#[derive(Default)]
struct State {
    is_led: bool,
    waiting: Vec<Member>,
    /// Of the latest step.
    number: u64,
    /// Sessions of that step that are expected back.
    n_missing: usize,
    /// Of the latest step.
    took: Duration,
}

struct Member {
    session: *mut raw::inlay_session,
    turn: SyncSender<Turn>,
}

// SAFETY: the session is the leader's until its turn comes, for which the thread that has it waits.
unsafe impl Send for Member {}

enum Turn {
    Lead,
    /// What happened, and the number of the step if the session may be in the next one.
    Event(Box<raw::inlay_event>, u64),
    /// The step did not advance it. Alone, it is told why.
    Alone,
}

/// A session's in the steps.
pub(crate) struct Place {
    /// Of the latest step that it was in, if it can go on; 0 is none.
    number: u64,
    turn: SyncSender<Turn>,
    turns: Receiver<Turn>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let (turn, turns) = sync_channel(1);
        Self { number: 0, turn, turns }
    }
}

impl Steps {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws a token for the session, in one step with others that come at the time. `None`: it has to be stepped alone.
    ///
    /// # Safety
    /// Nobody else uses the session, which is of the steps' engine, nor the place, which is the session's. `run` is the library's
    /// `inlay_decode_step`.
    pub(crate) unsafe fn step(
        &self,
        session: *mut raw::inlay_session,
        place: &mut Place,
        run: DecodeStep,
    ) -> Option<Box<raw::inlay_event>> {
        let mut leads = self.join(session, place);
        loop {
            if leads {
                // SAFETY: all who wait have promised the same, and wait.
                unsafe { self.lead(run) }
            }
            match place.turns.recv().expect("the place has a sender, too") {
                Turn::Lead => leads = true,
                Turn::Event(event, number) => {
                    place.number = number;
                    return Some(event);
                }
                Turn::Alone => return None,
            }
        }
    }

    /// Puts the session among those that wait, and tells if it leads.
    fn join(&self, session: *mut raw::inlay_session, place: &Place) -> bool {
        let mut state = self.state();
        state.waiting.push(Member { session, turn: place.turn.clone() });
        if state.n_missing > 0 && place.number == state.number {
            state.n_missing -= 1;
            if state.n_missing == 0 {
                self.back.notify_one();
            }
        }
        !std::mem::replace(&mut state.is_led, true)
    }

    /// Runs one step, of which the leader is a member.
    ///
    /// # Safety
    /// As of [`step`](Self::step), for all who wait.
    unsafe fn lead(&self, run: DecodeStep) {
        let state = self.state();
        let patience = MOST_WAIT.min(state.took / 2);
        let waited = self.back.wait_timeout_while(state, patience, |state| state.n_missing > 0);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.n_missing = 0;
        let members = std::mem::take(&mut state.waiting);
        drop(state);
        let begin = Instant::now();
        let handles: Vec<_> = members.iter().map(|member| member.session).collect();
        // Not NONE without an error, so that it shows whether the library wrote the event.
        let mut events = vec![raw::inlay_event { kind: -1, ..Default::default() }; handles.len()];
        let (n, to, stride) = (handles.len(), events.as_mut_ptr(), size_of::<raw::inlay_event>());
        // SAFETY: nobody else uses the sessions; there is room for an event of each. The events tell the outcome.
        let _ = call(|err| unsafe { run(handles.as_ptr(), n, to, stride, err) });
        let mut state = self.state();
        (state.number, state.took) = (state.number + 1, begin.elapsed());
        // One that is always alone is not waited for: the same thread may step others, too.
        let together = members.len() > 1 || !state.waiting.is_empty();
        for (member, event) in members.into_iter().zip(events) {
            let turn = if event.kind < 0 || event.status != raw::INLAY_OK {
                Turn::Alone
            } else {
                let comes_back = together && event.finish_reason == raw::INLAY_FINISH_NONE;
                state.n_missing += usize::from(comes_back);
                Turn::Event(Box::new(event), if comes_back { state.number } else { 0 })
            };
            member.turn.send(turn).expect("who waits has a receiver with room");
        }
        state.is_led = !state.waiting.is_empty();
        if let Some(first) = state.waiting.first() {
            first.turn.send(Turn::Lead).expect("who waits has a receiver with room");
        }
    }
}
