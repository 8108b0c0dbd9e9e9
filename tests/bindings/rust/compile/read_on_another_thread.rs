// expect: E0277
pub fn wrong(session: &inlay::Session) {
    std::thread::scope(|scope| {
        scope.spawn(|| session.info());
    });
}
