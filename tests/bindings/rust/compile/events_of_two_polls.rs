// expect: E0502
pub fn wrong(queue: &inlay::Queue, events: &mut inlay::RequestEvents) {
    let first = events.get(0).unwrap();
    let _ = queue.poll(events);
    println!("{}", first.text);
}
