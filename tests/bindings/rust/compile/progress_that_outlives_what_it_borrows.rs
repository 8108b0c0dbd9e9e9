// expect: E0597
use std::ops::ControlFlow;

pub fn wrong() -> inlay::Result<inlay::Engine> {
    let options;
    {
        let mut n = 0;
        let progress = |_, _| {
            n += 1;
            ControlFlow::Continue(())
        };
        options = inlay::LoadOptions::default().progress(progress);
    }
    inlay::Engine::load("model", options)
}
