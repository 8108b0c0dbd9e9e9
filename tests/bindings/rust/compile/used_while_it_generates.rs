// expect: E0499
pub fn wrong(session: &mut inlay::Session) -> inlay::Result<()> {
    for event in session.events() {
        session.truncate(event?.text.len())?;
    }
    Ok(())
}
