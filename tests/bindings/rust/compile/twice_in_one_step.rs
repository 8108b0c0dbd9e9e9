// expect: E0499
pub fn wrong(session: &mut inlay::Session) {
    let _ = inlay::decode_step([&mut *session, &mut *session]);
}
