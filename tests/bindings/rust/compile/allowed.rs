// expect: nothing
use inlay::{
    decode_step, Answer, CancelHandle, Constraint, Engine, Error, Generation, LoadOptions, OwnedGeneration, Queue, RequestEvents,
    Session, WholeAnswer,
};
use std::ops::ControlFlow;

fn any_thread<T: Send + Sync + Clone>() {}
fn shared_for_ever<T: Send + Sync + 'static>() {}
fn sent<T: Send>() {}
fn sent_for_ever<T: Send + 'static>() {}
fn an_error<T: std::error::Error + Send + Sync + 'static>() {}

pub fn classes() {
    any_thread::<Engine>();
    any_thread::<CancelHandle>();
    any_thread::<Constraint>();
    shared_for_ever::<Constraint>();
    shared_for_ever::<Queue>();
    shared_for_ever::<RequestEvents>();
    sent::<Session>();
    sent::<Generation<'_>>();
    sent_for_ever::<OwnedGeneration>();
    sent_for_ever::<Answer>();
    sent_for_ever::<WholeAnswer>();
    an_error::<Error>();
}

pub fn uses(engine: &Engine, session: &mut Session, mut other: Session) -> inlay::Result<()> {
    let mut n = 0;
    let progress = |_, _| {
        n += 1;
        ControlFlow::Continue(())
    };
    let bytes = vec![0; 100];
    let loaded = Engine::load_memory(&bytes, LoadOptions::default().progress(progress))?;
    drop(bytes);
    let handle = session.cancel_handle();
    let generation = session.events();
    handle.cancel();
    engine.stats()?;
    for event in generation {
        println!("{}", event?.text);
    }
    decode_step([&mut *session, &mut other])?;
    std::thread::scope(|scope| {
        scope.spawn(|| session.decode_step());
        scope.spawn(|| other.decode_step());
        scope.spawn(|| engine.stats());
    });
    std::thread::spawn(move || drop((other, loaded)));
    println!("{n}");
    Ok(())
}
