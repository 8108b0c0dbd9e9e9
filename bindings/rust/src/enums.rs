// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// The enumerations of the C API as enums of Rust. A number that a later library may give is kept as it is.
use crate::raw;

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Status {
    /// It worked.
    #[default]
    Ok,
    /// An argument is NULL, out of its range, or contradicts another.
    InvalidArgument,
    /// No such file, key, index or message.
    NotFound,
    /// Reading failed; native_code is the system's error number.
    Io,
    /// The model's bytes are damaged or contradict themselves.
    Format,
    /// Well formed, but this build or this model cannot do it.
    Unsupported,
    /// Host memory ran out.
    OutOfMemory,
    /// Device memory, or the budget set for it, is too small.
    DeviceOutOfMemory,
    /// The tokens do not fit into the context; the session is unchanged. A generation that reaches the context's end
    /// is no error: its finish reason is CONTEXT_FULL.
    ContextFull,
    /// The pool that all sessions share has no free block; the session is unchanged. Where some layers have a sliding
    /// window, the message says whose pool.
    KvFull,
    /// The caller's buffer is too small; the needed size was reported.
    BufferTooSmall,
    /// A cancel request or a callback stopped the call.
    Cancelled,
    /// Another thread is using the object now.
    Busy,
    /// The machine or this build has no such device.
    NoDevice,
    /// The device failed; the engine can only be freed.
    DeviceLost,
    /// A fault in the library; the handle can only be freed.
    Internal,
    /// The engine already has max_sessions sessions.
    SessionLimit,
    /// The object cannot do this now, as when a session has finished.
    InvalidState,
    /// The queue holds as many requests as it was made for; poll, then try again.
    QueueFull,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl Status {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_OK => Self::Ok,
            raw::INLAY_INVALID_ARGUMENT => Self::InvalidArgument,
            raw::INLAY_NOT_FOUND => Self::NotFound,
            raw::INLAY_IO => Self::Io,
            raw::INLAY_FORMAT => Self::Format,
            raw::INLAY_UNSUPPORTED => Self::Unsupported,
            raw::INLAY_OUT_OF_MEMORY => Self::OutOfMemory,
            raw::INLAY_DEVICE_OUT_OF_MEMORY => Self::DeviceOutOfMemory,
            raw::INLAY_CONTEXT_FULL => Self::ContextFull,
            raw::INLAY_KV_FULL => Self::KvFull,
            raw::INLAY_BUFFER_TOO_SMALL => Self::BufferTooSmall,
            raw::INLAY_CANCELLED => Self::Cancelled,
            raw::INLAY_BUSY => Self::Busy,
            raw::INLAY_NO_DEVICE => Self::NoDevice,
            raw::INLAY_DEVICE_LOST => Self::DeviceLost,
            raw::INLAY_INTERNAL => Self::Internal,
            raw::INLAY_SESSION_LIMIT => Self::SessionLimit,
            raw::INLAY_INVALID_STATE => Self::InvalidState,
            raw::INLAY_QUEUE_FULL => Self::QueueFull,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Ok => raw::INLAY_OK,
            Self::InvalidArgument => raw::INLAY_INVALID_ARGUMENT,
            Self::NotFound => raw::INLAY_NOT_FOUND,
            Self::Io => raw::INLAY_IO,
            Self::Format => raw::INLAY_FORMAT,
            Self::Unsupported => raw::INLAY_UNSUPPORTED,
            Self::OutOfMemory => raw::INLAY_OUT_OF_MEMORY,
            Self::DeviceOutOfMemory => raw::INLAY_DEVICE_OUT_OF_MEMORY,
            Self::ContextFull => raw::INLAY_CONTEXT_FULL,
            Self::KvFull => raw::INLAY_KV_FULL,
            Self::BufferTooSmall => raw::INLAY_BUFFER_TOO_SMALL,
            Self::Cancelled => raw::INLAY_CANCELLED,
            Self::Busy => raw::INLAY_BUSY,
            Self::NoDevice => raw::INLAY_NO_DEVICE,
            Self::DeviceLost => raw::INLAY_DEVICE_LOST,
            Self::Internal => raw::INLAY_INTERNAL,
            Self::SessionLimit => raw::INLAY_SESSION_LIMIT,
            Self::InvalidState => raw::INLAY_INVALID_STATE,
            Self::QueueFull => raw::INLAY_QUEUE_FULL,
            Self::Other(number) => number,
        }
    }
}

/// Where a model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The fastest device that there is and that the model fits on.
    #[default]
    Auto,
    /// The processor, with the widest instructions that it has.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// The scalar FP32 interpreter on the processor: slow, for checking results.
    Reference,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl DeviceKind {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_DEVICE_AUTO => Self::Auto,
            raw::INLAY_DEVICE_CPU => Self::Cpu,
            raw::INLAY_DEVICE_CUDA => Self::Cuda,
            raw::INLAY_DEVICE_REFERENCE => Self::Reference,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Auto => raw::INLAY_DEVICE_AUTO,
            Self::Cpu => raw::INLAY_DEVICE_CPU,
            Self::Cuda => raw::INLAY_DEVICE_CUDA,
            Self::Reference => raw::INLAY_DEVICE_REFERENCE,
            Self::Other(number) => number,
        }
    }
}

/// Type of the stored keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KvDtype {
    /// The device's own: F32 on REFERENCE, else F16.
    #[default]
    Default,
    /// 2 bytes a value; not on REFERENCE.
    F16,
    /// 4 bytes a value; on REFERENCE only.
    F32,
    /// 1 byte a value (E4M3), and 4 bytes for every token and head; on CUDA only.
    Fp8,
    /// As FP8, with integers: finer for most values, coarser for small ones beside a large one.
    Int8,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl KvDtype {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_KV_DEFAULT => Self::Default,
            raw::INLAY_KV_F16 => Self::F16,
            raw::INLAY_KV_F32 => Self::F32,
            raw::INLAY_KV_FP8 => Self::Fp8,
            raw::INLAY_KV_INT8 => Self::Int8,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Default => raw::INLAY_KV_DEFAULT,
            Self::F16 => raw::INLAY_KV_F16,
            Self::F32 => raw::INLAY_KV_F32,
            Self::Fp8 => raw::INLAY_KV_FP8,
            Self::Int8 => raw::INLAY_KV_INT8,
            Self::Other(number) => number,
        }
    }
}

/// How important a log message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum LogLevel {
    /// As a limit: nothing.
    Off,
    /// As a limit: INFO.
    #[default]
    Default,
    /// Something failed.
    Error,
    /// It works, but probably not as meant.
    Warning,
    /// What was found and chosen.
    Info,
    /// Details for those who look for a fault.
    Debug,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl LogLevel {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_LOG_OFF => Self::Off,
            raw::INLAY_LOG_DEFAULT => Self::Default,
            raw::INLAY_LOG_ERROR => Self::Error,
            raw::INLAY_LOG_WARNING => Self::Warning,
            raw::INLAY_LOG_INFO => Self::Info,
            raw::INLAY_LOG_DEBUG => Self::Debug,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Off => raw::INLAY_LOG_OFF,
            Self::Default => raw::INLAY_LOG_DEFAULT,
            Self::Error => raw::INLAY_LOG_ERROR,
            Self::Warning => raw::INLAY_LOG_WARNING,
            Self::Info => raw::INLAY_LOG_INFO,
            Self::Debug => raw::INLAY_LOG_DEBUG,
            Self::Other(number) => number,
        }
    }
}

/// Why a session stopped generating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// The model drew one of its end tokens.
    EndOfGeneration,
    /// The text reached a stop string; neither it nor anything behind it is part of the text.
    StopString,
    /// max_tokens tokens were drawn, accepted ones included.
    MaxTokens,
    /// `inlay_session_cancel` or `inlay_request_cancel` asked for it, or the engine or the session that it continues
    /// was freed.
    Cancelled,
    /// A stop token was drawn; it is the event's token and in the sequence, but not in the text.
    StopToken,
    /// The context has no room for another token. The event's token is the last one; -1 where a prompt has filled the
    /// context.
    ContextFull,
    /// The request's time was over. Requests alone end so.
    Timeout,
    /// The request failed: the event's status says how. Requests alone end so.
    Error,
    /// The text is whole under its constraint, which allows nothing more, and the model has no token that ends a
    /// text.
    ConstraintEnd,
    /// No token that the constraint allows could follow: a bias bans them all, or tokens were accepted that it does
    /// not allow.
    DeadEnd,
    /// The prompt of a request of kind PREFILL is computed. Requests alone end so.
    Prefilled,
    /// The vector of a request of kind EMBED is there: `inlay_request_take_values` gives it. Requests alone end so.
    Embedded,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl FinishReason {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Option<Self> {
        match number {
            raw::INLAY_FINISH_NONE => None,
            raw::INLAY_FINISH_END_OF_GENERATION => Some(Self::EndOfGeneration),
            raw::INLAY_FINISH_STOP_STRING => Some(Self::StopString),
            raw::INLAY_FINISH_MAX_TOKENS => Some(Self::MaxTokens),
            raw::INLAY_FINISH_CANCELLED => Some(Self::Cancelled),
            raw::INLAY_FINISH_STOP_TOKEN => Some(Self::StopToken),
            raw::INLAY_FINISH_CONTEXT_FULL => Some(Self::ContextFull),
            raw::INLAY_FINISH_TIMEOUT => Some(Self::Timeout),
            raw::INLAY_FINISH_ERROR => Some(Self::Error),
            raw::INLAY_FINISH_CONSTRAINT_END => Some(Self::ConstraintEnd),
            raw::INLAY_FINISH_DEAD_END => Some(Self::DeadEnd),
            raw::INLAY_FINISH_PREFILLED => Some(Self::Prefilled),
            raw::INLAY_FINISH_EMBEDDED => Some(Self::Embedded),
            other => Some(Self::Other(other)),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::EndOfGeneration => raw::INLAY_FINISH_END_OF_GENERATION,
            Self::StopString => raw::INLAY_FINISH_STOP_STRING,
            Self::MaxTokens => raw::INLAY_FINISH_MAX_TOKENS,
            Self::Cancelled => raw::INLAY_FINISH_CANCELLED,
            Self::StopToken => raw::INLAY_FINISH_STOP_TOKEN,
            Self::ContextFull => raw::INLAY_FINISH_CONTEXT_FULL,
            Self::Timeout => raw::INLAY_FINISH_TIMEOUT,
            Self::Error => raw::INLAY_FINISH_ERROR,
            Self::ConstraintEnd => raw::INLAY_FINISH_CONSTRAINT_END,
            Self::DeadEnd => raw::INLAY_FINISH_DEAD_END,
            Self::Prefilled => raw::INLAY_FINISH_PREFILLED,
            Self::Embedded => raw::INLAY_FINISH_EMBEDDED,
            Self::Other(number) => number,
        }
    }
}

/// What a vocabulary entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TokenKind {
    /// Text.
    #[default]
    Normal,
    /// Stands for what the vocabulary cannot spell.
    Unknown,
    /// Structure, such as the beginning of a turn; not text.
    Control,
    /// Text that is never split.
    UserDefined,
    /// No meaning.
    Unused,
    /// One byte of a character that has no token of its own.
    Byte,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl TokenKind {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_TOKEN_NORMAL => Self::Normal,
            raw::INLAY_TOKEN_UNKNOWN => Self::Unknown,
            raw::INLAY_TOKEN_CONTROL => Self::Control,
            raw::INLAY_TOKEN_USER_DEFINED => Self::UserDefined,
            raw::INLAY_TOKEN_UNUSED => Self::Unused,
            raw::INLAY_TOKEN_BYTE => Self::Byte,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Normal => raw::INLAY_TOKEN_NORMAL,
            Self::Unknown => raw::INLAY_TOKEN_UNKNOWN,
            Self::Control => raw::INLAY_TOKEN_CONTROL,
            Self::UserDefined => raw::INLAY_TOKEN_USER_DEFINED,
            Self::Unused => raw::INLAY_TOKEN_UNUSED,
            Self::Byte => raw::INLAY_TOKEN_BYTE,
            Self::Other(number) => number,
        }
    }
}

/// How a profile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ProfileForm {
    /// The latest, one line a kind of operation, with the sums.
    #[default]
    Kinds,
    /// The latest, one line an operation.
    Timeline,
    /// All that the engine keeps, as JSON in Chrome's trace-event format.
    Trace,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl ProfileForm {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_PROFILE_KINDS => Self::Kinds,
            raw::INLAY_PROFILE_TIMELINE => Self::Timeline,
            raw::INLAY_PROFILE_TRACE => Self::Trace,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Kinds => raw::INLAY_PROFILE_KINDS,
            Self::Timeline => raw::INLAY_PROFILE_TIMELINE,
            Self::Trace => raw::INLAY_PROFILE_TRACE,
            Self::Other(number) => number,
        }
    }
}

/// Type in which weights are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum WeightDtype {
    /// The file's types.
    #[default]
    Default,
    /// Matrices of F32, F16 and BF16 are quantized while they are loaded: E4M3 codes and an F16 scale for every 32
    /// columns, 8.5 bits a weight. All else stays as it is: quantized matrices, norms, biases, rows that are no
    /// multiple of 32 long, and an embedding that is not also the output matrix.
    Fp8,
    /// Matrices get the types that `inlay_convert` gives them, while they are loaded; those that take as few bits a
    /// weight already stay as they are.
    Q80,
    /// Likewise.
    Q40,
    /// Likewise.
    Q4KM,
    /// Likewise.
    Q5KM,
    /// Likewise.
    Q6K,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl WeightDtype {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_WEIGHT_DEFAULT => Self::Default,
            raw::INLAY_WEIGHT_FP8 => Self::Fp8,
            raw::INLAY_WEIGHT_Q8_0 => Self::Q80,
            raw::INLAY_WEIGHT_Q4_0 => Self::Q40,
            raw::INLAY_WEIGHT_Q4_K_M => Self::Q4KM,
            raw::INLAY_WEIGHT_Q5_K_M => Self::Q5KM,
            raw::INLAY_WEIGHT_Q6_K => Self::Q6K,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Default => raw::INLAY_WEIGHT_DEFAULT,
            Self::Fp8 => raw::INLAY_WEIGHT_FP8,
            Self::Q80 => raw::INLAY_WEIGHT_Q8_0,
            Self::Q40 => raw::INLAY_WEIGHT_Q4_0,
            Self::Q4KM => raw::INLAY_WEIGHT_Q4_K_M,
            Self::Q5KM => raw::INLAY_WEIGHT_Q5_K_M,
            Self::Q6K => raw::INLAY_WEIGHT_Q6_K,
            Self::Other(number) => number,
        }
    }
}

/// Types of the matrices of a GGUF file that is written, with the numbers of `inlay_weight_dtype`; FP8's is refused,
/// because no GGUF file has it. Norms and biases are F32 in all. Rows that are no whole blocks of a type get one with
/// smaller blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ConvertType {
    /// F16.
    #[default]
    Default,
    /// 8.5 bits a weight.
    Q80,
    /// 4.5 bits a weight; the output matrix in Q6_K.
    Q40,
    /// Q4_K, and Q6_K for the output matrix and for the values and down projections of half of the layers.
    Q4KM,
    /// Q5_K, and Q6_K as in Q4_K_M.
    Q5KM,
    /// 6.6 bits a weight.
    Q6K,
    /// Every matrix in F16.
    F16,
    /// Every matrix in BF16.
    Bf16,
    /// Every matrix in F32.
    F32,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl ConvertType {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_CONVERT_DEFAULT => Self::Default,
            raw::INLAY_CONVERT_Q8_0 => Self::Q80,
            raw::INLAY_CONVERT_Q4_0 => Self::Q40,
            raw::INLAY_CONVERT_Q4_K_M => Self::Q4KM,
            raw::INLAY_CONVERT_Q5_K_M => Self::Q5KM,
            raw::INLAY_CONVERT_Q6_K => Self::Q6K,
            raw::INLAY_CONVERT_F16 => Self::F16,
            raw::INLAY_CONVERT_BF16 => Self::Bf16,
            raw::INLAY_CONVERT_F32 => Self::F32,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Default => raw::INLAY_CONVERT_DEFAULT,
            Self::Q80 => raw::INLAY_CONVERT_Q8_0,
            Self::Q40 => raw::INLAY_CONVERT_Q4_0,
            Self::Q4KM => raw::INLAY_CONVERT_Q4_K_M,
            Self::Q5KM => raw::INLAY_CONVERT_Q5_K_M,
            Self::Q6K => raw::INLAY_CONVERT_Q6_K,
            Self::F16 => raw::INLAY_CONVERT_F16,
            Self::Bf16 => raw::INLAY_CONVERT_BF16,
            Self::F32 => raw::INLAY_CONVERT_F32,
            Self::Other(number) => number,
        }
    }
}

/// How an explanation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ExplainForm {
    /// For people.
    #[default]
    Text,
    /// The same facts as one object with the members path, error, model, tokenizer, chat_template, tensors, devices
    /// and contexts. An error is null or a message. Numbers have the names that they have in `inlay_engine_info` and
    /// `inlay_memory_info`. Later minors may add members.
    Json,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl ExplainForm {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_EXPLAIN_TEXT => Self::Text,
            raw::INLAY_EXPLAIN_JSON => Self::Json,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Text => raw::INLAY_EXPLAIN_TEXT,
            Self::Json => raw::INLAY_EXPLAIN_JSON,
            Self::Other(number) => number,
        }
    }
}

/// How the final hidden states of a text's tokens become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Pooling {
    /// As the model's metadata say: one of the others, or what only models ask for (the largest value, the sum
    /// divided by the root of the length, a mean whose weights grow, several poolings one behind the other), with the
    /// layers that a sentence-transformers folder has behind its pooling (Dense, Normalize), which may change the
    /// width; a model that says nothing is refused. The others give the pooled states alone.
    #[default]
    Default,
    /// The mean of all tokens.
    Mean,
    /// The last token, which has seen all others.
    Last,
    /// The first token (CLS), which in a decoder has seen itself alone.
    First,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl Pooling {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_POOLING_DEFAULT => Self::Default,
            raw::INLAY_POOLING_MEAN => Self::Mean,
            raw::INLAY_POOLING_LAST => Self::Last,
            raw::INLAY_POOLING_FIRST => Self::First,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Default => raw::INLAY_POOLING_DEFAULT,
            Self::Mean => raw::INLAY_POOLING_MEAN,
            Self::Last => raw::INLAY_POOLING_LAST,
            Self::First => raw::INLAY_POOLING_FIRST,
            Self::Other(number) => number,
        }
    }
}

/// What is to become of a request's prompt. Later minors have more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RequestKind {
    /// Tokens are drawn behind it.
    #[default]
    Generate,
    /// It is computed but for its last token, and nothing is drawn: the request ends with PREFILLED. A request that
    /// begins with the same tokens then begins sooner, as far as they fill whole blocks; one that continues the same
    /// session finds all of them.
    Prefill,
    /// It becomes a vector, the same as `inlay_embed` makes: the request ends with EMBEDDED, and
    /// `inlay_request_take_values` gives the vector. Of tokens or text; a text becomes tokens as by `inlay_embed`.
    /// With a conversation, chat, session_params or continues it is refused.
    Embed,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl RequestKind {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_REQUEST_GENERATE => Self::Generate,
            raw::INLAY_REQUEST_PREFILL => Self::Prefill,
            raw::INLAY_REQUEST_EMBED => Self::Embed,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Generate => raw::INLAY_REQUEST_GENERATE,
            Self::Prefill => raw::INLAY_REQUEST_PREFILL,
            Self::Embed => raw::INLAY_REQUEST_EMBED,
            Self::Other(number) => number,
        }
    }
}

/// What became of a request. A kind that a program does not know is to be passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestEventKind {
    /// Tokens, text or both; neither where the call of `inlay_poll` wants none.
    Tokens,
    /// The last event of the request: each has exactly one.
    End,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl RequestEventKind {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_REQUEST_EVENT_TOKENS => Self::Tokens,
            raw::INLAY_REQUEST_EVENT_END => Self::End,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Tokens => raw::INLAY_REQUEST_EVENT_TOKENS,
            Self::End => raw::INLAY_REQUEST_EVENT_END,
            Self::Other(number) => number,
        }
    }
}

/// What a handle to wait for is to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitKind {
    /// A file descriptor of eventfd, for poll, epoll and io_uring: readable while there is something to poll.
    Eventfd,
    /// A HANDLE for WaitForMultipleObjects: signalled while there is something to poll.
    WindowsEvent,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl WaitKind {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_WAIT_EVENTFD => Self::Eventfd,
            raw::INLAY_WAIT_WINDOWS_EVENT => Self::WindowsEvent,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Eventfd => raw::INLAY_WAIT_EVENTFD,
            Self::WindowsEvent => raw::INLAY_WAIT_WINDOWS_EVENT,
            Self::Other(number) => number,
        }
    }
}

/// How a wait for a queue ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum WaitResult {
    /// There is nothing to poll, and the time is over.
    #[default]
    TimeOver,
    /// There is something to poll.
    Ready,
    /// `inlay_queue_wake` has ended it.
    Woken,
    /// Nobody would end it any more: the device was lost, or the engine's thread has ended and `inlay_run` was never
    /// called. The next call says which.
    NobodyComputes,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl WaitResult {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_WAIT_RESULT_TIME_OVER => Self::TimeOver,
            raw::INLAY_WAIT_RESULT_READY => Self::Ready,
            raw::INLAY_WAIT_RESULT_WOKEN => Self::Woken,
            raw::INLAY_WAIT_RESULT_NOBODY_COMPUTES => Self::NobodyComputes,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::TimeOver => raw::INLAY_WAIT_RESULT_TIME_OVER,
            Self::Ready => raw::INLAY_WAIT_RESULT_READY,
            Self::Woken => raw::INLAY_WAIT_RESULT_WOKEN,
            Self::NobodyComputes => raw::INLAY_WAIT_RESULT_NOBODY_COMPUTES,
            Self::Other(number) => number,
        }
    }
}

/// How a constraint says which texts may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ConstraintKind {
    /// JSON by a schema: Draft 2020-12, and what draft-04 to draft-07 spell otherwise. A keyword that is not
    /// supported is refused by its name and place.
    #[default]
    JsonSchema,
    /// Any JSON value.
    AnyJson,
    /// A grammar as llama.cpp writes them; its rule is root.
    Gbnf,
    /// A regular expression that the whole text matches, as ECMA-262 has them, without look-around and references.
    Regex,
    /// One of some texts.
    Choices,
    /// A message with calls of tools, as the model's format writes them, or content by a schema; reasoning before is
    /// free or limited. The text is JSON, whose keys are in docs/design/tool-constraints.md: {"tools", "tool_choice",
    /// "parallel_tool_calls", "response_format"}, as OpenAI's protocol has them, and {"reasoning": {"max_tokens":
    /// N}}, which closes reasoning behind N tokens.
    Message,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl ConstraintKind {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_CONSTRAINT_JSON_SCHEMA => Self::JsonSchema,
            raw::INLAY_CONSTRAINT_ANY_JSON => Self::AnyJson,
            raw::INLAY_CONSTRAINT_GBNF => Self::Gbnf,
            raw::INLAY_CONSTRAINT_REGEX => Self::Regex,
            raw::INLAY_CONSTRAINT_CHOICES => Self::Choices,
            raw::INLAY_CONSTRAINT_MESSAGE => Self::Message,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::JsonSchema => raw::INLAY_CONSTRAINT_JSON_SCHEMA,
            Self::AnyJson => raw::INLAY_CONSTRAINT_ANY_JSON,
            Self::Gbnf => raw::INLAY_CONSTRAINT_GBNF,
            Self::Regex => raw::INLAY_CONSTRAINT_REGEX,
            Self::Choices => raw::INLAY_CONSTRAINT_CHOICES,
            Self::Message => raw::INLAY_CONSTRAINT_MESSAGE,
            Self::Other(number) => number,
        }
    }
}

/// Where a session's text stands under its constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConstraintState {
    /// Something must follow.
    Incomplete,
    /// The text is whole; more may be allowed.
    Complete,
    /// It is none that the constraint allows, and none could become of it.
    Dead,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl ConstraintState {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Option<Self> {
        match number {
            raw::INLAY_CONSTRAINT_STATE_NONE => None,
            raw::INLAY_CONSTRAINT_STATE_INCOMPLETE => Some(Self::Incomplete),
            raw::INLAY_CONSTRAINT_STATE_COMPLETE => Some(Self::Complete),
            raw::INLAY_CONSTRAINT_STATE_DEAD => Some(Self::Dead),
            other => Some(Self::Other(other)),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Incomplete => raw::INLAY_CONSTRAINT_STATE_INCOMPLETE,
            Self::Complete => raw::INLAY_CONSTRAINT_STATE_COMPLETE,
            Self::Dead => raw::INLAY_CONSTRAINT_STATE_DEAD,
            Self::Other(number) => number,
        }
    }
}

/// What a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ChatDeltaKind {
    /// Text that the model wrote for itself.
    #[default]
    Reasoning,
    /// Text of the answer.
    Content,
    /// A call of a tool begins; the text is the tool's name.
    CallBegin,
    /// The call's id, directly behind CALL_BEGIN. Where the model wrote none before, it is made: at present 9 letters
    /// and digits.
    CallId,
    /// Of the call's arguments, which all parts together are: a JSON object, as far as the model keeps to its format.
    Arguments,
    /// The call ends. Calls do not overlap. The text is empty.
    CallEnd,
    /// A number that this version of the crate has no name for.
    Other(i32),
}

impl ChatDeltaKind {
    /// From the number in the C API.
    pub const fn from_raw(number: i32) -> Self {
        match number {
            raw::INLAY_CHAT_DELTA_REASONING => Self::Reasoning,
            raw::INLAY_CHAT_DELTA_CONTENT => Self::Content,
            raw::INLAY_CHAT_DELTA_CALL_BEGIN => Self::CallBegin,
            raw::INLAY_CHAT_DELTA_CALL_ID => Self::CallId,
            raw::INLAY_CHAT_DELTA_ARGUMENTS => Self::Arguments,
            raw::INLAY_CHAT_DELTA_CALL_END => Self::CallEnd,
            other => Self::Other(other),
        }
    }

    /// The number in the C API.
    pub const fn to_raw(self) -> i32 {
        match self {
            Self::Reasoning => raw::INLAY_CHAT_DELTA_REASONING,
            Self::Content => raw::INLAY_CHAT_DELTA_CONTENT,
            Self::CallBegin => raw::INLAY_CHAT_DELTA_CALL_BEGIN,
            Self::CallId => raw::INLAY_CHAT_DELTA_CALL_ID,
            Self::Arguments => raw::INLAY_CHAT_DELTA_ARGUMENTS,
            Self::CallEnd => raw::INLAY_CHAT_DELTA_CALL_END,
            Self::Other(number) => number,
        }
    }
}
