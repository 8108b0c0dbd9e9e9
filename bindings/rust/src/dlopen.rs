//! Opens the library at run time with the system's own functions.
use crate::{raw, Error, Result, Status};
use std::env;
use std::ffi::{c_void, CStr, OsStr};
use std::sync::Mutex;

#[cfg(windows)]
const NAMES: [&str; 1] = ["libinlay.dll"];
#[cfg(target_vendor = "apple")]
const NAMES: [&str; 2] = ["libinlay.1.dylib", "libinlay.dylib"];
#[cfg(not(any(windows, target_vendor = "apple")))]
const NAMES: [&str; 2] = ["libinlay.so.1", "libinlay.so"];

/// Libraries opened so far, by the system's handle, as a number. The system gives the same handle for the same file.
static OPENED: Mutex<Vec<(usize, &'static raw::Functions)>> = Mutex::new(Vec::new());

pub(crate) fn find() -> Result<&'static raw::Functions> {
    if let Some(path) = env::var_os("INLAY_LIBRARY").filter(|path| !path.is_empty()) {
        // SAFETY: who sets the environment of a process already decides which code it runs.
        return unsafe { open(&path) }.map_err(|error| {
            Error::of_library(
                error.status(),
                format!("INLAY_LIBRARY is {}: {}", path.to_string_lossy(), error.message()),
            )
        });
    }
    let mut tried = vec!["the environment variable INLAY_LIBRARY is not set".to_owned()];
    for name in NAMES {
        // SAFETY: the system's folders hold what the names say.
        match unsafe { open(OsStr::new(name)) } {
            Ok(functions) => return Ok(functions),
            Err(error) => tried.push(error.message().to_owned()),
        }
    }
    Err(Error::of_library(Status::NotFound, format!("no Inlay library: {}", tried.join("; "))))
}

/// # Safety
/// As of [`Library::open`](crate::Library::open).
pub(crate) unsafe fn open(path: &OsStr) -> Result<&'static raw::Functions> {
    let shown = path.to_string_lossy();
    // SAFETY: the caller's promise.
    let handle = unsafe { system::open(path) }
        .map_err(|reason| Error::of_library(Status::NotFound, format!("cannot load {shown}: {reason}")))?;
    let mut opened = OPENED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some((_, functions)) = opened.iter().find(|(known, _)| *known == handle as usize) {
        return Ok(functions);
    }
    // SAFETY: the caller's promise. The library is never closed from here on if this succeeds.
    match unsafe { resolve(handle, &shown) } {
        Ok(functions) => {
            let functions: &'static raw::Functions = Box::leak(Box::new(functions));
            opened.push((handle as usize, functions));
            Ok(functions)
        }
        Err(error) => {
            // SAFETY: nothing of the library is in use.
            unsafe { system::close(handle) };
            Err(error)
        }
    }
}

/// # Safety
/// As of [`Library::open`](crate::Library::open), and `handle` must be one of an open library.
unsafe fn resolve(handle: *mut c_void, shown: &str) -> Result<raw::Functions> {
    let symbol = |name: &CStr| {
        // SAFETY: the library is open.
        unsafe { system::symbol(handle, name) }
    };
    let version = symbol(c"inlay_abi_version");
    if version.is_null() {
        return Err(Error::of_library(Status::Format, format!("{shown} is not an Inlay library")));
    }
    // SAFETY: the function of this name has had this type in every version.
    let version = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> u32>(version)() };
    let (major, minor) = (version >> 16, version & 0xffff);
    if major != raw::INLAY_ABI_MAJOR {
        let message = format!("{shown} offers ABI {major}.{minor}, the program needs {}.x", raw::INLAY_ABI_MAJOR);
        return Err(Error::of_library(Status::Unsupported, message));
    }
    // SAFETY: within a major version the functions have the types of this crate.
    unsafe { raw::Functions::resolve(minor, symbol) }
        .map_err(|name| Error::of_library(Status::Format, format!("{shown} lacks the function {name}")))
}

#[cfg(unix)]
mod system {
    use std::ffi::{c_char, c_int, c_void, CStr, CString, OsStr};
    use std::os::unix::ffi::OsStrExt;

    #[cfg_attr(any(target_os = "linux", target_os = "android"), link(name = "dl"))]
    unsafe extern "C" {
        fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
        fn dlclose(library: *mut c_void) -> c_int;
        fn dlerror() -> *const c_char;
    }

    /// The same on Linux and on Apple's systems; local symbols are what neither needs a flag for on Linux.
    const RTLD_NOW: c_int = 2;
    #[cfg(target_vendor = "apple")]
    const RTLD_LOCAL: c_int = 4;
    #[cfg(not(target_vendor = "apple"))]
    const RTLD_LOCAL: c_int = 0;

    pub(super) unsafe fn open(path: &OsStr) -> Result<*mut c_void, String> {
        let path = CString::new(path.as_bytes()).map_err(|_| "the path holds a zero".to_owned())?;
        // SAFETY: the path is ended by a zero; the caller promises that the file may be loaded.
        let handle = unsafe { dlopen(path.as_ptr(), RTLD_NOW | RTLD_LOCAL) };
        if !handle.is_null() {
            return Ok(handle);
        }
        // SAFETY: the text is this thread's until its next call of the loader.
        unsafe {
            let reason = dlerror();
            Err(if reason.is_null() {
                "unknown reason".into()
            } else {
                CStr::from_ptr(reason).to_string_lossy().into()
            })
        }
    }

    pub(super) unsafe fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: the caller promises that the library is open.
        unsafe { dlsym(handle, name.as_ptr()) }
    }

    pub(super) unsafe fn close(handle: *mut c_void) {
        // SAFETY: the caller promises that the library is open and nothing of it is in use.
        unsafe { dlclose(handle) };
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::{c_char, c_void, CStr, OsStr};
    use std::os::windows::ffi::OsStrExt;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn LoadLibraryW(path: *const u16) -> *mut c_void;
        fn GetProcAddress(library: *mut c_void, name: *const c_char) -> *mut c_void;
        fn FreeLibrary(library: *mut c_void) -> i32;
    }

    pub(super) unsafe fn open(path: &OsStr) -> Result<*mut c_void, String> {
        let wide: Vec<u16> = path.encode_wide().chain([0]).collect();
        if wide[..wide.len() - 1].contains(&0) {
            return Err("the path holds a zero".to_owned());
        }
        // SAFETY: the path is ended by a zero; the caller promises that the file may be loaded.
        let handle = unsafe { LoadLibraryW(wide.as_ptr()) };
        if handle.is_null() {
            return Err(std::io::Error::last_os_error().to_string());
        }
        Ok(handle)
    }

    pub(super) unsafe fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: the caller promises that the library is open.
        unsafe { GetProcAddress(handle, name.as_ptr()) }
    }

    pub(super) unsafe fn close(handle: *mut c_void) {
        // SAFETY: the caller promises that the library is open and nothing of it is in use.
        unsafe { FreeLibrary(handle) };
    }
}
