// expect: E0505
pub fn wrong(queue: inlay::Queue) {
    let handle = queue.wait_handle().unwrap();
    drop(queue);
    println!("{}", handle.number());
}
