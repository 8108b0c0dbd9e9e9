// expect: E0499
pub fn wrong(session: &mut inlay::Session) {
    std::thread::scope(|scope| {
        scope.spawn(|| session.decode_step());
        scope.spawn(|| session.decode_step());
    });
}
