// expect: E0277
pub fn wrong(session: &inlay::Session) -> inlay::Session {
    <inlay::Session>::clone(session)
}
