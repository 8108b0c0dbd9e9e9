use crate::callbacks::{free, Handle, OwnedSink, Progress};
use crate::error::{call, read_string};
use crate::info::{EngineInfo, Explanation, MemoryInfo, Stats};
use crate::waiting::Waiting;
use crate::{
    raw, ConvertOptions, ConvertType, Error, Library, LoadOptions, ProgressFn, Result, Session, SessionOptions, Status,
};
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Room for a text at the first try.
pub(crate) const TEXT_BYTES: usize = 512;
/// Room for a text that takes a computation, which asking for its size would repeat.
pub(crate) const COMPUTED_TEXT_BYTES: usize = 64 * 1024;

/// One model's weights on one device, with the pool of keys and values and the statistics of its sessions.
///
/// A clone is another reference to the same engine. It may be used from any thread; the engine is freed with its last
/// reference, and each session holds one.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    library: Library,
    engine: *mut raw::inlay_engine,
    waiting: Waiting,
    /// Freed behind the engine, which calls it, and behind its queues.
    log: Option<Arc<OwnedSink>>,
}

// SAFETY: all functions that take a const engine may be called from any thread at any time; the last owner alone frees it.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        let (engine, functions, log) = (Handle(self.engine), self.library.functions(), self.log.take());
        free(move || {
            // SAFETY: the engine is ours, and its sessions, which keep this alive, have been freed.
            unsafe { (functions.inlay_free)(engine.get()) }
            drop(log);
        });
    }
}

impl Engine {
    /// Loads a model file: GGUF, of which a split one is named by its first file. Uses the [usual](Library::get) library.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let engine = Engine::load(model, LoadOptions::default().n_context(256).max_sessions(2))?;
    /// assert_eq!(engine.info()?.n_context, 256);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`], [`Status::Unsupported`], [`Status::OutOfMemory`], [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or
    /// [`Status::Cancelled`].
    pub fn load(path: impl AsRef<Path>, options: LoadOptions<'_>) -> Result<Self> {
        Library::get()?.load(path, options)
    }

    /// Loads a model that lies in memory, which is not needed afterwards.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let bytes = std::fs::read(model).unwrap();
    /// let engine = Engine::load_memory(&bytes, LoadOptions::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::Format`], [`Status::Unsupported`],
    /// [`Status::OutOfMemory`], [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or [`Status::Cancelled`].
    pub fn load_memory(model: &[u8], options: LoadOptions<'_>) -> Result<Self> {
        Library::get()?.load_memory(model, options)
    }

    /// Loads a model from a reader: an archive, an asset pack, a decrypting reader. It is not needed afterwards.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let file = std::fs::File::open(model).unwrap();
    /// let engine = Engine::load_reader(file, LoadOptions::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`ErrorKind::Reader`](crate::ErrorKind::Reader),
    /// of which the source is the reader's error; [`Status::Format`], [`Status::Unsupported`], [`Status::OutOfMemory`],
    /// [`Status::DeviceOutOfMemory`], [`Status::NoDevice`] or [`Status::Cancelled`].
    pub fn load_reader(reader: impl Read + Seek, options: LoadOptions<'_>) -> Result<Self> {
        Library::get()?.load_reader(reader, options)
    }

    /// What a load of this file would need, from its header alone.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let plan = Engine::memory_plan(model, &LoadOptions::default())?;
    /// println!("{} of {} bytes", plan.total_bytes, plan.available_bytes);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`], [`Status::Unsupported`] or [`Status::NoDevice`].
    pub fn memory_plan(path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<MemoryInfo> {
        Library::get()?.memory_plan(path, options)
    }

    /// What a model is and which devices would run it, as [`Library::explain`] tells.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let explanation = Engine::explain(model, &LoadOptions::default())?;
    /// assert!(explanation.n_devices > 0, "{}", explanation.text);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`] or [`Status::Unsupported`].
    pub fn explain(path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<Explanation> {
        Library::get()?.explain(path, options)
    }

    /// The same facts as one JSON object, as [`Library::explain_json`] tells.
    ///
    /// ```
    /// # use inlay::*;
    /// # let model = env!("INLAY_TEST_MODEL");
    /// let json = Engine::explain_json(model, &LoadOptions::default())?.text;
    /// assert!(json.starts_with('{'));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`explain`](Self::explain).
    pub fn explain_json(path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<Explanation> {
        Library::get()?.explain_json(path, options)
    }

    /// Writes a model as a GGUF file with matrices of another type, as [`Library::convert`] does.
    ///
    /// ```no_run
    /// # use inlay::*;
    /// Engine::convert("model.gguf", "model-q4_k_m.gguf", ConvertType::Q4KM, None)?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`], [`Status::Unsupported`] or [`Status::Cancelled`].
    pub fn convert(
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        convert_type: ConvertType,
        progress: Option<ProgressFn<'_>>,
    ) -> Result<()> {
        Library::get()?.convert(source, target, convert_type, progress)
    }

    /// As [`Engine::convert`], with all options.
    ///
    /// ```no_run
    /// # use inlay::*;
    /// let options = ConvertOptions::default().convert_type(ConvertType::Q80).log(|_, text| eprintln!("{text}"));
    /// Engine::convert_with("folder", "model.gguf", options)?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Library`](crate::ErrorKind::Library) if there is no library; [`Status::NotFound`], [`Status::Io`],
    /// [`Status::Format`], [`Status::Unsupported`] or [`Status::Cancelled`].
    pub fn convert_with(source: impl AsRef<Path>, target: impl AsRef<Path>, options: ConvertOptions<'_>) -> Result<()> {
        Library::get()?.convert_with(source, target, options)
    }

    /// Loads with one of the functions that do, with the callbacks of the options.
    pub(crate) fn make(
        library: Library,
        options: LoadOptions<'_>,
        load: impl FnOnce(*const raw::inlay_load_params, *mut *mut raw::inlay_engine, *mut raw::inlay_error) -> i32,
    ) -> Result<Self> {
        let mut params = options.to_raw();
        let log = options.log.map(OwnedSink::new).map(Arc::new);
        if let Some(log) = &log {
            log.install(&mut params);
        }
        let mut progress = options.progress.map(Progress::new);
        if let Some(progress) = &mut progress {
            progress.install(&mut params);
        }
        let mut engine = std::ptr::null_mut();
        let loaded = call(|err| load(&params, &mut engine, err))
            .map(|()| Self { shared: Arc::new(Shared { library, engine, waiting: Waiting::default(), log }) });
        if let Some(progress) = progress {
            progress.resume_panic();
        }
        loaded
    }

    /// The library that the engine is of.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// println!("Inlay {}", engine.library().version());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn library(&self) -> Library {
        self.shared.library
    }

    /// What queues keep, too: a call of theirs may go on with the engine, and write to its log, while this is dropped.
    pub(crate) fn log(&self) -> Option<Arc<OwnedSink>> {
        self.shared.log.clone()
    }

    /// Who waits for one of the engine's sessions.
    pub(crate) fn waiting(&self) -> &Waiting {
        &self.shared.waiting
    }

    /// The handle of the C API, for what this crate does not wrap. It is this object's: it must not be freed.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let mut n = 0;
    /// // SAFETY: the engine lives, and the number is ours.
    /// let status = unsafe { (engine.library().functions().inlay_meta_count)(engine.as_ptr(), &mut n, std::ptr::null_mut()) };
    /// assert_eq!(status, raw::INLAY_OK);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn as_ptr(&self) -> *const raw::inlay_engine {
        self.shared.engine
    }

    pub(crate) fn functions(&self) -> &'static raw::Functions {
        self.shared.library.functions()
    }

    /// Makes an empty session.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let session = engine.session(&SessionOptions::default().max_tokens(100))?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::SessionLimit`], [`Status::DeviceOutOfMemory`] or [`Status::DeviceLost`].
    pub fn session(&self, options: &SessionOptions) -> Result<Session> {
        Session::new(self, options)
    }

    /// As [`session`](Self::session), but where all [`max_sessions`](LoadOptions::max_sessions) are in use it blocks until another
    /// thread drops one, behind those that came before; `patience` is the longest that it waits. [`Duration::MAX`] is for ever:
    /// then a thread that waits for a session of its own waits in vain. Sessions that are freed through [`raw`] are not noticed.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let patience = std::time::Duration::from_secs(10);
    /// match engine.wait_for_session(&SessionOptions::default(), patience) {
    ///     Err(error) if error.status() == Status::SessionLimit => println!("too many clients"),
    ///     session => println!("{:?}", session?),
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::SessionLimit`] when the patience is over; the others of [`session`](Self::session), at once.
    pub fn wait_for_session(&self, options: &SessionOptions, patience: Duration) -> Result<Session> {
        let mut limit = None;
        let made = self.waiting().wait(patience, || match self.session(options) {
            Err(error) if error.status() == Status::SessionLimit => {
                limit = Some(error);
                None
            }
            made => Some(made),
        });
        made.unwrap_or_else(|| {
            let message = "all sessions of the engine are in use, and others wait for them";
            Err(limit.unwrap_or_else(|| Error::new(Status::SessionLimit, message)))
        })
    }

    /// Sizes of the model and of what was allocated for it.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let info = engine.info()?;
    /// println!("{} weights, {} tokens of context", info.n_params, info.n_context);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn info(&self) -> Result<EngineInfo> {
        let mut info = raw::inlay_engine_info::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_engine_get_info)(self.as_ptr(), &mut info, err) })?;
        Ok(EngineInfo::from_raw(&info))
    }

    /// What the engine has done so far.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let stats = engine.stats()?;
    /// println!("loaded in {:?}, {} sessions", stats.load_time, stats.n_sessions);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn stats(&self) -> Result<Stats> {
        let mut stats = raw::inlay_stats::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_engine_get_stats)(self.as_ptr(), &mut stats, err) })?;
        Ok(Stats::from_raw(&stats))
    }

    /// Number of the model file's metadata entries.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// assert_eq!(engine.meta_count()?, engine.meta()?.len());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn meta_count(&self) -> Result<usize> {
        let mut n = 0;
        // SAFETY: the number is ours.
        call(|err| unsafe { (self.functions().inlay_meta_count)(self.as_ptr(), &mut n, err) })?;
        Ok(n)
    }

    /// Key of a metadata entry, in the file's order.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// for index in 0..engine.meta_count()? {
    ///     println!("{}", engine.meta_key(index)?);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::NotFound`]. There is no such entry.
    pub fn meta_key(&self, index: usize) -> Result<String> {
        read_string(TEXT_BYTES, |buf, cap, needed, err| {
            // SAFETY: the buffer has room for `cap` bytes.
            unsafe { (self.functions().inlay_meta_key)(self.as_ptr(), index, buf.cast(), cap, needed, err) }
        })
    }

    /// A metadata value as text, such as that of `general.architecture`. An array is written as `[a, b, c]`; a long one is cut
    /// short and says how many elements there are.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// println!("{}", engine.meta_value("general.architecture")?);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::NotFound`]. There is no such key.
    pub fn meta_value(&self, key: &str) -> Result<String> {
        let (key, key_len) = (key.as_ptr().cast(), key.len());
        read_string(TEXT_BYTES, |buf, cap, needed, err| {
            // SAFETY: the key lives during the call; the buffer has room for `cap` bytes.
            unsafe { (self.functions().inlay_meta_value)(self.as_ptr(), key, key_len, buf.cast(), cap, needed, err) }
        })
    }

    /// All metadata of the model file: keys and values, in its order.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// for (key, value) in engine.meta()? {
    ///     println!("{key}: {value}");
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn meta(&self) -> Result<Vec<(String, String)>> {
        let entry = |index| {
            let key = self.meta_key(index)?;
            let value = self.meta_value(&key)?;
            Ok((key, value))
        };
        (0..self.meta_count()?).map(entry).collect()
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Engine({:p})", self.as_ptr())
    }
}
