// expect: E0277
fn sent<T: Send>() {}

pub fn wrong() {
    sent::<inlay::raw::inlay_session>();
}
