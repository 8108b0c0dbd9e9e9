// expect: E0277
fn shared<T: Sync>() {}

pub fn wrong() {
    shared::<inlay::Session>();
}
