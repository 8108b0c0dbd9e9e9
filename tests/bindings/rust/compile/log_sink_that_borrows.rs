// expect: E0597
pub fn wrong() -> inlay::Result<inlay::Engine> {
    let text = String::new();
    let borrowed = &text;
    let log = Box::new(move |_, line: &str| assert_ne!(line, borrowed));
    inlay::Engine::load("model", inlay::LoadOptions::default().log(log))
}
