//! With the feature `link`: says where the library is. INLAY_LIB_DIR names its folder, for Windows that of its import library;
//! else pkg-config is asked. The build ends here where neither knows it, since the linker's own error says neither name.
use std::env;
use std::path::Path;
use std::process::{exit, Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=INLAY_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if env::var_os("CARGO_FEATURE_LINK").is_none() {
        return;
    }
    let folders = match env::var("INLAY_LIB_DIR") {
        Ok(folder) => {
            expect_library(&folder);
            vec![folder]
        }
        Err(_) => folders_of_pkg_config().unwrap_or_else(|reason| {
            fail(&format!(
                "the feature `link` needs the Inlay library: INLAY_LIB_DIR is not set, which names the folder that it lies in, and {reason}"
            ))
        }),
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

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(1);
}

/// Ends the build unless the folder holds what this target's linker takes for the library.
fn expect_library(folder: &str) {
    let of = |name: &str| env::var(name).unwrap_or_default();
    let (names, what): (&[&str], _) = match (of("CARGO_CFG_TARGET_OS").as_str(), of("CARGO_CFG_TARGET_ENV").as_str()) {
        ("windows", "msvc") => (&["inlay.lib"], "import library of libinlay.dll"),
        ("windows", _) => (&["libinlay.dll.a", "inlay.lib"], "import library of libinlay.dll"),
        ("macos", _) => (&["libinlay.dylib"], "library"),
        _ => (&["libinlay.so", "libinlay.a"], "library"),
    };
    if !names.iter().any(|name| Path::new(folder).join(name).is_file()) {
        fail(&format!("INLAY_LIB_DIR is {folder}: it has no {}, the {what}", names.join(" or ")));
    }
}

/// The folders of `-L` in what pkg-config says.
fn folders_of_pkg_config() -> Result<Vec<String>, String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    match Command::new(&program).args(["--libs-only-L", "--keep-system-libs", "inlay"]).output() {
        Ok(done) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout)
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("-L"))
            .map(str::to_owned)
            .collect()),
        Ok(done) => Err(format!("{program} does not know it: {}", String::from_utf8_lossy(&done.stderr).trim())),
        Err(error) => Err(format!("{program} does not run: {error}")),
    }
}
