//! With the feature `link`: says where the library is. INLAY_LIB_DIR names its folder, for Windows that of its import library;
//! else pkg-config is asked; else the linker's own folders have to hold it.
use std::env;
use std::path::Path;
use std::process::{exit, Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=INLAY_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if env::var_os("CARGO_FEATURE_LINK").is_none() {
        return;
    }
    let folders = match env::var("INLAY_LIB_DIR") {
        Ok(folder) => {
            expect_import_library(&folder);
            vec![folder]
        }
        Err(_) => folders_of_pkg_config(),
    };
    if let Some(folder) = folders.first() {
        // For the build script of a program that depends on this package: its environment has it as DEP_INLAY_LIB_DIR.
        println!("cargo::metadata=lib_dir={folder}");
    }
    for folder in folders {
        println!("cargo:rustc-link-search=native={folder}");
        // For this package's own tests and examples: cargo passes no such argument on to a program that depends on it.
        if env::var("CARGO_CFG_UNIX").is_ok() {
            println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
        }
    }
}

/// For Windows: ends the build unless the folder holds what this target's linker takes for the library.
fn expect_import_library(folder: &str) {
    let Ok(system) = env::var("CARGO_CFG_WINDOWS").and_then(|_| env::var("CARGO_CFG_TARGET_ENV")) else {
        return;
    };
    let names: &[&str] = if system == "msvc" { &["inlay.lib"] } else { &["libinlay.dll.a", "inlay.lib"] };
    if !names.iter().any(|name| Path::new(folder).join(name).is_file()) {
        let names = names.join(" or ");
        eprintln!("INLAY_LIB_DIR is {folder}: it has no {names}, the import library of libinlay.dll");
        exit(1);
    }
}

/// The folders of `-L` in what pkg-config says; none if it is not there or knows no Inlay.
fn folders_of_pkg_config() -> Vec<String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    match Command::new(program).args(["--libs-only-L", "--keep-system-libs", "inlay"]).output() {
        Ok(done) if done.status.success() => String::from_utf8_lossy(&done.stdout)
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("-L"))
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}
