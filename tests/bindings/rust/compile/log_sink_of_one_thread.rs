// expect: E0277
use std::{cell::Cell, rc::Rc};

pub fn wrong() {
    let n = Rc::new(Cell::new(0));
    let log = Box::new(move |_, _: &str| n.set(n.get() + 1));
    let _ = inlay::LoadOptions::default().log(log);
}
