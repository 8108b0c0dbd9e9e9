// expect: E0639
pub fn wrong() -> inlay::TokenizeOptions {
    inlay::TokenizeOptions { no_bos_eos: true, ..Default::default() }
}
