// expect: E0505
pub fn wrong(mut session: inlay::Session) {
    let mut events = session.events();
    drop(session);
    events.next();
}
