use crate::callbacks::{OwnedSink, Progress};
use crate::error::{call, read_string};
use crate::info::{DeviceInfo, Explanation, MemoryInfo};
use crate::{raw, ConvertOptions, ConvertType, Engine, Error, LoadOptions, ProgressFn, Result, Status};
use std::ffi::CStr;
use std::io::{Read, Seek};
use std::path::Path;

/// Room for an explanation at the first try: it takes a while to make.
const EXPLANATION_BYTES: usize = 16 * 1024;

/// The Inlay library as this process has it: linked, or opened at run time. Opened ones stay loaded until the process ends.
///
/// [`Engine::load`] and the like use the [usual one](Self::get); a program that brings the library along opens it by
/// its path and loads models through it.
#[derive(Clone, Copy)]
pub struct Library {
    functions: &'static raw::Functions,
}

impl Library {
    /// The library that the program is linked with, if it is (feature `link`); else as `find` does.
    ///
    /// ```
    /// # use inlay::*;
    /// println!("Inlay {}", Library::get()?.version());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library, or none that this crate can use.
    pub fn get() -> Result<Self> {
        #[cfg(feature = "link")]
        return Ok(Self::linked());
        #[cfg(not(feature = "link"))]
        Self::find()
    }

    /// The library that the program is linked with.
    ///
    /// ```no_run
    /// println!("Inlay {}", inlay::Library::linked().version());
    /// ```
    #[cfg(feature = "link")]
    pub fn linked() -> Self {
        static LINKED: raw::Functions = raw::Functions::linked();
        Self { functions: &LINKED }
    }

    /// Opens the library that the environment variable `INLAY_LIBRARY` names; without it, the one that the system finds by
    /// its usual names. The error lists what was tried.
    ///
    /// ```
    /// # use inlay::*;
    /// println!("Inlay {}", Library::find()?.version());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is none, or none that this crate can use.
    #[cfg(feature = "dlopen")]
    pub fn find() -> Result<Self> {
        crate::dlopen::find().map(|functions| Self { functions })
    }

    /// Opens a library file.
    ///
    /// ```no_run
    /// # use inlay::*;
    /// // SAFETY: the program brings this file along.
    /// let library = unsafe { Library::open("lib/libinlay.so.1")? };
    /// let engine = library.load("model.gguf", LoadOptions::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Safety
    /// The file must be an Inlay library or not be one that can be opened: what the system runs when it loads a file, and
    /// functions of the right name, are believed.
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) with [`Status::NotFound`], [`Status::Format`] or [`Status::Unsupported`]:
    /// the file cannot be loaded, is no Inlay library, or has another ABI.
    #[cfg(feature = "dlopen")]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { crate::dlopen::open(path.as_ref().as_os_str()) }.map(|functions| Self { functions })
    }

    /// All functions of the C API, for what this crate does not wrap.
    ///
    /// ```
    /// # use inlay::*;
    /// let functions = Library::get()?.functions();
    /// // SAFETY: no arguments.
    /// assert!(unsafe { (functions.inlay_device_count)() } > 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn functions(self) -> &'static raw::Functions {
        self.functions
    }

    #[cfg(test)]
    pub(crate) fn of(functions: &'static raw::Functions) -> Self {
        Self { functions }
    }

    /// The library's version, such as 0.1.0.
    ///
    /// ```
    /// # use inlay::*;
    /// assert!(Library::get()?.version().contains('.'));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn version(self) -> String {
        // SAFETY: no arguments; the text is static.
        unsafe { text((self.functions.inlay_version_string)()) }
    }

    /// The ABI that the library offers: major and minor version.
    ///
    /// ```
    /// # use inlay::*;
    /// let (major, minor) = Library::get()?.abi_version();
    /// assert_eq!(major, 1);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn abi_version(self) -> (u32, u32) {
        // SAFETY: no arguments.
        let version = unsafe { (self.functions.inlay_abi_version)() };
        (version >> 16, version & 0xffff)
    }

    /// A status as the C header writes it, without the prefix; UNKNOWN if this library has no such number.
    ///
    /// ```
    /// # use inlay::*;
    /// assert_eq!(Library::get()?.status_name(Status::KvFull), "KV_FULL");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn status_name(self, status: Status) -> String {
        // SAFETY: any number is allowed; the text is static.
        unsafe { text((self.functions.inlay_status_name)(status.to_raw())) }
    }

    /// The devices that can run a model; the first one is the processor.
    ///
    /// ```
    /// # use inlay::*;
    /// for device in Library::get()?.devices()? {
    ///     println!("{}: {} bytes free", device.name, device.free_bytes);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn devices(self) -> Result<Vec<DeviceInfo>> {
        // SAFETY: no arguments.
        let n = unsafe { (self.functions.inlay_device_count)() };
        let one = |index| {
            let mut info = raw::inlay_device_info::default();
            // SAFETY: the struct is ours and says its size.
            call(|err| unsafe { (self.functions.inlay_device_get)(index, &mut info, err) })?;
            Ok(DeviceInfo::from_raw(&info))
        };
        (0..n).map(one).collect()
    }

    /// Loads a model file: GGUF, of which a split one is named by its first file.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let engine = Library::get()?.load(model, LoadOptions::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::NotFound`], [`Status::Io`], [`Status::Format`], [`Status::Unsupported`], [`Status::OutOfMemory`],
    /// [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or [`Status::Cancelled`].
    pub fn load(self, path: impl AsRef<Path>, options: LoadOptions<'_>) -> Result<Engine> {
        let path = utf8(path.as_ref())?;
        Engine::make(self, options, |params, engine, err| {
            // SAFETY: path and parameters live during the call.
            unsafe { (self.functions.inlay_load)(path.as_ptr().cast(), path.len(), params, engine, err) }
        })
    }

    /// Loads a model that lies in memory, which is not needed afterwards.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let bytes = std::fs::read(model).unwrap();
    /// let engine = Library::get()?.load_memory(&bytes, LoadOptions::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Format`], [`Status::Unsupported`], [`Status::OutOfMemory`], [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or
    /// [`Status::Cancelled`].
    pub fn load_memory(self, model: &[u8], options: LoadOptions<'_>) -> Result<Engine> {
        Engine::make(self, options, |params, engine, err| {
            // SAFETY: the bytes and parameters live during the call.
            unsafe { (self.functions.inlay_load_memory)(model.as_ptr().cast(), model.len(), params, engine, err) }
        })
    }

    /// Loads a model from a reader: an archive, an asset pack, a decrypting reader. It is not needed afterwards.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let file = std::fs::File::open(model).unwrap();
    /// let engine = Library::get()?.load_reader(file, LoadOptions::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Reader`](crate::ErrorKind::Reader), of which the source is the reader's error; [`Status::Format`],
    /// [`Status::Unsupported`], [`Status::OutOfMemory`], [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or
    /// [`Status::Cancelled`].
    pub fn load_reader(self, reader: impl Read + Seek, options: LoadOptions<'_>) -> Result<Engine> {
        let mut reader = crate::callbacks::Reader::new(reader)?;
        let loaded = Engine::make(self, options, |params, engine, err| {
            let described = reader.describe();
            // SAFETY: reader and parameters live during the call, and nothing else uses the reader.
            unsafe { (self.functions.inlay_load_reader)(&described, params, engine, err) }
        });
        reader.end(loaded)
    }

    /// What a load of this file would need, from its header alone.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let plan = Library::get()?.memory_plan(model, &LoadOptions::default())?;
    /// assert!(plan.total_bytes >= plan.weight_bytes);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::NotFound`], [`Status::Io`], [`Status::Format`], [`Status::Unsupported`] or [`Status::NoDevice`].
    pub fn memory_plan(self, path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<MemoryInfo> {
        let path = utf8(path.as_ref())?;
        let params = options.to_raw();
        let mut info = raw::inlay_memory_info::default();
        call(|err| {
            // SAFETY: path, parameters and the struct for the result live during the call.
            unsafe { (self.functions.inlay_memory_plan)(path.as_ptr().cast(), path.len(), &params, &mut info, err) }
        })?;
        Ok(MemoryInfo::from_raw(&info))
    }

    /// Says what a model is, from its files' headers alone: family, features, types of its tensors, which devices would run it
    /// and why others would not, and the memory that contexts of several lengths take.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// println!("{}", Library::get()?.explain(model, &LoadOptions::default())?.text);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::NotFound`], [`Status::Io`], [`Status::Format`] or [`Status::Unsupported`].
    pub fn explain(self, path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<Explanation> {
        self.explanation(path.as_ref(), options, raw::INLAY_EXPLAIN_TEXT)
    }

    /// The facts of [`explain`](Self::explain), as one JSON object.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// println!("{}", Library::get()?.explain_json(model, &LoadOptions::default())?.text);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`explain`](Self::explain).
    pub fn explain_json(self, path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<Explanation> {
        self.explanation(path.as_ref(), options, raw::INLAY_EXPLAIN_JSON)
    }

    fn explanation(self, path: &Path, options: &LoadOptions<'_>, form: i32) -> Result<Explanation> {
        let path = utf8(path)?;
        let params = options.to_raw();
        let (name, n_name, mut n_devices) = (path.as_ptr().cast(), path.len(), 0);
        let text = read_string(EXPLANATION_BYTES, |buf, cap, needed, err| {
            let explain = self.functions.inlay_explain;
            // SAFETY: path and parameters live during the call; the buffer has room for `cap` bytes.
            unsafe { explain(name, n_name, &params, form, &mut n_devices, buf.cast(), cap, needed, err) }
        })?;
        Ok(Explanation { n_devices: u32::try_from(n_devices).unwrap_or(0), text })
    }

    /// Writes a model as a GGUF file with matrices of another type. The source is a GGUF file or a Hugging Face folder.
    /// The progress function is told the bytes of the source that are done, and all.
    ///
    /// ```no_run
    /// # use inlay::*;
    /// Library::get()?.convert("folder", "model.gguf", ConvertType::F16, None)?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::NotFound`], [`Status::Io`], [`Status::Format`], [`Status::Unsupported`] or [`Status::Cancelled`].
    pub fn convert(
        self,
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        convert_type: ConvertType,
        progress: Option<ProgressFn<'_>>,
    ) -> Result<()> {
        self.convert_with(source, target, ConvertOptions { convert_type, progress, ..Default::default() })
    }

    /// As [`Library::convert`], with all options.
    ///
    /// ```no_run
    /// # use inlay::*;
    /// let options = ConvertOptions::default().convert_type(ConvertType::Q6K);
    /// Library::get()?.convert_with("folder", "model.gguf", options)?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::NotFound`], [`Status::Io`], [`Status::Format`], [`Status::Unsupported`] or [`Status::Cancelled`].
    pub fn convert_with(
        self,
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        options: ConvertOptions<'_>,
    ) -> Result<()> {
        let (source, target) = (utf8(source.as_ref())?, utf8(target.as_ref())?);
        let mut params = options.to_raw();
        let sink = options.log.map(OwnedSink::new);
        if let Some(sink) = &sink {
            sink.install_in_conversion(&mut params);
        }
        let mut progress = options.progress.map(Progress::new);
        if let Some(progress) = &mut progress {
            progress.install_in_conversion(&mut params);
        }
        let (from, from_len, to, to_len) = (source.as_ptr().cast(), source.len(), target.as_ptr().cast(), target.len());
        // SAFETY: paths, parameters, sink and progress function live during the call.
        let converted = call(|err| unsafe { (self.functions.inlay_convert)(from, from_len, to, to_len, &params, err) });
        if let Some(progress) = progress {
            progress.resume_panic();
        }
        converted
    }
}

impl PartialEq for Library {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.functions, other.functions)
    }
}

impl Eq for Library {}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Library({})", self.version())
    }
}

/// # Safety
/// `text` must be a text that a zero ends.
unsafe fn text(text: *const std::ffi::c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str()
        .ok_or_else(|| Error::new(Status::InvalidArgument, format!("the path {} is not UTF-8", path.display())))
}
