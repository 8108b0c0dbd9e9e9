// expect: E0515
pub fn wrong(engine: &inlay::Engine) -> inlay::Generation<'static> {
    let mut session = engine.session(&Default::default()).unwrap();
    session.events()
}
