// expect: E0382
pub fn wrong(session: inlay::Session) {
    drop(session);
    let _ = session.info();
}
