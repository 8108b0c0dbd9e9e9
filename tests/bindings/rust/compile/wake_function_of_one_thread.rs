// expect: E0277
use std::{cell::Cell, rc::Rc};

pub fn wrong() {
    let n = Rc::new(Cell::new(0));
    let _ = inlay::QueueOptions::default().wake(move || n.set(n.get() + 1));
}
