// expect: E0133
pub fn wrong(library: inlay::Library) -> u32 {
    (library.functions().inlay_abi_version)()
}
