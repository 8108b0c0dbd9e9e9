use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Who waits until an engine has room for another session, the first to come first.
#[derive(Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    /// A session was freed, or another one is the first to wait.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<u64>,
    n_came: u64,
}

impl Waiting {
    /// Tries again whenever a session was freed, until there is a result or the patience is over. The first try is made at once
    /// unless others wait. `None`: there was no room all the time.
    pub(crate) fn wait<T>(&self, patience: Duration, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
        let end = Instant::now().checked_add(patience); // none: beyond what a clock can tell
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.n_came;
        state.n_came += 1;
        state.waiting.push_back(number);
        loop {
            // With the lock, so that what is freed during the try is seen.
            let found = if state.waiting.front() == Some(&number) { attempt() } else { None };
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if found.is_some() || left == Some(Duration::ZERO) {
                state.waiting.retain(|&other| other != number);
                drop(state);
                self.changed.notify_all();
                return found;
            }
            state = match left {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }

    /// To be called when a session was freed.
    pub(crate) fn wake(&self) {
        drop(self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;

    /// Until so many have come.
    fn until(waiting: &Waiting, n: u64) {
        while waiting.state.lock().unwrap().n_came < n {
            thread::yield_now();
        }
    }

    #[test]
    fn who_came_first_is_first() {
        let (waiting, n_free, (tell, told)) = (Waiting::default(), AtomicUsize::new(0), channel());
        let take = || n_free.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).ok();
        assert_eq!(waiting.wait(Duration::ZERO, take), None);
        thread::scope(|scope| {
            for i in 0..6 {
                let (waiting, tell) = (&waiting, tell.clone());
                // Every third one loses its patience, and keeps nobody behind it waiting.
                let patience = if i % 3 == 0 { Duration::from_millis(500) } else { Duration::MAX };
                scope.spawn(move || {
                    let found = waiting.wait(patience, take).is_some();
                    tell.send((i, found)).unwrap();
                });
                until(waiting, 2 + i); // one has come before
            }
            let mut lost = [told.recv().unwrap(), told.recv().unwrap()];
            lost.sort();
            assert_eq!(lost, [(0, false), (3, false)]);
            for i in [1, 2, 4, 5] {
                n_free.fetch_add(1, Ordering::SeqCst);
                waiting.wake();
                assert_eq!(told.recv(), Ok((i, true)));
            }
        });
    }
}
