//! Libraries that are not there, are none of Inlay's, or are older.
#![cfg(feature = "dlopen")]

use inlay::{raw, ErrorKind, Library, Status};
use std::ffi::c_void;
use std::ptr;

fn open(path: &str) -> inlay::Result<Library> {
    // SAFETY: the tests name no file that does anything when it is loaded.
    unsafe { Library::open(path) }
}

#[test]
fn a_missing_library_is_named() {
    let error = open("no/such/libinlay.so").unwrap_err();
    assert_eq!((error.status(), error.kind()), (Status::NotFound, ErrorKind::Library));
    assert!(error.message().contains("cannot load no/such/libinlay.so"), "{error}");
    assert_eq!(open("with\0zero").unwrap_err().status(), Status::NotFound);
}

#[cfg(any(target_os = "linux", windows))]
#[test]
fn another_library_is_refused() {
    let other = if cfg!(windows) { "ws2_32.dll" } else { "libm.so.6" };
    let error = open(other).unwrap_err();
    assert_eq!((error.status(), error.kind()), (Status::Format, ErrorKind::Library));
    assert!(error.message().contains(&format!("{other} is not an Inlay library")), "{error}");
}

#[test]
fn an_opened_library_is_opened_once() {
    let Some(path) = std::env::var_os("INLAY_LIBRARY") else {
        return; // then the other tests find it by its name
    };
    let path = path.to_str().unwrap();
    assert_eq!(open(path).unwrap(), open(path).unwrap());
}

/// What lies where a function should be that the test does not call.
const NEVER_CALLED: *mut c_void = ptr::NonNull::<c_void>::dangling().as_ptr();

#[test]
fn later_functions_that_an_older_library_lacks_report_it() {
    let of_version_1_0 = |name: &std::ffi::CStr| match name.to_str() {
        Ok("inlay_profile_step" | "inlay_profile_text" | "inlay_compare_text") => ptr::null_mut(),
        _ => NEVER_CALLED,
    };
    // SAFETY: none of the functions that lie nowhere is called.
    let functions = unsafe { raw::Functions::resolve(0, of_version_1_0) }.unwrap();
    let mut error = raw::inlay_error::default();
    // SAFETY: the function that stands in looks at the error alone.
    let status = unsafe { (functions.inlay_profile_step)(ptr::null(), ptr::null(), &mut error) };
    assert_eq!((status, error.status), (raw::INLAY_UNSUPPORTED, raw::INLAY_UNSUPPORTED));
    let message: String = error.message[..error.message_len as usize].iter().map(|&c| c as u8 as char).collect();
    assert!(message.contains("inlay_profile_step") && message.contains("1.1"), "{message}");
    // SAFETY: as above; an error that is null is not written.
    let status = unsafe { (functions.inlay_profile_step)(ptr::null(), ptr::null(), ptr::null_mut()) };
    assert_eq!(status, raw::INLAY_UNSUPPORTED);
}

#[test]
fn a_function_of_the_librarys_own_version_must_be_there() {
    for absent in ["inlay_load", "inlay_log_read", "inlay_profile_step"] {
        let all_but_one =
            |name: &std::ffi::CStr| if name.to_str() == Ok(absent) { ptr::null_mut() } else { NEVER_CALLED };
        // SAFETY: none of the functions is called.
        assert_eq!(unsafe { raw::Functions::resolve(raw::INLAY_ABI_MINOR, all_but_one) }.err(), Some(absent));
    }
}
