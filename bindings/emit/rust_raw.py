"""bindings/rust/src/raw.rs: the C API as Rust sees it."""

from api_model import Api, Enum, Function, Struct
from emit import rust_types as rust

HEAD = """\
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
//! The C API as it is: types, constants and functions under their C names, for what the safe layer does not say.
//!
//! Rules that hold for every function:
//! - One that can fail returns an [`inlay_status`] and describes the failure in `err`, which may be null. Any of them may
//!   return `INLAY_INVALID_ARGUMENT`, `INLAY_OUT_OF_MEMORY` or `INLAY_INTERNAL` besides the errors that it names.
//! - Thread: `any` may be called from any thread at any time; `exclusive(x)` while no other call uses x, apart from those
//!   of class `any`. A second call on a session returns `INLAY_BUSY` and changes nothing. No state belongs to a thread.
//! - In a child of `fork()`, calls on handles that the parent made return `INLAY_INVALID_STATE`, and freeing does nothing.
//! - A struct with a `struct_size` begins as its `Default`, which is all zero with the size set. Zero is every field's default.
//! - Text in: UTF-8 with a length, `usize::MAX` if a zero ends it. Text out: the caller's buffer; a null buffer of size 0
//!   asks for the needed size. Lengths never count the zero.
//! - Only handles have to be freed, in any order.
#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_void, CStr};
use core::marker::{PhantomData, PhantomPinned};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("Inlay supports 64-bit targets only");
"""

RESOLVE = """\
/// Makes a pointer to a function of its address.
///
/// # Safety
/// `F` must be the type of a pointer to the function that lies there.
unsafe fn function_at<F: Copy>(address: *mut c_void) -> F {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the sizes are the same; the caller promises the rest.
    unsafe { core::mem::transmute_copy(&address) }
}

/// Stands in for a function that an older library does not have.
///
/// # Safety
/// `err` is null or may be written.
unsafe fn absent(err: *mut inlay_error, message: &str) -> inlay_status {
    if !err.is_null() {
        let mut out = inlay_error { status: INLAY_UNSUPPORTED, message_len: message.len() as u32, ..Default::default() };
        for (to, from) in out.message.iter_mut().zip(message.bytes()) {
            *to = from as c_char;
        }
        // SAFETY: not null, and the caller promises the rest.
        unsafe { err.write(out) };
    }
    INLAY_UNSUPPORTED
}
"""


def emit(api: Api) -> str:
    out = [HEAD, "/// Major version of the ABI that this file describes.", f"pub const INLAY_ABI_MAJOR: u32 = {api.major};",
           "/// Minor version of the ABI that this file describes.", f"pub const INLAY_ABI_MINOR: u32 = {api.minor};"]
    for c in api.constants:
        out += [*rust.doc(rust.markdown(api, c.doc)), f"pub const {c.name}: usize = {c.value};"]
    for e in api.enums:
        out += ["", *enum_lines(api, e)]
    for h in api.handles:
        out += ["", *rust.doc(rust.markdown(api, h.doc)), "#[derive(Debug)]", "#[repr(C)]", f"pub struct {h.name} {{", "    _opaque: [u8; 0],",
                "    _neither_send_nor_sync: PhantomData<(*mut u8, PhantomPinned)>,", "}"]
    for c in api.callbacks:
        out += ["", *rust.doc(rust.markdown(api, c.doc)), f"pub type {c.name} = {rust.pointer_type(api, c)};"]
    for s in api.structs:
        out += ["", *struct_lines(api, s)]
    return "\n".join([*out, "", *table_lines(api), "", *extern_lines(api), "", *resolve_lines(api)]) + "\n"


def enum_lines(api: Api, e: Enum) -> list[str]:
    out = [*rust.doc(rust.markdown(api, e.doc)), f"pub type {e.name} = {'u32' if e.flags else 'i32'};"]
    for v in e.values:
        out += [*rust.doc(rust.markdown(api, v.doc)), f"pub const {e.prefix}{v.name}: {e.name} = {v.value};"]
    return out


def struct_lines(api: Api, s: Struct) -> list[str]:
    out = [*rust.doc(rust.markdown(api, s.doc)), "#[derive(Clone, Copy, Debug)]", "#[repr(C)]", f"pub struct {s.name} {{"]
    for f in s.fields:
        notes = f.notes()
        out += rust.doc(rust.markdown(api, f.doc + (f" ({notes})" if notes else "")), "    ")
        out.append(f"    pub {rust.identifier(f.name)}: {rust.field_type(api, f)},")
    out += ["}", "", f"impl Default for {s.name} {{"]
    zeroed = "unsafe { core::mem::zeroed() }"
    safety = "        // SAFETY: numbers, null pointers and absent callbacks are all zero bits."
    if s.growth == "sized":
        out += ["    /// All zero, with `struct_size` set.", "    fn default() -> Self {", safety,
                f"        Self {{ struct_size: size_of::<Self>() as u32, ..{zeroed} }}"]
    else:
        out += ["    /// All zero.", "    fn default() -> Self {", safety, f"        {zeroed}"]
    return [*out, "    }", "}"]


def doc_lines(api: Api, f: Function) -> list[str]:
    blocks = f.blocks + ("; takes device memory" if f.device_memory else "")
    labels = [("Thread", f.thread), ("Blocks", blocks), ("Ownership", f.ownership)]
    if f.fallible():
        labels += [("On error", f.on_error), ("Errors", ", ".join(f.errors) or "only the common ones")]
    labels.append(("Since", f.since))
    out = [*rust.doc(rust.markdown(api, f.doc), "    "), "    ///"]
    for label, text in labels:
        out += rust.doc(f"- {label}: {rust.markdown(api, text.rstrip('.'))}.", "    ")
    parameters = [p for p in f.params if p.doc]
    if parameters:
        out += ["    ///", "    /// Parameters:"]
    for p in parameters:
        notes = ", ".join(filter(None, [p.unit, "may be null" if p.nullable else ""]))
        out += rust.doc(f"- `{p.name}`: {rust.markdown(api, p.doc)}" + (f" ({notes})" if notes else ""), "    ")
    return out


def table_lines(api: Api) -> list[str]:
    out = ["/// Every function of the library, wherever it was found.", "///",
           "/// All of them are unsafe to call: pointers must be valid for what the function does with them, and the thread class",
           "/// must be kept.", "#[derive(Clone, Copy, Debug)]", "#[non_exhaustive]", "pub struct Functions {"]
    for f in api.functions:
        out += [*doc_lines(api, f), f"    pub {f.name}: {rust.pointer_type(api, f)},"]
    names = "".join(f'    "{f.name}",\n' for f in api.functions)
    return [*out, "}", "", "/// Names of all functions, in the header's order.",
            f"pub const FUNCTION_NAMES: [&str; {len(api.functions)}] = [\n{names}];"]


def extern_lines(api: Api) -> list[str]:
    out = ['#[cfg(feature = "link")]', '#[link(name = "inlay")]', 'unsafe extern "C" {']
    for f in api.functions:
        out += [f"    /// See [`Functions::{f.name}`].", f"    pub fn {f.name}{rust.signature(api, f)};"]
    return [*out, "}"]


def can_be_absent(api: Api, f: Function) -> bool:
    """Later functions report UNSUPPORTED where an older library lacks them, or do nothing if they report nothing."""
    return f.since != f"{api.major}.0" and f.returns in ("status", "void")


def absent_lines(api: Api, f: Function) -> list[str]:
    types = ", ".join("_: " + rust.param_type(api, p) for p in f.params)
    if not f.fallible():
        return [f'unsafe extern "C" fn absent_{f.name}({types}) {{}}', ""]
    message = f"the loaded library has no {f.name}, which is since ABI {f.since}"
    return [f'unsafe extern "C" fn absent_{f.name}({types}, err: *mut inlay_error) -> inlay_status {{',
            "    // SAFETY: the caller's promise about `err` is the same.", f'    unsafe {{ absent(err, "{message}") }}', "}", ""]


def resolve_lines(api: Api) -> list[str]:
    out = ["impl Functions {", "    /// The functions of the library that the program is linked with.", '    #[cfg(feature = "link")]',
           "    pub const fn linked() -> Self {", "        Self {", *[f"            {f.name}," for f in api.functions],
           "        }", "    }", "",
           "    /// Looks every function up; `find` gives a function's address, or null. `minor` is the minor version that the library",
           "    /// says it has: a later function that is not there is replaced by one that returns [`INLAY_UNSUPPORTED`], or nothing. That any",
           "    /// other is not there is an error, which is its name.", "    ///",
           "    /// # Safety", "    /// An address that `find` gives must be that of the function with that name, for as long as the table is used.",
           "    pub unsafe fn resolve(minor: u32, mut find: impl FnMut(&CStr) -> *mut c_void) -> Result<Self, &'static str> {",
           "        Ok(Self {"]
    for f in api.functions:
        out.append(f'            {f.name}: match find(c"{f.name}") {{')
        if can_be_absent(api, f):
            minor = f.since.split(".")[1]
            out.append(f"                p if p.is_null() && minor < {minor} => absent_{f.name},")
        out += [f'                p if p.is_null() => return Err("{f.name}"),',
                "                // SAFETY: the caller promises what lies there.", "                p => unsafe { function_at(p) },", "            },"]
    out += ["        })", "    }", "}", ""]
    for f in api.functions:
        if can_be_absent(api, f):
            out += absent_lines(api, f)
    return [*out, RESOLVE.rstrip()]
