// expect: E0499
pub fn wrong(session: &mut inlay::Session) -> inlay::Result<()> {
    let options = inlay::GenerateOptions::default();
    let mut first = session.generate("Once upon a time", &options)?;
    let mut second = session.generate("Then", &options)?;
    first.next();
    second.next();
    Ok(())
}
