// The C interface as C# sees it. Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
using System;
using System.Runtime.InteropServices;

namespace Inlay
{
    /// <summary>What a call came to.</summary>
    public enum Status : int
    {
        /// <summary>It worked.</summary>
        Ok = 0,
        /// <summary>An argument is NULL, out of its range, or contradicts another.</summary>
        InvalidArgument = 1,
        /// <summary>No such file, key, index or message.</summary>
        NotFound = 2,
        /// <summary>Reading failed; native_code is the system's error number.</summary>
        Io = 3,
        /// <summary>The model's bytes are damaged or contradict themselves.</summary>
        Format = 4,
        /// <summary>Well formed, but this build or this model cannot do it.</summary>
        Unsupported = 5,
        /// <summary>Host memory ran out.</summary>
        OutOfMemory = 6,
        /// <summary>Device memory, or the budget set for it, is too small.</summary>
        DeviceOutOfMemory = 7,
        /// <summary>The tokens do not fit into the context; the session is unchanged. A generation that reaches the
        /// context's end is no error: its finish reason is CONTEXT_FULL.</summary>
        ContextFull = 8,
        /// <summary>The pool that all sessions share has no free block; the session is unchanged. Where some layers have a
        /// sliding window, the message says whose pool.</summary>
        KvFull = 9,
        /// <summary>The caller's buffer is too small; the needed size was reported.</summary>
        BufferTooSmall = 10,
        /// <summary>A cancel request or a callback stopped the call.</summary>
        Cancelled = 11,
        /// <summary>Another thread is using the object now.</summary>
        Busy = 12,
        /// <summary>The machine or this build has no such device.</summary>
        NoDevice = 13,
        /// <summary>The device failed; the engine can only be freed.</summary>
        DeviceLost = 14,
        /// <summary>A fault in the library; the handle can only be freed.</summary>
        Internal = 15,
        /// <summary>The engine already has max_sessions sessions.</summary>
        SessionLimit = 16,
        /// <summary>The object cannot do this now, as when a session has finished.</summary>
        InvalidState = 17,
        /// <summary>The queue holds as many requests as it was made for; poll, then try again.</summary>
        QueueFull = 18,
    }

    /// <summary>Where a model runs.</summary>
    public enum DeviceKind : int
    {
        /// <summary>The fastest device that there is and that the model fits on.</summary>
        Auto = 0,
        /// <summary>The processor, with the widest instructions that it has.</summary>
        Cpu = 1,
        /// <summary>An NVIDIA GPU.</summary>
        Cuda = 2,
        /// <summary>The scalar FP32 interpreter on the processor: slow, for checking results.</summary>
        Reference = 3,
    }

    /// <summary>Type of the stored keys and values.</summary>
    public enum KvDtype : int
    {
        /// <summary>The device's own: F32 on REFERENCE, else F16.</summary>
        Default = 0,
        /// <summary>2 bytes a value; not on REFERENCE.</summary>
        F16 = 1,
        /// <summary>4 bytes a value; on REFERENCE only.</summary>
        F32 = 2,
        /// <summary>1 byte a value (E4M3), and 4 bytes for every token and head; on CUDA only.</summary>
        Fp8 = 3,
        /// <summary>As FP8, with integers: finer for most values, coarser for small ones beside a large one.</summary>
        Int8 = 4,
    }

    /// <summary>How important a log message is.</summary>
    public enum LogSeverity : int
    {
        /// <summary>As a limit: nothing.</summary>
        Off = -1,
        /// <summary>As a limit: INFO.</summary>
        Default = 0,
        /// <summary>Something failed.</summary>
        Error = 1,
        /// <summary>It works, but probably not as meant.</summary>
        Warning = 2,
        /// <summary>What was found and chosen.</summary>
        Info = 3,
        /// <summary>Details for those who look for a fault.</summary>
        Debug = 4,
    }

    /// <summary>Why a session stopped generating.</summary>
    public enum FinishReason : int
    {
        /// <summary>It has not.</summary>
        None = 0,
        /// <summary>The model drew one of its end tokens.</summary>
        EndOfGeneration = 1,
        /// <summary>The text reached a stop string; neither it nor anything behind it is part of the text.</summary>
        StopString = 2,
        /// <summary>max_tokens tokens were drawn, accepted ones included.</summary>
        MaxTokens = 3,
        /// <summary>inlay_session_cancel or inlay_request_cancel asked for it, or the engine or the session that it
        /// continues was freed.</summary>
        Cancelled = 4,
        /// <summary>A stop token was drawn; it is the event's token and in the sequence, but not in the text.</summary>
        StopToken = 5,
        /// <summary>The context has no room for another token. The event's token is the last one; -1 where a prompt has
        /// filled the context.</summary>
        ContextFull = 6,
        /// <summary>The request's time was over. Requests alone end so.</summary>
        Timeout = 7,
        /// <summary>The request failed: the event's status says how. Requests alone end so.</summary>
        Error = 8,
        /// <summary>The text is whole under its constraint, which allows nothing more, and the model has no token that ends
        /// a text.</summary>
        ConstraintEnd = 9,
        /// <summary>No token that the constraint allows could follow: a bias bans them all, or tokens were accepted that it
        /// does not allow.</summary>
        DeadEnd = 10,
        /// <summary>The prompt of a request of kind PREFILL is computed. Requests alone end so.</summary>
        Prefilled = 11,
        /// <summary>The vector of a request of kind EMBED is there: inlay_request_take_values gives it. Requests alone end
        /// so.</summary>
        Embedded = 12,
    }

    /// <summary>What happened to a session in one step.</summary>
    public enum EventKind : int
    {
        /// <summary>Nothing: the session did not advance, status says why.</summary>
        None = 0,
        /// <summary>A token was drawn and appended; finish_reason tells if it was the last one.</summary>
        Token = 1,
        /// <summary>The session finished without a new token.</summary>
        Finished = 2,
    }

    /// <summary>What a vocabulary entry is.</summary>
    public enum TokenKind : int
    {
        /// <summary>Text.</summary>
        Normal = 0,
        /// <summary>Stands for what the vocabulary cannot spell.</summary>
        Unknown = 1,
        /// <summary>Structure, such as the beginning of a turn; not text.</summary>
        Control = 2,
        /// <summary>Text that is never split.</summary>
        UserDefined = 3,
        /// <summary>No meaning.</summary>
        Unused = 4,
        /// <summary>One byte of a character that has no token of its own.</summary>
        Byte = 5,
    }

    /// <summary>Properties of a loaded model.</summary>
    [Flags]
    public enum EngineFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>Text functions work; without it only token ids do.</summary>
        HasTokenizer = 1,
        /// <summary>inlay_tokenize begins with the BOS token unless told otherwise.</summary>
        AddsBos = 2,
    }

    /// <summary>How text becomes tokens.</summary>
    [Flags]
    public enum TokenizeFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>Leave out the BOS and EOS tokens that the model asks for; changes nothing where it asks for
        /// none.</summary>
        NoBosEos = 1,
        /// <summary>Control tokens written in the text become their ids. Not for untrusted text.</summary>
        ParseSpecial = 2,
    }

    /// <summary>How tokens become text.</summary>
    [Flags]
    public enum DetokenizeFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>Control tokens give their text instead of nothing.</summary>
        ShowSpecial = 1,
    }

    /// <summary>Properties of a token.</summary>
    [Flags]
    public enum TokenFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>Drawing it ends the generation.</summary>
        EndOfGeneration = 1,
        /// <summary>It is not text.</summary>
        Control = 2,
    }

    /// <summary>How a session generates.</summary>
    [Flags]
    public enum SessionFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>End tokens are drawn like others and do not finish the session. Changes nothing for a model without end
        /// tokens.</summary>
        IgnoreEndOfGeneration = 1,
        /// <summary>Each prefill also takes the KV blocks for max_tokens, or up to the context without a limit, or ends
        /// with KV_FULL: the generation after it does not. They go back when it ends. Blocks that forks share are not
        /// reserved for both.</summary>
        Reserve = 2,
        /// <summary>The session is what requests continue (inlay_request.continues): it keeps tokens and sampler from one
        /// to the next. It has no place among max_sessions, and its KV blocks stay until their room is wanted; then they
        /// are computed again. Prefill, decode steps and shift are refused with INVALID_STATE, and it has no logits. Calls
        /// are BUSY while a request has it; freeing it ends these requests with CANCELLED. RESERVE changes nothing for
        /// it.</summary>
        ForRequests = 4,
    }

    /// <summary>How a profile is written.</summary>
    public enum ProfileForm : int
    {
        /// <summary>The latest, one line a kind of operation, with the sums.</summary>
        Kinds = 0,
        /// <summary>The latest, one line an operation.</summary>
        Timeline = 1,
        /// <summary>All that the engine keeps, as JSON in Chrome's trace-event format.</summary>
        Trace = 2,
    }

    /// <summary>How a model runs.</summary>
    [Flags]
    public enum LoadFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>CUDA, without effect elsewhere, as the load's log says: prompts are multiplied by the library's own
        /// kernels, even where the machine has cuBLASLt.</summary>
        NoCublas = 1,
        /// <summary>CUDA, likewise: a decode step begins the next one of the same sessions before it returns, so that the
        /// device need not wait for the host. If anything else comes than that step, it waits until the device is done with
        /// it. Not of sessions with penalties or biases, nor of models with sliding windows. Takes memory for one more row
        /// of logits a session.</summary>
        RunAhead = 4,
        /// <summary>CPU, without effect elsewhere, as the load's log says: memory for the activations of long prompts is
        /// taken from the system when it is first used, not beside the reading of weights. The process stays smaller until
        /// there are long prompts; the first prompts take longer.</summary>
        TakePagesLater = 8,
        /// <summary>CPU, likewise: matrix products with quantized weights take all activations in 16 bits, not only the
        /// third of them that holds most of the error. Logits then are those of the dequantized weights but for a KL
        /// divergence of about 1e-6; prompts take longer.</summary>
        ExactActivations = 16,
        /// <summary>Requests compute all of their prompts. Without it, blocks of the KV pool stay after the requests that
        /// computed them until their room is wanted, and requests that begin with the same tokens, at present 8 at least,
        /// find them and do not compute these. Only blocks that are full stay (inlay_stats.n_block_tokens). On CUDA the
        /// rest of a prompt may then differ in its last bits. Changes nothing for models all of whose layers have a sliding
        /// window, of which no blocks are kept.</summary>
        NoPrefixCache = 32,
    }

    /// <summary>Type in which weights are held.</summary>
    public enum WeightDtype : int
    {
        /// <summary>The file's types.</summary>
        Default = 0,
        /// <summary>Matrices of F32, F16 and BF16 are quantized while they are loaded: E4M3 codes and an F16 scale for
        /// every 32 columns, 8.5 bits a weight. All else stays as it is: quantized matrices, norms, biases, rows that are
        /// no multiple of 32 long, and an embedding that is not also the output matrix.</summary>
        Fp8 = 1,
        /// <summary>Matrices get the types that inlay_convert gives them, while they are loaded; those that take as few
        /// bits a weight already stay as they are.</summary>
        Q80 = 2,
        /// <summary>Likewise.</summary>
        Q40 = 3,
        /// <summary>Likewise.</summary>
        Q4KM = 4,
        /// <summary>Likewise.</summary>
        Q5KM = 5,
        /// <summary>Likewise.</summary>
        Q6K = 6,
    }

    /// <summary>What a sampler does otherwise.</summary>
    [Flags]
    public enum SamplerFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>Repetitions that DRY looks for reach across any text. Refused together with dry_breakers; changes
        /// nothing without dry_multiplier.</summary>
        NoDryBreakers = 1,
        /// <summary>The temperature comes behind the filters, which see the probabilities that the model gave: as llama.cpp
        /// orders them. Changes nothing with mirostat_tau, and without a filter.</summary>
        TemperatureLast = 2,
        /// <summary>Penalties leave the tokens alone that end a generation. Changes nothing without penalties.</summary>
        SpareEndTokens = 4,
    }

    /// <summary>Types of the matrices of a GGUF file that is written, with the numbers of inlay_weight_dtype; FP8's is
    /// refused, because no GGUF file has it. Norms and biases are F32 in all. Rows that are no whole blocks of a type get
    /// one with smaller blocks.</summary>
    public enum ConvertType : int
    {
        /// <summary>F16.</summary>
        Default = 0,
        /// <summary>8.5 bits a weight.</summary>
        Q80 = 2,
        /// <summary>4.5 bits a weight; the output matrix in Q6_K.</summary>
        Q40 = 3,
        /// <summary>Q4_K, and Q6_K for the output matrix and for the values and down projections of half of the
        /// layers.</summary>
        Q4KM = 4,
        /// <summary>Q5_K, and Q6_K as in Q4_K_M.</summary>
        Q5KM = 5,
        /// <summary>6.6 bits a weight.</summary>
        Q6K = 6,
        /// <summary>Every matrix in F16.</summary>
        F16 = 7,
        /// <summary>Every matrix in BF16.</summary>
        Bf16 = 8,
        /// <summary>Every matrix in F32.</summary>
        F32 = 9,
    }

    /// <summary>How an explanation is written.</summary>
    public enum ExplainForm : int
    {
        /// <summary>For people.</summary>
        Text = 0,
        /// <summary>The same facts as one object with the members path, error, model, tokenizer, chat_template, tensors,
        /// devices and contexts. An error is null or a message. Numbers have the names that they have in inlay_engine_info
        /// and inlay_memory_info. Later minors may add members.</summary>
        Json = 1,
    }

    /// <summary>How a conversation becomes text.</summary>
    [Flags]
    public enum ChatFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>The text ends where the model's answer begins: the template's variable add_generation_prompt is true.
        /// It changes nothing for a template that does not read the variable, or where the conversation sets it
        /// itself.</summary>
        AddGenerationPrompt = 1,
        /// <summary>The text ends where the last message's text does, whatever the template writes behind it, so that the
        /// model goes on with that message: an answer that was begun for it, or one that was cut off. Blanks at its end
        /// stay unless the template trims them. Not together with ADD_GENERATION_PROMPT; UNSUPPORTED if the template does
        /// not write the message as it is.</summary>
        ContinueFinalMessage = 2,
    }

    /// <summary>How the final hidden states of a text's tokens become one vector.</summary>
    public enum Pooling : int
    {
        /// <summary>As the model's metadata say: one of the others, or what only models ask for (the largest value, the sum
        /// divided by the root of the length, a mean whose weights grow, several poolings one behind the other), with the
        /// layers that a sentence-transformers folder has behind its pooling (Dense, Normalize), which may change the
        /// width; a model that says nothing is refused. The others give the pooled states alone.</summary>
        Default = 0,
        /// <summary>The mean of all tokens.</summary>
        Mean = 1,
        /// <summary>The last token, which has seen all others.</summary>
        Last = 2,
        /// <summary>The first token (CLS), which in a decoder has seen itself alone.</summary>
        First = 3,
    }

    /// <summary>What an embedding is.</summary>
    [Flags]
    public enum EmbedFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>Scaled to length 1, so that a scalar product of two is their cosine.</summary>
        Normalize = 1,
        /// <summary>Texts without the model's default prompt in front; nothing for a model without one. For programs that
        /// put another prompt there: the metadata inlay.embedding.prompt.NAME have all prompts of the model.</summary>
        NoPrompt = 2,
    }

    /// <summary>What is to become of a request's prompt. Later minors have more.</summary>
    public enum RequestKind : int
    {
        /// <summary>Tokens are drawn behind it.</summary>
        Generate = 0,
        /// <summary>It is computed but for its last token, and nothing is drawn: the request ends with PREFILLED. A request
        /// that begins with the same tokens then begins sooner, as far as they fill whole blocks; one that continues the
        /// same session finds all of them.</summary>
        Prefill = 1,
        /// <summary>It becomes a vector, the same as inlay_embed makes: the request ends with EMBEDDED, and
        /// inlay_request_take_values gives the vector. Of tokens or text; a text becomes tokens as by inlay_embed. With a
        /// conversation, chat, session_params or continues it is refused.</summary>
        Embed = 2,
    }

    /// <summary>What became of a request. A kind that a program does not know is to be passed over.</summary>
    public enum RequestEventKind : int
    {
        /// <summary>Tokens, text or both; neither where the call of inlay_poll wants none.</summary>
        Tokens = 1,
        /// <summary>The last event of the request: each has exactly one.</summary>
        End = 2,
    }

    /// <summary>What a handle to wait for is to the system.</summary>
    public enum WaitKind : int
    {
        /// <summary>A file descriptor of eventfd, for poll, epoll and io_uring: readable while there is something to
        /// poll.</summary>
        Eventfd = 1,
        /// <summary>A HANDLE for WaitForMultipleObjects: signalled while there is something to poll.</summary>
        WindowsEvent = 2,
    }

    /// <summary>How a wait for a queue ended.</summary>
    public enum WaitResult : int
    {
        /// <summary>There is nothing to poll, and the time is over.</summary>
        TimeOver = 0,
        /// <summary>There is something to poll.</summary>
        Ready = 1,
        /// <summary>inlay_queue_wake has ended it.</summary>
        Woken = 2,
        /// <summary>Nobody would end it any more: the device was lost, or the engine's thread has ended and inlay_run was
        /// never called. The next call says which.</summary>
        NobodyComputes = 3,
    }

    /// <summary>How inlay_run computes.</summary>
    [Flags]
    public enum RunFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>One step at most: each request that draws gets one token.</summary>
        OneStep = 1,
        /// <summary>The call does not wait for a GPU: it collects what the GPU has computed since the last one and queues
        /// the next part, one step at most; budget_us is then the GPU's time, host_budget_us the thread's. Calls of
        /// sessions wait for what is queued. The CPU computes as without the flag.</summary>
        NoWait = 2,
    }

    /// <summary>What inlay_run has left.</summary>
    [Flags]
    public enum RunInfoFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>Another call may compute more; without it none would.</summary>
        HasWork = 1,
    }

    /// <summary>How a constraint says which texts may be written.</summary>
    public enum ConstraintKind : int
    {
        /// <summary>JSON by a schema: Draft 2020-12, and what draft-04 to draft-07 spell otherwise. A keyword that is not
        /// supported is refused by its name and place.</summary>
        JsonSchema = 0,
        /// <summary>Any JSON value.</summary>
        AnyJson = 1,
        /// <summary>A grammar as llama.cpp writes them; its rule is root.</summary>
        Gbnf = 2,
        /// <summary>A regular expression that the whole text matches, as ECMA-262 has them, without look-around and
        /// references.</summary>
        Regex = 3,
        /// <summary>One of some texts.</summary>
        Choices = 4,
        /// <summary>A message with calls of tools, as the model's format writes them, or content by a schema; reasoning
        /// before is free or limited. The text is JSON, whose keys are in docs/design/tool-constraints.md: {"tools",
        /// "tool_choice", "parallel_tool_calls", "response_format"}, as OpenAI's protocol has them, and {"reasoning":
        /// {"max_tokens": N}}, which closes reasoning behind N tokens.</summary>
        Message = 5,
    }

    /// <summary>How constraints write JSON; refused with GBNF, REGEX and CHOICES.</summary>
    [Flags]
    public enum ConstraintFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>No whitespace between values. Else none, one space, or a line end and up to 19 spaces or tabs. Use it
        /// unless a person reads the JSON: without it a model pads with blanks, and answers may get twice as
        /// long.</summary>
        Compact = 1,
        /// <summary>Strings that are values may have any escape, such as \u00e9. Else short ones, where JSON needs
        /// them.</summary>
        Escapes = 2,
        /// <summary>JSON_SCHEMA and MESSAGE: keywords that are not supported are dropped and remarked, not
        /// refused.</summary>
        Lenient = 4,
    }

    /// <summary>Where a session's text stands under its constraint.</summary>
    public enum ConstraintState : int
    {
        /// <summary>There is no constraint.</summary>
        None = 0,
        /// <summary>Something must follow.</summary>
        Incomplete = 1,
        /// <summary>The text is whole; more may be allowed.</summary>
        Complete = 2,
        /// <summary>It is none that the constraint allows, and none could become of it.</summary>
        Dead = 3,
    }

    /// <summary>What a part of a message is.</summary>
    public enum ChatDeltaKind : int
    {
        /// <summary>Text that the model wrote for itself.</summary>
        Reasoning = 0,
        /// <summary>Text of the answer.</summary>
        Content = 1,
        /// <summary>A call of a tool begins; the text is the tool's name.</summary>
        CallBegin = 2,
        /// <summary>The call's id, directly behind CALL_BEGIN. Where the model wrote none before, it is made: at present 9
        /// letters and digits.</summary>
        CallId = 3,
        /// <summary>Of the call's arguments, which all parts together are: a JSON object, as far as the model keeps to its
        /// format.</summary>
        Arguments = 4,
        /// <summary>The call ends. Calls do not overlap. The text is empty.</summary>
        CallEnd = 5,
    }

    /// <summary>What is to be known of a part of a message.</summary>
    [Flags]
    public enum ChatDeltaFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>With CALL_END: the arguments are one JSON value. Without it the call was cut, or went on as the format
        /// does not have it.</summary>
        Whole = 1,
    }

    /// <summary>How a parser reads.</summary>
    [Flags]
    public enum ChatParserFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>Letters of markers count, also those that the vocabulary has as tokens: for text in which control
        /// tokens are written out. Without it such letters are text, so that a model can speak of them.</summary>
        WrittenMarkers = 1,
    }

    /// <summary>Where a parser is.</summary>
    [Flags]
    public enum ChatParserInfoFlags : uint
    {
        /// <summary>None of them.</summary>
        None = 0,
        /// <summary>inlay_chat_parser_finish was called.</summary>
        Finished = 1,
        /// <summary>With FINISHED: neither reasoning nor a call is open. A message that was cut need not be.</summary>
        Complete = 2,
        /// <summary>Some text was not as the format says. It is content; a control character in a call's JSON is written as
        /// JSON has it.</summary>
        Malformed = 4,
    }
}

namespace Inlay.Raw
{
    /// <summary>Receives one log message. Called on the thread of the call that caused it, and on a thread of the engine
    /// only where the host asked for such a thread, with the host's floating-point settings; must not call the library. It
    /// must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.</summary>
    /// <param name="user">As given with the callback.</param>
    /// <param name="level">Importance.</param>
    /// <param name="text">The message, one line, also terminated by a zero.</param>
    /// <param name="text_len">Its length without the zero.</param>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void inlay_log_fn(IntPtr user, LogSeverity level, byte* text, UIntPtr text_len);

    /// <summary>Told how far a load, a conversion, a scoring or an embedding is; while files are read or texts become
    /// tokens at least once a second, however slow the reader is. Return non-zero to cancel it. Called on the calling
    /// thread, with the host's floating-point settings; must not call the library. It must not leave by an exception, a
    /// panic, longjmp or pthread_exit; a C++ exception ends the process.</summary>
    /// <param name="user">As given with the callback.</param>
    /// <param name="n_done">Model bytes in place; of a scoring or an embedding tokens that were run.</param>
    /// <param name="n_total">The same in all, at least 1. It is 1 until it is known: while headers are read or texts become
    /// tokens.</param>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate int inlay_progress_fn(IntPtr user, ulong n_done, ulong n_total);

    /// <summary>Fills `into` with the model's bytes [offset, offset + n), at most 4 MiB at a time. Returns 0, or a system
    /// error number. Called on the loading thread only, with the host's floating-point settings; must not call the library.
    /// It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.</summary>
    /// <param name="user">As given with the callback.</param>
    /// <param name="offset">From the beginning of the model.</param>
    /// <param name="into">Where the bytes go.</param>
    /// <param name="n">How many; never past the end.</param>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate int inlay_read_fn(IntPtr user, ulong offset, void* into, ulong n);

    /// <summary>Told that a queue has something to poll which had nothing before. Called on whatever thread brought that
    /// about, an engine's own among them, with the host's floating-point settings; must not call the library, and should do
    /// no more than wake somebody. It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception
    /// ends the process.</summary>
    /// <param name="user">As given with the callback.</param>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void inlay_wake_fn(IntPtr user);

    /// <summary>Takes the next bytes of a saved session, some MiB at most. Returns 0, or a system error number. Called on
    /// the saving thread, with the host's floating-point settings; must not call the library. It must not leave by an
    /// exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.</summary>
    /// <param name="user">As given with the callback.</param>
    /// <param name="state">The bytes.</param>
    /// <param name="n">How many, at least 1.</param>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate int inlay_state_write_fn(IntPtr user, void* state, ulong n);

    /// <summary>Fills `into` with the next n bytes of a saved session, some MiB at most. Returns 0, or a system error
    /// number; also where there are fewer. Called on the restoring thread, with the host's floating-point settings; must
    /// not call the library. It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the
    /// process.</summary>
    /// <param name="user">As given with the callback.</param>
    /// <param name="into">Where the bytes go.</param>
    /// <param name="n">How many, at least 1.</param>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate int inlay_state_read_fn(IntPtr user, void* into, ulong n);

    /// <summary>What went wrong. Owned by the caller, needs no initialisation; every call that takes it writes it, also on
    /// success.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_error
    {
        /// <summary>The same as the call returned.</summary>
        public Status status;
        /// <summary>The system's or the driver's error number, 0 if there is none.</summary>
        public int native_code;
        /// <summary>What was needed, in the unit that the message names; 0 where that makes no sense.</summary>
        public ulong required;
        /// <summary>What there was, in the same unit.</summary>
        public ulong available;
        /// <summary>Length of the message without its terminating zero. [bytes]</summary>
        public uint message_len;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>What is wrong and where, in English; empty on success. Control characters in what it quotes are
        /// escapes, \x1b.</summary>
        public fixed byte message[Api.INLAY_ERROR_MESSAGE_BYTES];
    }

    /// <summary>A UTF-8 text of the caller.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_text
    {
        /// <summary>The bytes; may be NULL if len is 0.</summary>
        public byte* data;
        /// <summary>Their number, or SIZE_MAX if a zero ends them. [bytes]</summary>
        public UIntPtr len;
    }

    /// <summary>A change of one token's logit.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_logit_bias
    {
        /// <summary>Token id.</summary>
        public int token;
        /// <summary>Added to the logit; minus infinity bans the token.</summary>
        public float bias;
    }

    /// <summary>A token and its probability under the model, before any sampling step.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_token_logprob
    {
        /// <summary>Token id.</summary>
        public int token;
        /// <summary>Natural logarithm of the probability. [nats]</summary>
        public float logprob;
    }

    /// <summary>A device that can run a model.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_device_info
    {
        /// <summary>sizeof(inlay_device_info), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>CPU or CUDA.</summary>
        public DeviceKind kind;
        /// <summary>Its number among the devices of its kind: device_index of inlay_load_params.</summary>
        public int index;
        /// <summary>Processors that this process may use, by affinity and CPU quota; multiprocessors of a GPU.</summary>
        public int n_units;
        /// <summary>Its memory; of the processor what control groups and resource limits let this process use.
        /// [bytes]</summary>
        public ulong total_bytes;
        /// <summary>Memory free now. [bytes]</summary>
        public ulong free_bytes;
        /// <summary>Product name, ended by a zero.</summary>
        public fixed byte name[Api.INLAY_DEVICE_NAME_BYTES];
        /// <summary>What the kernels will use of it, such as an instruction set; ended by a zero.</summary>
        public fixed byte features[Api.INLAY_DEVICE_NAME_BYTES];
    }

    /// <summary>A model's bytes behind a callback: an archive, an asset pack, a decrypting reader.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_reader
    {
        /// <summary>sizeof(inlay_reader). [bytes]</summary>
        public uint struct_size;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>Given to the callback.</summary>
        public IntPtr user;
        /// <summary>Size of the model; must not be 0. [bytes]</summary>
        public ulong size;
        /// <summary>Reads a range; must not be NULL.</summary>
        public IntPtr read;
    }

    /// <summary>How a model is loaded. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_load_params
    {
        /// <summary>sizeof(inlay_load_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>Where the model runs. [default AUTO]</summary>
        public DeviceKind device;
        /// <summary>Which device of that kind. [0 or more, default 0]</summary>
        public int device_index;
        /// <summary>Longest sequence of one session; at most what the model was trained for. [tokens, 0 or more, default
        /// what the model was trained for, at most 4096]</summary>
        public int n_context;
        /// <summary>Sessions that may exist at a time, and requests that run: together. Sessions made with FOR_REQUESTS do
        /// not count. [0 to 1024, default 8]</summary>
        public int max_sessions;
        /// <summary>Threads that compute, the calling one included; on CUDA they load the weights. REFERENCE computes on
        /// one, and the log says so. [0 to 1024, default all processors that the calling thread may use: its affinity, and
        /// the CPU quota of the process]</summary>
        public int n_threads;
        /// <summary>Size of the KV pool that the sessions share; the log says where they cannot use all of it. Layers with
        /// a sliding window take of it what the windows of all sessions need, at most. Less than one block is refused.
        /// [bytes, default max_sessions x n_context, at most 2 GiB but one n_context at least]</summary>
        public ulong kv_budget_bytes;
        /// <summary>Type of the stored keys and values. [default F32 on REFERENCE, else F16]</summary>
        public KvDtype kv_dtype;
        /// <summary>Tokens that prefill runs at a time; a cancel is seen between them. The longest text that can be
        /// embedded where tokens see those behind them. More than n_context is as n_context, and the log says so. [tokens,
        /// 0 to 4096, default 512, on a GPU with the memory for it 1024; 2048 where tokens see those behind them]</summary>
        public int prefill_chunk;
        /// <summary>Least important messages to keep and to report. [default INFO]</summary>
        public LogSeverity log_level;
        /// <summary>Of inlay_load_flags; others are refused. [default 0]</summary>
        public uint flags;
        /// <summary>Called with every message, for as long as the engine lives. [default none]</summary>
        public IntPtr log;
        /// <summary>Given to log; unused without it. [default NULL]</summary>
        public IntPtr log_user;
        /// <summary>Called during the load only. [default none]</summary>
        public IntPtr progress;
        /// <summary>Given to progress; unused without it. [default NULL]</summary>
        public IntPtr progress_user;
        /// <summary>Type in which the weights are held, on every device. [default the file's types]</summary>
        public WeightDtype weight_dtype;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>How byte-level BPE of a GGUF file splits text into words: a name as in tokenizer.ggml.pre, instead of
        /// the file's. Files from before that key have none, and get `default` with a warning. Copied. An unknown name is
        /// refused, and so is any where the model has another tokenizer. [default NULL: the file's]</summary>
        public byte* pre_tokenizer;
        /// <summary>Its length. [bytes, default 0]</summary>
        public UIntPtr pre_tokenizer_len;
        /// <summary>What changes speed alone, for those who measure: key=value pairs with blanks or commas between. Copied.
        /// Keys and values may come and go in any version; an unknown one is refused, and the error lists the known ones.
        /// On CUDA token_kernel=0 (decode steps launch every operation, even where one launch could run all layers),
        /// cublas=0 (as NO_CUBLAS), mixed_gemm=0 (prompts multiply weights that were dequantized before) and group_rows=1
        /// (matrix products of 9 to 32 rows always share weights among several multiprocessors); on the CPU isa=generic,
        /// avx2 or avx512 (instructions that the processor lacks are refused). The load's log names those that change
        /// nothing on the device. [default NULL: none]</summary>
        public byte* tuning;
        /// <summary>Its length. [bytes, default 0]</summary>
        public UIntPtr tuning_len;
        /// <summary>Memory of the host for blocks that requests may find again, but whose room in the KV pool is wanted:
        /// they go there by a copy that nobody waits for, and come back when a request begins with them. Whole blocks
        /// count; less than one is refused, and so is any beside NO_PREFIX_CACHE. A thread of the engine takes all of the
        /// memory once the engine is loaded, page-locked on a GPU; inlay_stats says how much is there. It changes nothing
        /// for models with sliding windows or without text, and the log says so. [bytes, default 0: none]</summary>
        public ulong prefix_cache_host_bytes;
    }

    /// <summary>Memory that a load would take, and what its parameters come to.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_memory_info
    {
        /// <summary>sizeof(inlay_memory_info), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>Where the model would run.</summary>
        public DeviceKind device;
        /// <summary>Longest sequence of one session. [tokens]</summary>
        public int n_context;
        /// <summary>Sessions that may exist at a time.</summary>
        public int max_sessions;
        /// <summary>Weights in the form that the device computes with. [bytes]</summary>
        public ulong weight_bytes;
        /// <summary>The KV pool. [bytes]</summary>
        public ulong kv_bytes;
        /// <summary>Activations, logits and buffers. [bytes]</summary>
        public ulong scratch_bytes;
        /// <summary>The sum. [bytes]</summary>
        public ulong total_bytes;
        /// <summary>Free memory of the device now. [bytes]</summary>
        public ulong available_bytes;
        /// <summary>What was asked for if it changes the type of any matrix, else DEFAULT.</summary>
        public WeightDtype weight_dtype;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>Memory of the host for blocks whose room in the KV pool is wanted, at most; not in the sum.
        /// [bytes]</summary>
        public ulong prefix_cache_host_bytes;
    }

    /// <summary>A loaded model's sizes.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_engine_info
    {
        /// <summary>sizeof(inlay_engine_info), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>Where it runs; never AUTO.</summary>
        public DeviceKind device;
        /// <summary>Weights.</summary>
        public ulong n_params;
        /// <summary>Memory of the weights. [bytes]</summary>
        public ulong weight_bytes;
        /// <summary>Memory of the KV pool. [bytes]</summary>
        public ulong kv_bytes;
        /// <summary>Rows of logits: ids 0 to n_vocab - 1 can be drawn, and are taken wherever an id is given. One that is
        /// no token of the tokenizer has kind UNUSED and no text. Tokens of the tokenizer from n_vocab on are ones that the
        /// model has no row for: they are described and detokenized, and a text or a sequence with one is refused by its
        /// name.</summary>
        public int n_vocab;
        /// <summary>Layers.</summary>
        public int n_layers;
        /// <summary>Width of the residual stream.</summary>
        public int d_model;
        /// <summary>Query heads a layer.</summary>
        public int n_heads;
        /// <summary>Key and value heads a layer.</summary>
        public int n_kv_heads;
        /// <summary>Width of a head.</summary>
        public int d_head;
        /// <summary>Width of the feed-forward part.</summary>
        public int d_ff;
        /// <summary>Context that the model was trained for. [tokens]</summary>
        public int n_context_train;
        /// <summary>Longest sequence of one session. [tokens]</summary>
        public int n_context;
        /// <summary>Sessions that may exist at a time.</summary>
        public int max_sessions;
        /// <summary>Beginning-of-sequence token, -1 if there is none.</summary>
        public int bos;
        /// <summary>End-of-sequence token, -1 if there is none.</summary>
        public int eos;
        /// <summary>Threads that compute.</summary>
        public int n_threads;
        /// <summary>What the model has.</summary>
        public EngineFlags flags;
        /// <summary>What was asked for if it changed the type of any matrix, else DEFAULT.</summary>
        public WeightDtype weight_dtype;
        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>One entry of the vocabulary.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_token_info
    {
        /// <summary>sizeof(inlay_token_info), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>What it is.</summary>
        public TokenKind kind;
        /// <summary>Properties.</summary>
        public TokenFlags flags;
        /// <summary>The vocabulary's score, 0 where it has none.</summary>
        public float score;
        /// <summary>Length of the whole piece, which may be more than fits here. [bytes]</summary>
        public uint piece_bytes;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>The bytes that the token stands for in the middle of a text; they need not be whole
        /// characters.</summary>
        public fixed byte piece[Api.INLAY_TOKEN_PIECE_BYTES];
    }

    /// <summary>How a token is drawn. The steps run in this order: bias and DRY, penalties, top_n_sigma, temperature,
    /// top_k, typical_p, top_p, min_p, XTC, draw. All zero is greedy. Where temperature is 0 only bias, DRY, penalties and
    /// n_logprobs change anything. Where mirostat_tau is set top_k, typical_p, top_p, min_p and XTC change nothing.
    /// Mirostat's and adaptive-p's averages are the session's: a fork takes them along, a prefill and a truncation let them
    /// begin anew, another sampler goes on with them.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_sampler_params
    {
        /// <summary>sizeof(inlay_sampler_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>Divides the logits. [0 or more, default 0: greedy, the likeliest token, the lower id at a
        /// tie]</summary>
        public float temperature;
        /// <summary>Keep the k likeliest tokens; all where the vocabulary has fewer. [0 or more, default 0: off]</summary>
        public int top_k;
        /// <summary>Keep the likeliest tokens whose probabilities reach this sum. [0 to 1, default 0: off, as 1
        /// is]</summary>
        public float top_p;
        /// <summary>Drop tokens less likely than this part of the likeliest one's probability. [0 to 1, default 0:
        /// off]</summary>
        public float min_p;
        /// <summary>Divides positive and multiplies negative logits of tokens in the window. [0 or more, default 0: off, as
        /// 1 is]</summary>
        public float repetition_penalty;
        /// <summary>Subtracted once for every time that the token is in the window. [any number, default 0: off]</summary>
        public float frequency_penalty;
        /// <summary>Subtracted if the token is in the window. [any number, default 0: off]</summary>
        public float presence_penalty;
        /// <summary>Last tokens of the sequence that the penalties look at; -1 for all. Changes nothing without penalties.
        /// [tokens, -1 or more, default 0: the last 64]</summary>
        public int penalty_window;
        /// <summary>Likeliest tokens to report in events, at most INLAY_MAX_LOGPROBS; fewer where fewer have a probability.
        /// [0 to 20, default 0: none]</summary>
        public int n_logprobs;
        /// <summary>Same seed, stream, tokens and logits: same draw, whatever else is in the step. Logits may differ in
        /// their last bits between devices and versions, and on a GPU between cuts of a prompt. [default 0: the seed
        /// 0]</summary>
        public ulong seed;
        /// <summary>Logit changes, each token once; copied. [default NULL: none]</summary>
        public inlay_logit_bias* bias;
        /// <summary>Their number. [0 to 1024, default 0]</summary>
        public UIntPtr n_bias;
        /// <summary>Locally typical sampling: keep the tokens whose surprise is nearest to the mean surprise and whose
        /// probabilities reach this sum. [0 to 1, default 0: off, as 1 is]</summary>
        public float typical_p;
        /// <summary>Keep logits that are at most this many standard deviations below the largest. [0 or more, default 0:
        /// off]</summary>
        public float top_n_sigma;
        /// <summary>Dynamic temperature: up to this much below `temperature` where the model is sure of the next token, up
        /// to this much above where it is not. [0 or more, default 0: off]</summary>
        public float dynatemp_range;
        /// <summary>Power of the entropy, from 0 to 1, that says where in that range the temperature is. Changes nothing
        /// without dynatemp_range. [0 or more, default 0: 1]</summary>
        public float dynatemp_exponent;
        /// <summary>Exclude top choices: the chance with which, of the tokens that reach xtc_threshold, only the least
        /// likely stays. [0 to 1, default 0: off]</summary>
        public float xtc_probability;
        /// <summary>Probability that makes a token a top choice; above 0.5 there is no more than one, and nothing changes.
        /// Changes nothing without xtc_probability. [0 to 1, default 0: 0.1]</summary>
        public float xtc_threshold;
        /// <summary>Mirostat 2: the mean surprise of the drawn tokens that is aimed at. It stands in the place of the
        /// filters from top_k to XTC. Refused together with adaptive_target. [bits, 0 or more, default 0: off]</summary>
        public float mirostat_tau;
        /// <summary>How much of its error Mirostat corrects with each token. Changes nothing without mirostat_tau. [0 or
        /// more, default 0: 0.1]</summary>
        public float mirostat_eta;
        /// <summary>Adaptive-p: tokens near a probability are preferred such that the mean of the drawn tokens'
        /// probabilities becomes this one. To be used with a filter as min_p, because it prefers unlikely tokens, too. [0
        /// to 1, default 0: off]</summary>
        public float adaptive_target;
        /// <summary>What that mean keeps of itself with each token. Changes nothing without adaptive_target. [0 to 0.99,
        /// default 0: 0.9]</summary>
        public float adaptive_decay;
        /// <summary>DRY: a token that would go on with a repetition of the sequence's end loses dry_multiplier * dry_base ^
        /// (length of the repetition - dry_allowed_length) of its logit. [0 or more, default 0: off]</summary>
        public float dry_multiplier;
        /// <summary>Base of that power. Changes nothing without dry_multiplier. [1 or more, default 0: 1.75]</summary>
        public float dry_base;
        /// <summary>Shorter repetitions cost nothing. Changes nothing without dry_multiplier. [tokens, 0 or more, default
        /// 0: 2]</summary>
        public int dry_allowed_length;
        /// <summary>Last tokens of the sequence in which repetitions are looked for. Changes nothing without
        /// dry_multiplier. [tokens, -1 or more, default 0: all, as -1 is]</summary>
        public int dry_window;
        /// <summary>Texts that no repetition reaches across and whose tokens DRY leaves alone, each of 1 to 128 bytes;
        /// copied. Changes nothing without dry_multiplier. [default NULL: a line feed, a colon, a quotation mark, an
        /// asterisk]</summary>
        public inlay_text* dry_breakers;
        /// <summary>Their number. [0 to 64, default 0]</summary>
        public UIntPtr n_dry_breakers;
        /// <summary>Others than the named ones are refused. [default 0]</summary>
        public SamplerFlags flags;
        /// <summary>0. [default 0]</summary>
        public uint reserved;
    }

    /// <summary>How a session generates. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_session_params
    {
        /// <summary>sizeof(inlay_session_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>Others than the named ones are refused. [default 0]</summary>
        public SessionFlags flags;
        /// <summary>How tokens are drawn; copied. [default NULL: greedy]</summary>
        public inlay_sampler_params* sampler;
        /// <summary>Tells sessions with one seed apart: another stream, other random numbers. Changes nothing where
        /// temperature is 0. [default 0]</summary>
        public ulong stream;
        /// <summary>Tokens to draw after each prefill before the session finishes. The context may be full before. [tokens,
        /// 0 or more, default 0: no limit but the context]</summary>
        public int max_tokens;
        /// <summary>0. [default 0]</summary>
        public uint reserved;
        /// <summary>Token ids that end the generation when drawn; copied. Ids outside of the vocabulary are refused; one
        /// that is named twice counts once. End tokens may be among them: then the reason is STOP_TOKEN, also with
        /// IGNORE_END_OF_GENERATION. [default NULL: none]</summary>
        public int* stop_tokens;
        /// <summary>Their number. [0 to 1024, default 0]</summary>
        public UIntPtr n_stop_tokens;
        /// <summary>Texts that end the generation, as inlay_session_set_stop takes them; copied. [default NULL:
        /// none]</summary>
        public inlay_text* stops;
        /// <summary>Their number. [0 to 64, default 0]</summary>
        public UIntPtr n_stops;
        /// <summary>What each generation may write, from its first drawn token on. The session shares it: the handle may be
        /// freed. Of the same engine; refused with IGNORE_END_OF_GENERATION, since the constraint says where a text ends.
        /// [default NULL: anything may be written]</summary>
        public IntPtr constraint;
    }

    /// <summary>Where a session stands.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_session_info
    {
        /// <summary>sizeof(inlay_session_info), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>NONE while it can go on.</summary>
        public FinishReason finish_reason;
        /// <summary>Length of the sequence, the last drawn token included. [tokens]</summary>
        public int n_tokens;
        /// <summary>Longest that it can become. [tokens]</summary>
        public int n_context;
        /// <summary>Tokens drawn or accepted since the last prefill or truncation. [tokens]</summary>
        public int n_generated;
        /// <summary>Blocks of the KV pool that it uses, those shared with forks included. Layers with a sliding window have
        /// blocks of their own, those of the window.</summary>
        public int n_kv_blocks;
        /// <summary>Text that inlay_session_take_text would give. [bytes]</summary>
        public ulong text_pending;
        /// <summary>Number of the generation, for inlay_session_cancel_generation: how many have begun. A fork counts from
        /// where its parent was.</summary>
        public ulong generation;
        /// <summary>Where the generation's text stands under the constraint.</summary>
        public ConstraintState constraint_state;
        /// <summary>0.</summary>
        public int reserved;
    }

    /// <summary>The 20 elements of inlay_event.top, one behind the other.</summary>
    [StructLayout(LayoutKind.Sequential, Size = 160)]
    public struct inlay_event_top_array
    {
        /// <summary>The first element.</summary>
        public inlay_token_logprob first;
    }

    /// <summary>What one session did in one decode step. Arrays of events come with a stride, sizeof(inlay_event) as the
    /// caller knows it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_event
    {
        /// <summary>OK, or why this session did not advance.</summary>
        public Status status;
        /// <summary>What happened.</summary>
        public EventKind kind;
        /// <summary>Position of the session in the call's array.</summary>
        public int session_index;
        /// <summary>The drawn token, -1 if there is none.</summary>
        public int token;
        /// <summary>Not NONE: this was the session's last event until its next prefill.</summary>
        public FinishReason finish_reason;
        /// <summary>Natural logarithm of the token's probability under the model, before any sampling step.
        /// [nats]</summary>
        public float logprob;
        /// <summary>Entries of top.</summary>
        public int n_logprobs;
        /// <summary>Length of text. [bytes]</summary>
        public uint text_bytes;
        /// <summary>Text that did not fit and is to be had with inlay_session_take_text. [bytes]</summary>
        public ulong text_pending;
        /// <summary>The likeliest tokens, the likeliest first.</summary>
        public inlay_event_top_array top;
        /// <summary>New text, whole characters, not ended by a zero. What may begin a stop string is held back until that
        /// is clear. A character whose first bytes end the prompt comes whole with the token that completes it.</summary>
        public fixed byte text[Api.INLAY_EVENT_TEXT_BYTES];
        /// <summary>Tokens that were drawn: 1 with TOKEN, else 0. More only where the session asked for it by a flag of a
        /// later minor: then they are the last ones of the sequence, to be read with inlay_session_get_tokens, and token is
        /// the last of them. [tokens]</summary>
        public int n_tokens;
        /// <summary>0.</summary>
        public int reserved;
    }

    /// <summary>What an engine has done since it was loaded.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_stats
    {
        /// <summary>sizeof(inlay_stats), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>Sessions that have a place among max_sessions: those made with FOR_REQUESTS have none.</summary>
        public int n_sessions;
        /// <summary>Tokens that prefill ran. [tokens]</summary>
        public ulong n_prefill_tokens;
        /// <summary>Tokens that decode steps drew. [tokens]</summary>
        public ulong n_decode_tokens;
        /// <summary>Decode steps in which a session took part.</summary>
        public ulong n_decode_steps;
        /// <summary>Time that the load took. [seconds]</summary>
        public double load_seconds;
        /// <summary>Time in prefill. [seconds]</summary>
        public double prefill_seconds;
        /// <summary>Time in decode steps. [seconds]</summary>
        public double decode_seconds;
        /// <summary>Blocks of the KV pool, those of layers with a sliding window included.</summary>
        public int n_kv_blocks;
        /// <summary>Blocks in use now; a block that forks share counts once.</summary>
        public int n_kv_blocks_used;
        /// <summary>Most blocks that were ever in use at once.</summary>
        public int n_kv_blocks_peak;
        /// <summary>Tokens of a block. [tokens]</summary>
        public int n_block_tokens;
        /// <summary>Blocks that went to the host's memory when their room in the pool was wanted
        /// (prefix_cache_host_bytes).</summary>
        public ulong n_kv_blocks_to_host;
        /// <summary>Of these, blocks that came back for a request that begins with them.</summary>
        public ulong n_kv_blocks_from_host;
        /// <summary>Of these, blocks that were given up there for others.</summary>
        public ulong n_kv_blocks_host_dropped;
        /// <summary>Of the load's prefix_cache_host_bytes, what was taken of the host's memory so far. [bytes]</summary>
        public ulong prefix_cache_host_bytes_taken;
        /// <summary>Blocks that are there now; they are not among n_kv_blocks.</summary>
        public int n_kv_blocks_on_host;
        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>Which step is profiled. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_profile_params
    {
        /// <summary>sizeof(inlay_profile_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>Tokens of the step; at most prefill_chunk. [tokens, 0 or more, default 1: a decode step, which
        /// draws]</summary>
        public int n_tokens;
        /// <summary>Tokens in the session before the step. [tokens, 0 or more, default 0]</summary>
        public int n_past;
        /// <summary>How often it is run; times are medians. [0 to 10000, default 20]</summary>
        public int n_repetitions;
    }

    /// <summary>How a model is converted. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_convert_params
    {
        /// <summary>sizeof(inlay_convert_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>Type of the matrices. [default F16]</summary>
        public ConvertType type;
        /// <summary>Threads that compute, the calling one included. [0 to 1024, default as of a load]</summary>
        public int n_threads;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>Called with the bytes of the source that are done, and all. [default none]</summary>
        public IntPtr progress;
        /// <summary>Given to progress; unused without it. [default NULL]</summary>
        public IntPtr progress_user;
        /// <summary>Called with warnings: what of a folder's tokenizer other programs will not read in the file. [default
        /// none]</summary>
        public IntPtr log;
        /// <summary>Given to log; unused without it. [default NULL]</summary>
        public IntPtr log_user;
    }

    /// <summary>How a conversation is written. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_chat_params
    {
        /// <summary>sizeof(inlay_chat_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>Others than the named ones are refused. [default 0: the conversation alone]</summary>
        public ChatFlags flags;
        /// <summary>A template. Not used after the call. [default NULL: the model's own]</summary>
        public byte* chat_template;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]</summary>
        public UIntPtr template_len;
    }

    /// <summary>What embeddings are made of. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_embed_params
    {
        /// <summary>sizeof(inlay_embed_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>How tokens become one vector. [default DEFAULT]</summary>
        public Pooling pooling;
        /// <summary>Others than the named ones are refused. [default 0]</summary>
        public EmbedFlags flags;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>Called while texts become tokens, then after each step with the tokens that were run, and all that will
        /// be. [default none]</summary>
        public IntPtr progress;
        /// <summary>Given to progress; unused without it. [default NULL]</summary>
        public IntPtr progress_user;
    }

    /// <summary>What one embedding is of: tokens or text, not both. Arrays come with a stride, sizeof(inlay_embed_input) as
    /// the caller knows it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_embed_input
    {
        /// <summary>Token ids, at least 1. [default NULL: text is given]</summary>
        public int* tokens;
        /// <summary>Their number. [tokens, default 0]</summary>
        public UIntPtr n_tokens;
        /// <summary>A text, which becomes tokens as by inlay_tokenize without flags. Where the model comes from a
        /// sentence-transformers folder, by itself or converted, that library's rules hold before: the default prompt
        /// stands in front, the text is put in lower case if the folder says so, and tokens beyond max_seq_length are cut
        /// off at the end, or at the beginning where truncation_side is left; BOS and EOS stay. None of this is done to
        /// tokens. [default NULL: tokens are given]</summary>
        public byte* text;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]</summary>
        public UIntPtr text_len;
    }

    /// <summary>What is scored. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_score_params
    {
        /// <summary>sizeof(inlay_score_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>At the beginning of each text: context that gets no scores. [tokens, 0 or more, default 1]</summary>
        public int n_given;
        /// <summary>Likeliest tokens to report beside each token, at most INLAY_MAX_LOGPROBS. [0 to 20, default 0:
        /// none]</summary>
        public int n_logprobs;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>Called after each step with the tokens that were run, and all that will be. [default none]</summary>
        public IntPtr progress;
        /// <summary>Given to progress; unused without it. [default NULL]</summary>
        public IntPtr progress_user;
    }

    /// <summary>How likely a token of a text is, given those before it. Arrays come with a stride,
    /// sizeof(inlay_token_score) as the caller knows it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_token_score
    {
        /// <summary>Natural logarithm of the token's probability; NaN where the token has no score: it was given.
        /// [nats]</summary>
        public float logprob;
        /// <summary>Tokens that are likelier, or as likely with a lower id; 0: a greedy draw takes this one. -1 without a
        /// score.</summary>
        public int rank;
        /// <summary>The same for the engine that is compared with; NaN without one. [nats]</summary>
        public float against_logprob;
        /// <summary>Likewise; -1 without one.</summary>
        public int against_rank;
        /// <summary>Kullback-Leibler divergence of this engine's distribution from that of the other one, which counts as
        /// the exact one: the sum over all tokens t of P(t) (ln P(t) - ln Q(t)), P of the other. NaN without one.
        /// [nats]</summary>
        public float divergence;
        /// <summary>1: the likeliest token of both engines is the same; 0: it is not; -1 without another engine.</summary>
        public int same_best;
    }

    /// <summary>Logits where they lie. They are not to be written.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_logits
    {
        /// <summary>sizeof(inlay_logits), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>As the model gives them.</summary>
        public float* values;
        /// <summary>n_vocab. [values]</summary>
        public UIntPtr n_values;
    }

    /// <summary>What a queue holds. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_queue_params
    {
        /// <summary>sizeof(inlay_queue_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>0. [default 0]</summary>
        public uint reserved;
        /// <summary>Requests that were submitted and whose ends were not polled, or whose vectors were not taken: one more
        /// is QUEUE_FULL. [0 to 1048576, default 1024]</summary>
        public int max_requests;
        /// <summary>A request of which as many tokens wait to be polled rests until some are. It loses nothing, and holds
        /// no other up. [tokens, 0 to 1048576, default 256]</summary>
        public int max_unread_tokens;
        /// <summary>Called when there comes something to poll; never after inlay_queue_free has returned. [default
        /// none]</summary>
        public IntPtr wake;
        /// <summary>Given to wake; unused without it. [default NULL]</summary>
        public IntPtr wake_user;
    }

    /// <summary>A prompt and what is to become of it. One of tokens, text and conversation is given. Zero means default for
    /// every other field. Nothing of it is used after inlay_submit.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_request
    {
        /// <summary>sizeof(inlay_request). [bytes]</summary>
        public uint struct_size;
        /// <summary>What is to become of the prompt. [default GENERATE]</summary>
        public RequestKind kind;
        /// <summary>The prompt as token ids, at least 1. [default NULL: not given]</summary>
        public int* tokens;
        /// <summary>Their number. [tokens, 0 or more, default 0]</summary>
        public UIntPtr n_tokens;
        /// <summary>The prompt as a text, which becomes tokens as by inlay_tokenize without flags: ill-formed UTF-8 is read
        /// as U+FFFD. [default NULL: not given]</summary>
        public byte* text;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, 0 or more, default 0: an empty prompt]</summary>
        public UIntPtr text_len;
        /// <summary>The prompt as a conversation, as inlay_chat_tokenize takes it: ill-formed UTF-8 is refused with FORMAT.
        /// [default NULL: not given]</summary>
        public byte* conversation;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, 0 or more, default 0]</summary>
        public UIntPtr conversation_len;
        /// <summary>How the conversation is written; refused without one. [default NULL: ADD_GENERATION_PROMPT]</summary>
        public inlay_chat_params* chat;
        /// <summary>How tokens are drawn and what ends the request; with continues from now on. The flags RESERVE and
        /// FOR_REQUESTS are refused: they are of sessions. [default NULL: all defaults; with continues what the session
        /// has]</summary>
        public inlay_session_params* session_params;
        /// <summary>Who has more comes first, and may put out who has less where the pool or all places are taken. What
        /// waits to begin, or for a prompt's next chunk, rises by one every 250 ms at present, and puts out no equal. [0 to
        /// 7, default 0]</summary>
        public int priority;
        /// <summary>0. [default 0]</summary>
        public uint reserved;
        /// <summary>From now on. Among waiting requests of one level, which is their priority and what waiting has added,
        /// the earliest comes first, behind those that were put out; it is no promise. [microseconds, 0 or more, default 0:
        /// none]</summary>
        public ulong deadline_us;
        /// <summary>From now on, the time that it waits included. Then the request ends with TIMEOUT, and keeps its text so
        /// far; where a budget has left its step pending, only with the next computation. [microseconds, 0 or more, default
        /// 0: none]</summary>
        public ulong timeout_us;
        /// <summary>Comes back in each event. [any number, default 0]</summary>
        public ulong user;
        /// <summary>A session made with FOR_REQUESTS, of the same engine, that the request continues: tokens and text come
        /// behind what it has, a text without special tokens in front unless the session is empty and no other request for
        /// it waits when this one is submitted. A conversation takes the place of its tokens; what both begin with is not
        /// computed again. Requests for one session run one after the other, as they were submitted. The sequence stays in
        /// the session, with drawn tokens, also of a request that is cancelled. Whether the prompt fits behind the one
        /// before is known only when the request gets the session: if not, it ends with reason ERROR and CONTEXT_FULL or
        /// KV_FULL, and the session is as it was. [default NULL: a sequence of its own]</summary>
        public IntPtr continues;
        /// <summary>EMBED: what the vector is made of, without progress. Of no other kind. [default NULL: all
        /// defaults]</summary>
        public inlay_embed_params* embed;
        /// <summary>The request goes on behind what requests of the same number have computed, and nobody else's, and
        /// behind what the session has that it continues: so that nobody can tell by the time of an answer what others have
        /// asked. Of EMBED it changes nothing. [any number, default 0]</summary>
        public ulong cache_salt;
    }

    /// <summary>What became of a request since its last event. Arrays of events come with a stride,
    /// sizeof(inlay_request_event) as the caller knows it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_request_event
    {
        /// <summary>Number that inlay_submit gave.</summary>
        public ulong request_id;
        /// <summary>1 for the first event that was polled from the queue, then one more for each.</summary>
        public ulong number;
        /// <summary>Of the request.</summary>
        public ulong user;
        /// <summary>What it is.</summary>
        public RequestEventKind kind;
        /// <summary>Tokens of this event: tokens[first_token] to tokens[first_token + n_tokens - 1] of the call.
        /// [tokens]</summary>
        public int n_tokens;
        /// <summary>See n_tokens.</summary>
        public UIntPtr first_token;
        /// <summary>Where this event's text begins in the call's text. [bytes]</summary>
        public UIntPtr first_byte;
        /// <summary>Its length: whole characters, not ended by a zero. What may begin a stop string is held back until that
        /// is clear. With END and reason ERROR it is the error's message, cut to the room that the call has.
        /// [bytes]</summary>
        public UIntPtr text_bytes;
        /// <summary>With END: why. Else NONE.</summary>
        public FinishReason finish_reason;
        /// <summary>With END and reason ERROR: what failed. Else OK.</summary>
        public Status status;
        /// <summary>With END: tokens of the prompt, and with a session that it continues those before it, once it has got
        /// the session. [tokens]</summary>
        public int n_prompt;
        /// <summary>With END: those of them that were not computed for this request. [tokens]</summary>
        public int n_cached;
        /// <summary>With END: tokens that were drawn. [tokens]</summary>
        public int n_drawn;
        /// <summary>Likeliest tokens of each of them, the n_logprobs of the request's sampler: behind the event's tokens
        /// the call's tokens has n_tokens x n_top of them, for each token in its place the likeliest first; token -1 where
        /// fewer have a probability. [tokens]</summary>
        public int n_top;
        /// <summary>With END: from its submission until it began, or until its end if it never did.
        /// [microseconds]</summary>
        public ulong queued_us;
        /// <summary>With END: from there to its first token, or to its end if it drew none. [microseconds]</summary>
        public ulong prompt_us;
        /// <summary>With END: from there to its end. [microseconds]</summary>
        public ulong decode_us;
        /// <summary>With END and reason EMBEDDED: of the vector that inlay_request_take_values gives. Else 0.
        /// [values]</summary>
        public UIntPtr n_values;
    }

    /// <summary>How long inlay_run may compute. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_run_params
    {
        /// <summary>sizeof(inlay_run_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>Others than the named ones are refused. [default 0]</summary>
        public RunFlags flags;
        /// <summary>The call begins no part of a step that it does not expect to end within this time, by what parts like
        /// it have taken, but the first, so that requests go on with any budget. [microseconds, 0 or more, default 0: until
        /// no request can go on]</summary>
        public ulong budget_us;
        /// <summary>The longest that a step with prompts is to take: so it bounds the time from one token to the next of
        /// those that draw. Chunks of prompts are cut for it; the least chunk has 16 tokens at present. [microseconds, 0 or
        /// more, default 0: no bound]</summary>
        public ulong max_step_us;
        /// <summary>The same for the calling thread's time. It matters with NO_WAIT on a GPU, where budget_us bounds the
        /// GPU's time alone. Where the call waits for what it computes, the smaller of the two counts. [microseconds, 0 or
        /// more, default 0: no bound of its own]</summary>
        public ulong host_budget_us;
    }

    /// <summary>What a call of inlay_run came to.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_run_info
    {
        /// <summary>sizeof(inlay_run_info), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>What is left.</summary>
        public RunInfoFlags flags;
        /// <summary>Tokens that were drawn. [tokens]</summary>
        public ulong n_tokens;
        /// <summary>Requests of the engine that have not ended.</summary>
        public int n_requests;
        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>How an engine's own thread computes. Zero means default for every field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_thread_params
    {
        /// <summary>sizeof(inlay_thread_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>0. [default 0]</summary>
        public uint reserved;
        /// <summary>It computes for at most this long in each period, as far as that can be foretold. [microseconds, 0 or
        /// more, default 0: all the time]</summary>
        public ulong busy_us;
        /// <summary>Of at least busy_us; both are set or neither. [microseconds, 0 or more, default 0: all the
        /// time]</summary>
        public ulong period_us;
        /// <summary>As in inlay_run_params. [microseconds, 0 or more, default 0: no bound]</summary>
        public ulong max_step_us;
    }

    /// <summary>What a constraint is made of. Nothing of it is used after the call.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_constraint_params
    {
        /// <summary>sizeof(inlay_constraint_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>What the text is. [default JSON_SCHEMA]</summary>
        public ConstraintKind kind;
        /// <summary>Others than the named ones are refused. [default 0]</summary>
        public ConstraintFlags flags;
        /// <summary>0. [default 0]</summary>
        public uint reserved;
        /// <summary>The schema, grammar, expression, or JSON of a message. Not of ANY_JSON and CHOICES. [default NULL:
        /// none]</summary>
        public byte* text;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]</summary>
        public UIntPtr text_len;
        /// <summary>The texts of CHOICES; of no other kind. [default NULL: none]</summary>
        public inlay_text* choices;
        /// <summary>Their number, at least 1 with CHOICES. [0 to 65536, default 0]</summary>
        public UIntPtr n_choices;
        /// <summary>MESSAGE: tokens of the prompt, or its last ones, which say whether reasoning is open. Of no other kind.
        /// [default NULL: nothing of the answer is in it]</summary>
        public int* prompt;
        /// <summary>Their number. [tokens, 0 or more, default 0]</summary>
        public UIntPtr n_prompt;
        /// <summary>MESSAGE: how reasoning and calls are written, as in inlay_chat_parser_params. Of no other kind.
        /// [default NULL: the one that the template writes]</summary>
        public byte* format;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]</summary>
        public UIntPtr format_len;
        /// <summary>MESSAGE: the chat template that wrote the prompt, where it is not the model's own. Of no other kind.
        /// [default NULL: the model's own]</summary>
        public byte* chat_template;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]</summary>
        public UIntPtr template_len;
    }

    /// <summary>What a constraint takes.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_constraint_info
    {
        /// <summary>sizeof(inlay_constraint_info), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>Remarks, for inlay_constraint_get_remark.</summary>
        public int n_remarks;
        /// <summary>Host memory that it has now, without the vocabulary's, which all constraints of an engine share. It
        /// grows while it is used, within a bound: by tens of megabytes at most, and the choices or the grammar themselves.
        /// [bytes]</summary>
        public ulong memory_bytes;
    }

    /// <summary>Where a saved session's bytes go.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_state_writer
    {
        /// <summary>sizeof(inlay_state_writer). [bytes]</summary>
        public uint struct_size;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>Given to the callback.</summary>
        public IntPtr user;
        /// <summary>Takes the bytes, one part behind the other; must not be NULL.</summary>
        public IntPtr write;
    }

    /// <summary>Where a saved session's bytes come from.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_state_reader
    {
        /// <summary>sizeof(inlay_state_reader). [bytes]</summary>
        public uint struct_size;
        /// <summary>0.</summary>
        public uint reserved;
        /// <summary>Given to the callback.</summary>
        public IntPtr user;
        /// <summary>Gives the bytes, one part behind the other; must not be NULL.</summary>
        public IntPtr read;
    }

    /// <summary>What a message is read by. Nothing of it is used after the call. Zero means default for every
    /// field.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_chat_parser_params
    {
        /// <summary>sizeof(inlay_chat_parser_params). [bytes]</summary>
        public uint struct_size;
        /// <summary>Others than the named ones are refused. [default 0]</summary>
        public ChatParserFlags flags;
        /// <summary>A format as JSON, at most 1 MiB: docs/design/chat-parsing.md has its keys. [default NULL: the one that
        /// the template writes]</summary>
        public byte* format;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]</summary>
        public UIntPtr format_len;
        /// <summary>The chat template that wrote the prompt, where it is not the model's own. [default NULL: the model's
        /// own]</summary>
        public byte* chat_template;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]</summary>
        public UIntPtr template_len;
        /// <summary>The tools as a JSON array: {"type": "function", "function": {"name", "parameters": JSON Schema}}, or
        /// the inner object alone. What formats write without quotes becomes JSON by their types. [default NULL:
        /// none]</summary>
        public byte* tools;
        /// <summary>Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]</summary>
        public UIntPtr tools_len;
        /// <summary>Tokens of the prompt, or its last ones. Templates may begin the answer, as those do that open the
        /// reasoning. [default NULL: not known]</summary>
        public int* prompt;
        /// <summary>Their number. [tokens, 0 or more, default 0]</summary>
        public UIntPtr n_prompt;
    }

    /// <summary>A part of a message. Arrays of them come with a stride, sizeof(inlay_chat_delta) as the caller knows
    /// it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_chat_delta
    {
        /// <summary>What it is.</summary>
        public ChatDeltaKind kind;
        /// <summary>What is to be known of it.</summary>
        public ChatDeltaFlags flags;
        /// <summary>The call that it is of, 0 for the message's first. 0 with REASONING and CONTENT.</summary>
        public int call;
        /// <summary>0.</summary>
        public int reserved;
        /// <summary>Where its text begins in the call's text. [bytes]</summary>
        public UIntPtr first_byte;
        /// <summary>Its length: whole characters, not ended by a zero. [bytes]</summary>
        public UIntPtr text_bytes;
    }

    /// <summary>Where a parser is.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct inlay_chat_parser_info
    {
        /// <summary>sizeof(inlay_chat_parser_info), set by the caller. [bytes]</summary>
        public uint struct_size;
        /// <summary>Where it is.</summary>
        public ChatParserInfoFlags flags;
        /// <summary>Calls that have begun.</summary>
        public int n_calls;
        /// <summary>0.</summary>
        public int reserved;
    }

    /// <summary>One model's weights on one device, with the KV pool and the statistics of its sessions. Freed with
    /// inlay_free, when nobody uses it any more.</summary>
    public sealed class EngineHandle : SafeHandle
    {
        private readonly Api _api;

        internal EngineHandle(Api api) : base(IntPtr.Zero, true) { _api = api; }

        /// <inheritdoc/>
        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        internal void Set(IntPtr value) { SetHandle(value); }

        /// <inheritdoc/>
        protected override bool ReleaseHandle()
        {
            _api.inlay_free(handle);
            return true;
        }
    }

    /// <summary>One token sequence of an engine, which it keeps alive. It keeps its inlay_engine alive. Freed with
    /// inlay_session_free, when nobody uses it any more.</summary>
    public sealed class SessionHandle : SafeHandle
    {
        private readonly Api _api;

        internal Action? Freed;

        internal SessionHandle(Api api) : base(IntPtr.Zero, true) { _api = api; }

        /// <inheritdoc/>
        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        internal void Set(IntPtr value) { SetHandle(value); }

        /// <inheritdoc/>
        protected override bool ReleaseHandle()
        {
            _api.inlay_session_free(handle);
            if (Freed != null) Freed();
            return true;
        }
    }

    /// <summary>Where a part of a program submits requests to an engine, and collects what becomes of them. It keeps no
    /// engine alive and may outlive it. Freed with inlay_queue_free, when nobody uses it any more.</summary>
    public sealed class QueueHandle : SafeHandle
    {
        private readonly Api _api;

        internal QueueHandle(Api api) : base(IntPtr.Zero, true) { _api = api; }

        /// <inheritdoc/>
        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        internal void Set(IntPtr value) { SetHandle(value); }

        /// <inheritdoc/>
        protected override bool ReleaseHandle()
        {
            _api.inlay_queue_free(handle);
            return true;
        }
    }

    /// <summary>Which texts may be written, compiled for an engine's vocabulary. Any number of sessions and threads may use
    /// one at a time. It keeps no engine alive. Freed with inlay_constraint_free, when nobody uses it any more.</summary>
    public sealed class ConstraintHandle : SafeHandle
    {
        private readonly Api _api;

        internal ConstraintHandle(Api api) : base(IntPtr.Zero, true) { _api = api; }

        /// <inheritdoc/>
        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        internal void Set(IntPtr value) { SetHandle(value); }

        /// <inheritdoc/>
        protected override bool ReleaseHandle()
        {
            _api.inlay_constraint_free(handle);
            return true;
        }
    }

    /// <summary>Takes a message apart while a model writes it: reasoning, content and calls of tools. It keeps no engine
    /// alive. Freed with inlay_chat_parser_free, when nobody uses it any more.</summary>
    public sealed class ChatParserHandle : SafeHandle
    {
        private readonly Api _api;

        internal ChatParserHandle(Api api) : base(IntPtr.Zero, true) { _api = api; }

        /// <inheritdoc/>
        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        internal void Set(IntPtr value) { SetHandle(value); }

        /// <inheritdoc/>
        protected override bool ReleaseHandle()
        {
            _api.inlay_chat_parser_free(handle);
            return true;
        }
    }

    /// <summary>The functions of a loaded library, under their C names. <see cref="Inlay.Library"/> makes it.</summary>
    public sealed unsafe class Api
    {
        /// <summary>The ABI that this file was generated from.</summary>
        public const int AbiMajor = 1;
        /// <inheritdoc cref="AbiMajor"/>
        public const int AbiMinor = 3;
        /// <summary>Most alternatives that one event can report.</summary>
        public const int INLAY_MAX_LOGPROBS = 20;
        /// <summary>Bytes of text that one event can carry; the rest is had with inlay_session_take_text.</summary>
        public const int INLAY_EVENT_TEXT_BYTES = 128;
        /// <summary>Size of the message in inlay_error, with its terminating zero.</summary>
        public const int INLAY_ERROR_MESSAGE_BYTES = 480;
        /// <summary>Size of the texts in inlay_device_info, with their terminating zero.</summary>
        public const int INLAY_DEVICE_NAME_BYTES = 128;
        /// <summary>Bytes of a token's piece that inlay_token_info can carry.</summary>
        public const int INLAY_TOKEN_PIECE_BYTES = 128;

#if NET5_0_OR_GREATER
        private readonly delegate* unmanaged[Cdecl]<byte*, UIntPtr, inlay_load_params*, IntPtr*, inlay_error*, Status> _inlay_load;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_prefill;
        private readonly delegate* unmanaged[Cdecl]<IntPtr*, UIntPtr, inlay_event*, UIntPtr, inlay_error*, Status> _inlay_decode_step;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, void> _inlay_free;
        private readonly delegate* unmanaged[Cdecl]<byte*> _inlay_version_string;
        private readonly delegate* unmanaged[Cdecl]<uint> _inlay_abi_version;
        private readonly delegate* unmanaged[Cdecl]<Status, byte*> _inlay_status_name;
        private readonly delegate* unmanaged[Cdecl]<int> _inlay_device_count;
        private readonly delegate* unmanaged[Cdecl]<int, inlay_device_info*, inlay_error*, Status> _inlay_device_get;
        private readonly delegate* unmanaged[Cdecl]<void*, UIntPtr, inlay_load_params*, IntPtr*, inlay_error*, Status> _inlay_load_memory;
        private readonly delegate* unmanaged[Cdecl]<inlay_reader*, inlay_load_params*, IntPtr*, inlay_error*, Status> _inlay_load_reader;
        private readonly delegate* unmanaged[Cdecl]<byte*, UIntPtr, inlay_load_params*, inlay_memory_info*, inlay_error*, Status> _inlay_memory_plan;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_engine_info*, inlay_error*, Status> _inlay_engine_get_info;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, UIntPtr*, inlay_error*, Status> _inlay_meta_count;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_meta_key;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_meta_value;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, TokenizeFlags, int*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_tokenize;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, DetokenizeFlags, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_detokenize;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, int, inlay_token_info*, inlay_error*, Status> _inlay_token_get_info;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_session_params*, IntPtr*, inlay_error*, Status> _inlay_session_create;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, void> _inlay_session_free;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_session_info*, inlay_error*, Status> _inlay_session_get_info;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_session_take_text;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, IntPtr*, inlay_error*, Status> _inlay_session_fork;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, inlay_error*, Status> _inlay_session_truncate;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_sampler_params*, inlay_error*, Status> _inlay_session_set_sampler;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_text*, UIntPtr, inlay_error*, Status> _inlay_session_set_stop;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, float*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_session_copy_logits;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, void> _inlay_session_cancel;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_stats*, inlay_error*, Status> _inlay_engine_get_stats;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_plan_text;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, ulong*, LogSeverity*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_log_read;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_profile_params*, inlay_error*, Status> _inlay_profile_step;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, ProfileForm, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_profile_text;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, IntPtr, int*, UIntPtr, double, int*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_compare_text;
        private readonly delegate* unmanaged[Cdecl]<byte*, UIntPtr, byte*, UIntPtr, inlay_convert_params*, inlay_error*, Status> _inlay_convert;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, inlay_chat_params*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_chat_render;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_embed_input*, UIntPtr, UIntPtr, inlay_embed_params*, float*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_embed;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, IntPtr, int*, UIntPtr, int*, UIntPtr, inlay_score_params*, inlay_token_score*, UIntPtr, inlay_token_logprob*, UIntPtr, inlay_error*, Status> _inlay_score;
        private readonly delegate* unmanaged[Cdecl]<byte*, UIntPtr, inlay_load_params*, ExplainForm, int*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_explain;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_logits*, inlay_error*, Status> _inlay_session_view_logits;
        private readonly delegate* unmanaged[Cdecl]<IntPtr*, UIntPtr, int, inlay_event*, UIntPtr, int*, inlay_error*, Status> _inlay_decode_slice;
        private readonly delegate* unmanaged[Cdecl]<IntPtr*, UIntPtr, inlay_error*, Status> _inlay_decode_abandon;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, inlay_error*, Status> _inlay_session_set_stop_tokens;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, ulong, inlay_error*, Status> _inlay_session_cancel_generation;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, int, inlay_error*, Status> _inlay_session_set_max_tokens;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, inlay_chat_params*, int*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_chat_tokenize;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, UIntPtr, inlay_error*, Status> _inlay_session_shift;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_session_accept;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, int*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_session_get_tokens;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_queue_params*, IntPtr*, inlay_error*, Status> _inlay_queue_create;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, void> _inlay_queue_free;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_request*, ulong*, inlay_error*, Status> _inlay_submit;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, ulong, inlay_error*, Status> _inlay_request_cancel;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, ulong, float*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_request_take_values;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_request_event*, UIntPtr, UIntPtr, inlay_token_logprob*, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_poll;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, long, WaitResult*, inlay_error*, Status> _inlay_wait;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_error*, Status> _inlay_queue_wake;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, WaitKind*, long*, inlay_error*, Status> _inlay_queue_get_handle;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_run_params*, inlay_run_info*, inlay_error*, Status> _inlay_run;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_thread_params*, inlay_error*, Status> _inlay_engine_set_thread;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_constraint_params*, IntPtr*, inlay_error*, Status> _inlay_constraint_create;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, void> _inlay_constraint_free;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_constraint_info*, inlay_error*, Status> _inlay_constraint_get_info;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_constraint_get_remark;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, IntPtr, byte*, UIntPtr, inlay_error*, Status> _inlay_session_set_constraint;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_session_get_forced_text;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, void*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_session_save;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_state_writer*, inlay_error*, Status> _inlay_session_save_to;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, void*, UIntPtr, IntPtr*, inlay_error*, Status> _inlay_session_restore;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_state_reader*, IntPtr*, inlay_error*, Status> _inlay_session_restore_from;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_chat_parser_params*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_chat_get_format;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_chat_parser_params*, IntPtr*, inlay_error*, Status> _inlay_chat_parser_create;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, void> _inlay_chat_parser_free;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, inlay_error*, Status> _inlay_chat_parser_append;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, inlay_error*, Status> _inlay_chat_parser_append_text;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_error*, Status> _inlay_chat_parser_finish;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_chat_delta*, UIntPtr, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_chat_parser_take;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, inlay_chat_parser_info*, inlay_error*, Status> _inlay_chat_parser_get_info;
        private readonly delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status> _inlay_chat_parser_get_message;

        // `find` takes a name and the minor version since which there is a function of this name.
        internal Api(Func<string, int, IntPtr> find)
        {
            _inlay_load = (delegate* unmanaged[Cdecl]<byte*, UIntPtr, inlay_load_params*, IntPtr*, inlay_error*, Status>)find("inlay_load", 0);
            _inlay_prefill = (delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_prefill", 0);
            _inlay_decode_step = (delegate* unmanaged[Cdecl]<IntPtr*, UIntPtr, inlay_event*, UIntPtr, inlay_error*, Status>)find("inlay_decode_step", 0);
            _inlay_free = (delegate* unmanaged[Cdecl]<IntPtr, void>)find("inlay_free", 0);
            _inlay_version_string = (delegate* unmanaged[Cdecl]<byte*>)find("inlay_version_string", 0);
            _inlay_abi_version = (delegate* unmanaged[Cdecl]<uint>)find("inlay_abi_version", 0);
            _inlay_status_name = (delegate* unmanaged[Cdecl]<Status, byte*>)find("inlay_status_name", 0);
            _inlay_device_count = (delegate* unmanaged[Cdecl]<int>)find("inlay_device_count", 0);
            _inlay_device_get = (delegate* unmanaged[Cdecl]<int, inlay_device_info*, inlay_error*, Status>)find("inlay_device_get", 0);
            _inlay_load_memory = (delegate* unmanaged[Cdecl]<void*, UIntPtr, inlay_load_params*, IntPtr*, inlay_error*, Status>)find("inlay_load_memory", 0);
            _inlay_load_reader = (delegate* unmanaged[Cdecl]<inlay_reader*, inlay_load_params*, IntPtr*, inlay_error*, Status>)find("inlay_load_reader", 0);
            _inlay_memory_plan = (delegate* unmanaged[Cdecl]<byte*, UIntPtr, inlay_load_params*, inlay_memory_info*, inlay_error*, Status>)find("inlay_memory_plan", 0);
            _inlay_engine_get_info = (delegate* unmanaged[Cdecl]<IntPtr, inlay_engine_info*, inlay_error*, Status>)find("inlay_engine_get_info", 0);
            _inlay_meta_count = (delegate* unmanaged[Cdecl]<IntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_meta_count", 0);
            _inlay_meta_key = (delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_meta_key", 0);
            _inlay_meta_value = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_meta_value", 0);
            _inlay_tokenize = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, TokenizeFlags, int*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_tokenize", 0);
            _inlay_detokenize = (delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, DetokenizeFlags, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_detokenize", 0);
            _inlay_token_get_info = (delegate* unmanaged[Cdecl]<IntPtr, int, inlay_token_info*, inlay_error*, Status>)find("inlay_token_get_info", 0);
            _inlay_session_create = (delegate* unmanaged[Cdecl]<IntPtr, inlay_session_params*, IntPtr*, inlay_error*, Status>)find("inlay_session_create", 0);
            _inlay_session_free = (delegate* unmanaged[Cdecl]<IntPtr, void>)find("inlay_session_free", 0);
            _inlay_session_get_info = (delegate* unmanaged[Cdecl]<IntPtr, inlay_session_info*, inlay_error*, Status>)find("inlay_session_get_info", 0);
            _inlay_session_take_text = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_session_take_text", 0);
            _inlay_session_fork = (delegate* unmanaged[Cdecl]<IntPtr, IntPtr*, inlay_error*, Status>)find("inlay_session_fork", 0);
            _inlay_session_truncate = (delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, inlay_error*, Status>)find("inlay_session_truncate", 0);
            _inlay_session_set_sampler = (delegate* unmanaged[Cdecl]<IntPtr, inlay_sampler_params*, inlay_error*, Status>)find("inlay_session_set_sampler", 0);
            _inlay_session_set_stop = (delegate* unmanaged[Cdecl]<IntPtr, inlay_text*, UIntPtr, inlay_error*, Status>)find("inlay_session_set_stop", 0);
            _inlay_session_copy_logits = (delegate* unmanaged[Cdecl]<IntPtr, float*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_session_copy_logits", 0);
            _inlay_session_cancel = (delegate* unmanaged[Cdecl]<IntPtr, void>)find("inlay_session_cancel", 0);
            _inlay_engine_get_stats = (delegate* unmanaged[Cdecl]<IntPtr, inlay_stats*, inlay_error*, Status>)find("inlay_engine_get_stats", 0);
            _inlay_plan_text = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_plan_text", 0);
            _inlay_log_read = (delegate* unmanaged[Cdecl]<IntPtr, ulong*, LogSeverity*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_log_read", 0);
            _inlay_profile_step = (delegate* unmanaged[Cdecl]<IntPtr, inlay_profile_params*, inlay_error*, Status>)find("inlay_profile_step", 1);
            _inlay_profile_text = (delegate* unmanaged[Cdecl]<IntPtr, ProfileForm, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_profile_text", 1);
            _inlay_compare_text = (delegate* unmanaged[Cdecl]<IntPtr, IntPtr, int*, UIntPtr, double, int*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_compare_text", 1);
            _inlay_convert = (delegate* unmanaged[Cdecl]<byte*, UIntPtr, byte*, UIntPtr, inlay_convert_params*, inlay_error*, Status>)find("inlay_convert", 2);
            _inlay_chat_render = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, inlay_chat_params*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_chat_render", 2);
            _inlay_embed = (delegate* unmanaged[Cdecl]<IntPtr, inlay_embed_input*, UIntPtr, UIntPtr, inlay_embed_params*, float*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_embed", 2);
            _inlay_score = (delegate* unmanaged[Cdecl]<IntPtr, IntPtr, int*, UIntPtr, int*, UIntPtr, inlay_score_params*, inlay_token_score*, UIntPtr, inlay_token_logprob*, UIntPtr, inlay_error*, Status>)find("inlay_score", 2);
            _inlay_explain = (delegate* unmanaged[Cdecl]<byte*, UIntPtr, inlay_load_params*, ExplainForm, int*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_explain", 2);
            _inlay_session_view_logits = (delegate* unmanaged[Cdecl]<IntPtr, inlay_logits*, inlay_error*, Status>)find("inlay_session_view_logits", 2);
            _inlay_decode_slice = (delegate* unmanaged[Cdecl]<IntPtr*, UIntPtr, int, inlay_event*, UIntPtr, int*, inlay_error*, Status>)find("inlay_decode_slice", 2);
            _inlay_decode_abandon = (delegate* unmanaged[Cdecl]<IntPtr*, UIntPtr, inlay_error*, Status>)find("inlay_decode_abandon", 2);
            _inlay_session_set_stop_tokens = (delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, inlay_error*, Status>)find("inlay_session_set_stop_tokens", 2);
            _inlay_session_cancel_generation = (delegate* unmanaged[Cdecl]<IntPtr, ulong, inlay_error*, Status>)find("inlay_session_cancel_generation", 2);
            _inlay_session_set_max_tokens = (delegate* unmanaged[Cdecl]<IntPtr, int, inlay_error*, Status>)find("inlay_session_set_max_tokens", 2);
            _inlay_chat_tokenize = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, inlay_chat_params*, int*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_chat_tokenize", 2);
            _inlay_session_shift = (delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, UIntPtr, inlay_error*, Status>)find("inlay_session_shift", 2);
            _inlay_session_accept = (delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_session_accept", 2);
            _inlay_session_get_tokens = (delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, int*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_session_get_tokens", 2);
            _inlay_queue_create = (delegate* unmanaged[Cdecl]<IntPtr, inlay_queue_params*, IntPtr*, inlay_error*, Status>)find("inlay_queue_create", 3);
            _inlay_queue_free = (delegate* unmanaged[Cdecl]<IntPtr, void>)find("inlay_queue_free", 3);
            _inlay_submit = (delegate* unmanaged[Cdecl]<IntPtr, inlay_request*, ulong*, inlay_error*, Status>)find("inlay_submit", 3);
            _inlay_request_cancel = (delegate* unmanaged[Cdecl]<IntPtr, ulong, inlay_error*, Status>)find("inlay_request_cancel", 3);
            _inlay_request_take_values = (delegate* unmanaged[Cdecl]<IntPtr, ulong, float*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_request_take_values", 3);
            _inlay_poll = (delegate* unmanaged[Cdecl]<IntPtr, inlay_request_event*, UIntPtr, UIntPtr, inlay_token_logprob*, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_poll", 3);
            _inlay_wait = (delegate* unmanaged[Cdecl]<IntPtr, long, WaitResult*, inlay_error*, Status>)find("inlay_wait", 3);
            _inlay_queue_wake = (delegate* unmanaged[Cdecl]<IntPtr, inlay_error*, Status>)find("inlay_queue_wake", 3);
            _inlay_queue_get_handle = (delegate* unmanaged[Cdecl]<IntPtr, WaitKind*, long*, inlay_error*, Status>)find("inlay_queue_get_handle", 3);
            _inlay_run = (delegate* unmanaged[Cdecl]<IntPtr, inlay_run_params*, inlay_run_info*, inlay_error*, Status>)find("inlay_run", 3);
            _inlay_engine_set_thread = (delegate* unmanaged[Cdecl]<IntPtr, inlay_thread_params*, inlay_error*, Status>)find("inlay_engine_set_thread", 3);
            _inlay_constraint_create = (delegate* unmanaged[Cdecl]<IntPtr, inlay_constraint_params*, IntPtr*, inlay_error*, Status>)find("inlay_constraint_create", 3);
            _inlay_constraint_free = (delegate* unmanaged[Cdecl]<IntPtr, void>)find("inlay_constraint_free", 3);
            _inlay_constraint_get_info = (delegate* unmanaged[Cdecl]<IntPtr, inlay_constraint_info*, inlay_error*, Status>)find("inlay_constraint_get_info", 3);
            _inlay_constraint_get_remark = (delegate* unmanaged[Cdecl]<IntPtr, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_constraint_get_remark", 3);
            _inlay_session_set_constraint = (delegate* unmanaged[Cdecl]<IntPtr, IntPtr, byte*, UIntPtr, inlay_error*, Status>)find("inlay_session_set_constraint", 3);
            _inlay_session_get_forced_text = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_session_get_forced_text", 3);
            _inlay_session_save = (delegate* unmanaged[Cdecl]<IntPtr, void*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_session_save", 3);
            _inlay_session_save_to = (delegate* unmanaged[Cdecl]<IntPtr, inlay_state_writer*, inlay_error*, Status>)find("inlay_session_save_to", 3);
            _inlay_session_restore = (delegate* unmanaged[Cdecl]<IntPtr, void*, UIntPtr, IntPtr*, inlay_error*, Status>)find("inlay_session_restore", 3);
            _inlay_session_restore_from = (delegate* unmanaged[Cdecl]<IntPtr, inlay_state_reader*, IntPtr*, inlay_error*, Status>)find("inlay_session_restore_from", 3);
            _inlay_chat_get_format = (delegate* unmanaged[Cdecl]<IntPtr, inlay_chat_parser_params*, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_chat_get_format", 3);
            _inlay_chat_parser_create = (delegate* unmanaged[Cdecl]<IntPtr, inlay_chat_parser_params*, IntPtr*, inlay_error*, Status>)find("inlay_chat_parser_create", 3);
            _inlay_chat_parser_free = (delegate* unmanaged[Cdecl]<IntPtr, void>)find("inlay_chat_parser_free", 3);
            _inlay_chat_parser_append = (delegate* unmanaged[Cdecl]<IntPtr, int*, UIntPtr, inlay_error*, Status>)find("inlay_chat_parser_append", 3);
            _inlay_chat_parser_append_text = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, inlay_error*, Status>)find("inlay_chat_parser_append_text", 3);
            _inlay_chat_parser_finish = (delegate* unmanaged[Cdecl]<IntPtr, inlay_error*, Status>)find("inlay_chat_parser_finish", 3);
            _inlay_chat_parser_take = (delegate* unmanaged[Cdecl]<IntPtr, inlay_chat_delta*, UIntPtr, UIntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_chat_parser_take", 3);
            _inlay_chat_parser_get_info = (delegate* unmanaged[Cdecl]<IntPtr, inlay_chat_parser_info*, inlay_error*, Status>)find("inlay_chat_parser_get_info", 3);
            _inlay_chat_parser_get_message = (delegate* unmanaged[Cdecl]<IntPtr, byte*, UIntPtr, UIntPtr*, inlay_error*, Status>)find("inlay_chat_parser_get_message", 3);
        }
#else
        private static class Signature
        {
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_load(byte* path, UIntPtr path_len, inlay_load_params* @params, IntPtr* engine, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_prefill(IntPtr session, int* tokens, UIntPtr n_tokens, UIntPtr* n_done, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_decode_step(IntPtr* sessions, UIntPtr n_sessions, inlay_event* events, UIntPtr event_stride, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate void inlay_free(IntPtr engine);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate byte* inlay_version_string();
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate uint inlay_abi_version();
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate byte* inlay_status_name(Status status);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate int inlay_device_count();
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_device_get(int index, inlay_device_info* info, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_load_memory(void* data, UIntPtr n_bytes, inlay_load_params* @params, IntPtr* engine, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_load_reader(inlay_reader* reader, inlay_load_params* @params, IntPtr* engine, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_memory_plan(byte* path, UIntPtr path_len, inlay_load_params* @params, inlay_memory_info* info, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_engine_get_info(IntPtr engine, inlay_engine_info* info, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_meta_count(IntPtr engine, UIntPtr* count, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_meta_key(IntPtr engine, UIntPtr index, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_meta_value(IntPtr engine, byte* key, UIntPtr key_len, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_tokenize(IntPtr engine, byte* text, UIntPtr text_len, TokenizeFlags flags, int* tokens, UIntPtr cap, UIntPtr* n_tokens, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_detokenize(IntPtr engine, int* tokens, UIntPtr n_tokens, DetokenizeFlags flags, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_token_get_info(IntPtr engine, int token, inlay_token_info* info, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_create(IntPtr engine, inlay_session_params* @params, IntPtr* session, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate void inlay_session_free(IntPtr session);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_get_info(IntPtr session, inlay_session_info* info, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_take_text(IntPtr session, byte* buf, UIntPtr cap, UIntPtr* n_bytes, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_fork(IntPtr session, IntPtr* child, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_truncate(IntPtr session, UIntPtr n_tokens, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_set_sampler(IntPtr session, inlay_sampler_params* @params, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_set_stop(IntPtr session, inlay_text* stops, UIntPtr n_stops, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_copy_logits(IntPtr session, float* logits, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate void inlay_session_cancel(IntPtr session);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_engine_get_stats(IntPtr engine, inlay_stats* stats, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_plan_text(IntPtr engine, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_log_read(IntPtr engine, ulong* cursor, LogSeverity* level, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_profile_step(IntPtr engine, inlay_profile_params* @params, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_profile_text(IntPtr engine, ProfileForm form, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_compare_text(IntPtr engine_a, IntPtr engine_b, int* tokens, UIntPtr n_tokens, double nmse_limit, int* first, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_convert(byte* path, UIntPtr path_len, byte* out_path, UIntPtr out_path_len, inlay_convert_params* @params, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_render(IntPtr engine, byte* conversation, UIntPtr conversation_len, inlay_chat_params* @params, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_embed(IntPtr engine, inlay_embed_input* inputs, UIntPtr n_inputs, UIntPtr input_stride, inlay_embed_params* @params, float* @out, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_score(IntPtr engine, IntPtr against, int* tokens, UIntPtr n_tokens, int* lengths, UIntPtr n_texts, inlay_score_params* @params, inlay_token_score* scores, UIntPtr score_stride, inlay_token_logprob* top, UIntPtr top_cap, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_explain(byte* path, UIntPtr path_len, inlay_load_params* @params, ExplainForm form, int* n_devices, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_view_logits(IntPtr session, inlay_logits* view, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_decode_slice(IntPtr* sessions, UIntPtr n_sessions, int max_units, inlay_event* events, UIntPtr event_stride, int* units_left, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_decode_abandon(IntPtr* sessions, UIntPtr n_sessions, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_set_stop_tokens(IntPtr session, int* tokens, UIntPtr n_tokens, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_cancel_generation(IntPtr session, ulong generation, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_set_max_tokens(IntPtr session, int max_tokens, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_tokenize(IntPtr engine, byte* conversation, UIntPtr conversation_len, inlay_chat_params* @params, int* tokens, UIntPtr cap, UIntPtr* n_tokens, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_shift(IntPtr session, UIntPtr first, UIntPtr n_tokens, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_accept(IntPtr session, int* tokens, UIntPtr n_tokens, UIntPtr* n_accepted, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_get_tokens(IntPtr session, UIntPtr first, int* tokens, UIntPtr cap, UIntPtr* n_tokens, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_queue_create(IntPtr engine, inlay_queue_params* @params, IntPtr* queue, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate void inlay_queue_free(IntPtr queue);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_submit(IntPtr queue, inlay_request* request, ulong* request_id, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_request_cancel(IntPtr queue, ulong request_id, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_request_take_values(IntPtr queue, ulong request_id, float* values, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_poll(IntPtr queue, inlay_request_event* events, UIntPtr cap_events, UIntPtr event_stride, inlay_token_logprob* tokens, UIntPtr cap_tokens, byte* text, UIntPtr cap_text, UIntPtr* n_events, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_wait(IntPtr queue, long timeout_us, WaitResult* result, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_queue_wake(IntPtr queue, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_queue_get_handle(IntPtr queue, WaitKind* kind, long* handle, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_run(IntPtr engine, inlay_run_params* @params, inlay_run_info* info, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_engine_set_thread(IntPtr engine, inlay_thread_params* @params, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_constraint_create(IntPtr engine, inlay_constraint_params* @params, IntPtr* constraint, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate void inlay_constraint_free(IntPtr constraint);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_constraint_get_info(IntPtr constraint, inlay_constraint_info* info, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_constraint_get_remark(IntPtr constraint, UIntPtr index, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_set_constraint(IntPtr session, IntPtr constraint, byte* written, UIntPtr written_len, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_get_forced_text(IntPtr session, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_save(IntPtr session, void* state, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_save_to(IntPtr session, inlay_state_writer* writer, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_restore(IntPtr engine, void* state, UIntPtr n_bytes, IntPtr* session, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_session_restore_from(IntPtr engine, inlay_state_reader* reader, IntPtr* session, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_get_format(IntPtr engine, inlay_chat_parser_params* @params, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_parser_create(IntPtr engine, inlay_chat_parser_params* @params, IntPtr* parser, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate void inlay_chat_parser_free(IntPtr parser);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_parser_append(IntPtr parser, int* tokens, UIntPtr n_tokens, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_parser_append_text(IntPtr parser, byte* text, UIntPtr text_len, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_parser_finish(IntPtr parser, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_parser_take(IntPtr parser, inlay_chat_delta* deltas, UIntPtr cap_deltas, UIntPtr delta_stride, byte* text, UIntPtr cap_text, UIntPtr* n_deltas, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_parser_get_info(IntPtr parser, inlay_chat_parser_info* info, inlay_error* err);
            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
            internal delegate Status inlay_chat_parser_get_message(IntPtr parser, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err);
        }

        private readonly Signature.inlay_load _inlay_load;
        private readonly Signature.inlay_prefill _inlay_prefill;
        private readonly Signature.inlay_decode_step _inlay_decode_step;
        private readonly Signature.inlay_free _inlay_free;
        private readonly Signature.inlay_version_string _inlay_version_string;
        private readonly Signature.inlay_abi_version _inlay_abi_version;
        private readonly Signature.inlay_status_name _inlay_status_name;
        private readonly Signature.inlay_device_count _inlay_device_count;
        private readonly Signature.inlay_device_get _inlay_device_get;
        private readonly Signature.inlay_load_memory _inlay_load_memory;
        private readonly Signature.inlay_load_reader _inlay_load_reader;
        private readonly Signature.inlay_memory_plan _inlay_memory_plan;
        private readonly Signature.inlay_engine_get_info _inlay_engine_get_info;
        private readonly Signature.inlay_meta_count _inlay_meta_count;
        private readonly Signature.inlay_meta_key _inlay_meta_key;
        private readonly Signature.inlay_meta_value _inlay_meta_value;
        private readonly Signature.inlay_tokenize _inlay_tokenize;
        private readonly Signature.inlay_detokenize _inlay_detokenize;
        private readonly Signature.inlay_token_get_info _inlay_token_get_info;
        private readonly Signature.inlay_session_create _inlay_session_create;
        private readonly Signature.inlay_session_free _inlay_session_free;
        private readonly Signature.inlay_session_get_info _inlay_session_get_info;
        private readonly Signature.inlay_session_take_text _inlay_session_take_text;
        private readonly Signature.inlay_session_fork _inlay_session_fork;
        private readonly Signature.inlay_session_truncate _inlay_session_truncate;
        private readonly Signature.inlay_session_set_sampler _inlay_session_set_sampler;
        private readonly Signature.inlay_session_set_stop _inlay_session_set_stop;
        private readonly Signature.inlay_session_copy_logits _inlay_session_copy_logits;
        private readonly Signature.inlay_session_cancel _inlay_session_cancel;
        private readonly Signature.inlay_engine_get_stats _inlay_engine_get_stats;
        private readonly Signature.inlay_plan_text _inlay_plan_text;
        private readonly Signature.inlay_log_read _inlay_log_read;
        private readonly Signature.inlay_profile_step _inlay_profile_step;
        private readonly Signature.inlay_profile_text _inlay_profile_text;
        private readonly Signature.inlay_compare_text _inlay_compare_text;
        private readonly Signature.inlay_convert _inlay_convert;
        private readonly Signature.inlay_chat_render _inlay_chat_render;
        private readonly Signature.inlay_embed _inlay_embed;
        private readonly Signature.inlay_score _inlay_score;
        private readonly Signature.inlay_explain _inlay_explain;
        private readonly Signature.inlay_session_view_logits _inlay_session_view_logits;
        private readonly Signature.inlay_decode_slice _inlay_decode_slice;
        private readonly Signature.inlay_decode_abandon _inlay_decode_abandon;
        private readonly Signature.inlay_session_set_stop_tokens _inlay_session_set_stop_tokens;
        private readonly Signature.inlay_session_cancel_generation _inlay_session_cancel_generation;
        private readonly Signature.inlay_session_set_max_tokens _inlay_session_set_max_tokens;
        private readonly Signature.inlay_chat_tokenize _inlay_chat_tokenize;
        private readonly Signature.inlay_session_shift _inlay_session_shift;
        private readonly Signature.inlay_session_accept _inlay_session_accept;
        private readonly Signature.inlay_session_get_tokens _inlay_session_get_tokens;
        private readonly Signature.inlay_queue_create _inlay_queue_create;
        private readonly Signature.inlay_queue_free _inlay_queue_free;
        private readonly Signature.inlay_submit _inlay_submit;
        private readonly Signature.inlay_request_cancel _inlay_request_cancel;
        private readonly Signature.inlay_request_take_values _inlay_request_take_values;
        private readonly Signature.inlay_poll _inlay_poll;
        private readonly Signature.inlay_wait _inlay_wait;
        private readonly Signature.inlay_queue_wake _inlay_queue_wake;
        private readonly Signature.inlay_queue_get_handle _inlay_queue_get_handle;
        private readonly Signature.inlay_run _inlay_run;
        private readonly Signature.inlay_engine_set_thread _inlay_engine_set_thread;
        private readonly Signature.inlay_constraint_create _inlay_constraint_create;
        private readonly Signature.inlay_constraint_free _inlay_constraint_free;
        private readonly Signature.inlay_constraint_get_info _inlay_constraint_get_info;
        private readonly Signature.inlay_constraint_get_remark _inlay_constraint_get_remark;
        private readonly Signature.inlay_session_set_constraint _inlay_session_set_constraint;
        private readonly Signature.inlay_session_get_forced_text _inlay_session_get_forced_text;
        private readonly Signature.inlay_session_save _inlay_session_save;
        private readonly Signature.inlay_session_save_to _inlay_session_save_to;
        private readonly Signature.inlay_session_restore _inlay_session_restore;
        private readonly Signature.inlay_session_restore_from _inlay_session_restore_from;
        private readonly Signature.inlay_chat_get_format _inlay_chat_get_format;
        private readonly Signature.inlay_chat_parser_create _inlay_chat_parser_create;
        private readonly Signature.inlay_chat_parser_free _inlay_chat_parser_free;
        private readonly Signature.inlay_chat_parser_append _inlay_chat_parser_append;
        private readonly Signature.inlay_chat_parser_append_text _inlay_chat_parser_append_text;
        private readonly Signature.inlay_chat_parser_finish _inlay_chat_parser_finish;
        private readonly Signature.inlay_chat_parser_take _inlay_chat_parser_take;
        private readonly Signature.inlay_chat_parser_get_info _inlay_chat_parser_get_info;
        private readonly Signature.inlay_chat_parser_get_message _inlay_chat_parser_get_message;

        // `find` takes a name and the minor version since which there is a function of this name.
        internal Api(Func<string, int, IntPtr> find)
        {
            _inlay_load = Bind<Signature.inlay_load>(find("inlay_load", 0));
            _inlay_prefill = Bind<Signature.inlay_prefill>(find("inlay_prefill", 0));
            _inlay_decode_step = Bind<Signature.inlay_decode_step>(find("inlay_decode_step", 0));
            _inlay_free = Bind<Signature.inlay_free>(find("inlay_free", 0));
            _inlay_version_string = Bind<Signature.inlay_version_string>(find("inlay_version_string", 0));
            _inlay_abi_version = Bind<Signature.inlay_abi_version>(find("inlay_abi_version", 0));
            _inlay_status_name = Bind<Signature.inlay_status_name>(find("inlay_status_name", 0));
            _inlay_device_count = Bind<Signature.inlay_device_count>(find("inlay_device_count", 0));
            _inlay_device_get = Bind<Signature.inlay_device_get>(find("inlay_device_get", 0));
            _inlay_load_memory = Bind<Signature.inlay_load_memory>(find("inlay_load_memory", 0));
            _inlay_load_reader = Bind<Signature.inlay_load_reader>(find("inlay_load_reader", 0));
            _inlay_memory_plan = Bind<Signature.inlay_memory_plan>(find("inlay_memory_plan", 0));
            _inlay_engine_get_info = Bind<Signature.inlay_engine_get_info>(find("inlay_engine_get_info", 0));
            _inlay_meta_count = Bind<Signature.inlay_meta_count>(find("inlay_meta_count", 0));
            _inlay_meta_key = Bind<Signature.inlay_meta_key>(find("inlay_meta_key", 0));
            _inlay_meta_value = Bind<Signature.inlay_meta_value>(find("inlay_meta_value", 0));
            _inlay_tokenize = Bind<Signature.inlay_tokenize>(find("inlay_tokenize", 0));
            _inlay_detokenize = Bind<Signature.inlay_detokenize>(find("inlay_detokenize", 0));
            _inlay_token_get_info = Bind<Signature.inlay_token_get_info>(find("inlay_token_get_info", 0));
            _inlay_session_create = Bind<Signature.inlay_session_create>(find("inlay_session_create", 0));
            _inlay_session_free = Bind<Signature.inlay_session_free>(find("inlay_session_free", 0));
            _inlay_session_get_info = Bind<Signature.inlay_session_get_info>(find("inlay_session_get_info", 0));
            _inlay_session_take_text = Bind<Signature.inlay_session_take_text>(find("inlay_session_take_text", 0));
            _inlay_session_fork = Bind<Signature.inlay_session_fork>(find("inlay_session_fork", 0));
            _inlay_session_truncate = Bind<Signature.inlay_session_truncate>(find("inlay_session_truncate", 0));
            _inlay_session_set_sampler = Bind<Signature.inlay_session_set_sampler>(find("inlay_session_set_sampler", 0));
            _inlay_session_set_stop = Bind<Signature.inlay_session_set_stop>(find("inlay_session_set_stop", 0));
            _inlay_session_copy_logits = Bind<Signature.inlay_session_copy_logits>(find("inlay_session_copy_logits", 0));
            _inlay_session_cancel = Bind<Signature.inlay_session_cancel>(find("inlay_session_cancel", 0));
            _inlay_engine_get_stats = Bind<Signature.inlay_engine_get_stats>(find("inlay_engine_get_stats", 0));
            _inlay_plan_text = Bind<Signature.inlay_plan_text>(find("inlay_plan_text", 0));
            _inlay_log_read = Bind<Signature.inlay_log_read>(find("inlay_log_read", 0));
            _inlay_profile_step = Bind<Signature.inlay_profile_step>(find("inlay_profile_step", 1));
            _inlay_profile_text = Bind<Signature.inlay_profile_text>(find("inlay_profile_text", 1));
            _inlay_compare_text = Bind<Signature.inlay_compare_text>(find("inlay_compare_text", 1));
            _inlay_convert = Bind<Signature.inlay_convert>(find("inlay_convert", 2));
            _inlay_chat_render = Bind<Signature.inlay_chat_render>(find("inlay_chat_render", 2));
            _inlay_embed = Bind<Signature.inlay_embed>(find("inlay_embed", 2));
            _inlay_score = Bind<Signature.inlay_score>(find("inlay_score", 2));
            _inlay_explain = Bind<Signature.inlay_explain>(find("inlay_explain", 2));
            _inlay_session_view_logits = Bind<Signature.inlay_session_view_logits>(find("inlay_session_view_logits", 2));
            _inlay_decode_slice = Bind<Signature.inlay_decode_slice>(find("inlay_decode_slice", 2));
            _inlay_decode_abandon = Bind<Signature.inlay_decode_abandon>(find("inlay_decode_abandon", 2));
            _inlay_session_set_stop_tokens = Bind<Signature.inlay_session_set_stop_tokens>(find("inlay_session_set_stop_tokens", 2));
            _inlay_session_cancel_generation = Bind<Signature.inlay_session_cancel_generation>(find("inlay_session_cancel_generation", 2));
            _inlay_session_set_max_tokens = Bind<Signature.inlay_session_set_max_tokens>(find("inlay_session_set_max_tokens", 2));
            _inlay_chat_tokenize = Bind<Signature.inlay_chat_tokenize>(find("inlay_chat_tokenize", 2));
            _inlay_session_shift = Bind<Signature.inlay_session_shift>(find("inlay_session_shift", 2));
            _inlay_session_accept = Bind<Signature.inlay_session_accept>(find("inlay_session_accept", 2));
            _inlay_session_get_tokens = Bind<Signature.inlay_session_get_tokens>(find("inlay_session_get_tokens", 2));
            _inlay_queue_create = Bind<Signature.inlay_queue_create>(find("inlay_queue_create", 3));
            _inlay_queue_free = Bind<Signature.inlay_queue_free>(find("inlay_queue_free", 3));
            _inlay_submit = Bind<Signature.inlay_submit>(find("inlay_submit", 3));
            _inlay_request_cancel = Bind<Signature.inlay_request_cancel>(find("inlay_request_cancel", 3));
            _inlay_request_take_values = Bind<Signature.inlay_request_take_values>(find("inlay_request_take_values", 3));
            _inlay_poll = Bind<Signature.inlay_poll>(find("inlay_poll", 3));
            _inlay_wait = Bind<Signature.inlay_wait>(find("inlay_wait", 3));
            _inlay_queue_wake = Bind<Signature.inlay_queue_wake>(find("inlay_queue_wake", 3));
            _inlay_queue_get_handle = Bind<Signature.inlay_queue_get_handle>(find("inlay_queue_get_handle", 3));
            _inlay_run = Bind<Signature.inlay_run>(find("inlay_run", 3));
            _inlay_engine_set_thread = Bind<Signature.inlay_engine_set_thread>(find("inlay_engine_set_thread", 3));
            _inlay_constraint_create = Bind<Signature.inlay_constraint_create>(find("inlay_constraint_create", 3));
            _inlay_constraint_free = Bind<Signature.inlay_constraint_free>(find("inlay_constraint_free", 3));
            _inlay_constraint_get_info = Bind<Signature.inlay_constraint_get_info>(find("inlay_constraint_get_info", 3));
            _inlay_constraint_get_remark = Bind<Signature.inlay_constraint_get_remark>(find("inlay_constraint_get_remark", 3));
            _inlay_session_set_constraint = Bind<Signature.inlay_session_set_constraint>(find("inlay_session_set_constraint", 3));
            _inlay_session_get_forced_text = Bind<Signature.inlay_session_get_forced_text>(find("inlay_session_get_forced_text", 3));
            _inlay_session_save = Bind<Signature.inlay_session_save>(find("inlay_session_save", 3));
            _inlay_session_save_to = Bind<Signature.inlay_session_save_to>(find("inlay_session_save_to", 3));
            _inlay_session_restore = Bind<Signature.inlay_session_restore>(find("inlay_session_restore", 3));
            _inlay_session_restore_from = Bind<Signature.inlay_session_restore_from>(find("inlay_session_restore_from", 3));
            _inlay_chat_get_format = Bind<Signature.inlay_chat_get_format>(find("inlay_chat_get_format", 3));
            _inlay_chat_parser_create = Bind<Signature.inlay_chat_parser_create>(find("inlay_chat_parser_create", 3));
            _inlay_chat_parser_free = Bind<Signature.inlay_chat_parser_free>(find("inlay_chat_parser_free", 3));
            _inlay_chat_parser_append = Bind<Signature.inlay_chat_parser_append>(find("inlay_chat_parser_append", 3));
            _inlay_chat_parser_append_text = Bind<Signature.inlay_chat_parser_append_text>(find("inlay_chat_parser_append_text", 3));
            _inlay_chat_parser_finish = Bind<Signature.inlay_chat_parser_finish>(find("inlay_chat_parser_finish", 3));
            _inlay_chat_parser_take = Bind<Signature.inlay_chat_parser_take>(find("inlay_chat_parser_take", 3));
            _inlay_chat_parser_get_info = Bind<Signature.inlay_chat_parser_get_info>(find("inlay_chat_parser_get_info", 3));
            _inlay_chat_parser_get_message = Bind<Signature.inlay_chat_parser_get_message>(find("inlay_chat_parser_get_message", 3));
        }

        private static T Bind<T>(IntPtr function) where T : class
        {
            return function == IntPtr.Zero ? null : Marshal.GetDelegateForFunctionPointer<T>(function);
        }
#endif

        /// <summary>Loads a model: a GGUF file, of which a split one is named by its first file, or a Hugging Face folder
        /// with config.json and safetensors files.</summary>
        /// <param name="path">The file's path.</param>
        /// <param name="path_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="engine">The new engine.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on disk and processor for the whole load; progress is called meanwhile; takes
        /// device memory. Ownership: `*engine` is the caller's, to be freed with inlay_free. The file is not needed after
        /// the call. On error: `*engine` is NULL. Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY,
        /// NO_DEVICE, CANCELLED. Since: 1.0.</remarks>
        public Status inlay_load(byte* path, UIntPtr path_len, inlay_load_params* @params, IntPtr* engine, inlay_error* err)
        {
            return _inlay_load(path, path_len, @params, engine, err);
        }

        /// <summary>Appends tokens to a session and runs them, chunk by chunk. It begins a new generation: finish reason
        /// and max_tokens start over, text that was not taken is dropped.</summary>
        /// <param name="session">The session.</param>
        /// <param name="tokens">Token ids.</param>
        /// <param name="n_tokens">At least 1. [tokens]</param>
        /// <param name="n_done">How many of them the session has now. [tokens] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: on the device until all tokens are run; other threads' calls that
        /// compute on the engine run before it and after each chunk. Ownership: The tokens are copied. On error: The
        /// session keeps the first `*n_done` tokens, whole chunks; none unless it was cancelled, or the device or memory
        /// failed. Errors: CONTEXT_FULL, KV_FULL, CANCELLED, INVALID_STATE, DEVICE_LOST. Since: 1.0.</remarks>
        public Status inlay_prefill(IntPtr session, int* tokens, UIntPtr n_tokens, UIntPtr* n_done, inlay_error* err)
        {
            return _inlay_prefill(session, tokens, n_tokens, n_done, err);
        }

        /// <summary>Draws one token for each of the sessions, reading the weights once for all. One event a session, in the
        /// order given. A session that cannot advance is unchanged and says so in its event's status; the others advance,
        /// and the first such status is returned. Sessions are of one engine, each named once. Calls of several threads
        /// that wait for their turn share a step; each is told of its own sessions alone.</summary>
        /// <param name="sessions">The sessions.</param>
        /// <param name="n_sessions">At least 1.</param>
        /// <param name="events">One event a session.</param>
        /// <param name="event_stride">sizeof(inlay_event): from one event to the next. [bytes]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(sessions). Blocks: on the device for one step; waits for other threads' calls that
        /// compute on the engine, at most for one chunk of each prefill, and up to a millisecond or half a step for calls
        /// that shared the last step. Ownership: Events are copies. On error: Wrong arguments: nothing happened, events are
        /// untouched. Otherwise each event has its own status. UNSUPPORTED: the session's constraint needs more than its
        /// limits at this place of its text. Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, FORMAT, DEVICE_LOST. Since:
        /// 1.0.</remarks>
        public Status inlay_decode_step(IntPtr* sessions, UIntPtr n_sessions, inlay_event* events, UIntPtr event_stride, inlay_error* err)
        {
            return _inlay_decode_step(sessions, n_sessions, events, event_stride, err);
        }

        /// <summary>Gives up an engine. Its memory goes when its last session is freed, too. Its requests end as CANCELLED,
        /// its thread ends, and its queues' wake functions are called on this one. NULL is allowed.</summary>
        /// <param name="engine">The engine. May be null.</param>
        /// <remarks>Thread: exclusive(engine). Blocks: until the device is idle; not where other threads are inside the
        /// engine: the last of them to leave does all of this, on its thread. inlay_run leaves soon, with INVALID_STATE.
        /// Ownership: The handle is invalid afterwards. Since: 1.0.</remarks>
        public void inlay_free(IntPtr engine)
        {
            _inlay_free(engine);
        }

        /// <summary>The library's version, such as 0.1.0.</summary>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. Since: 1.0.</remarks>
        public byte* inlay_version_string()
        {
            return _inlay_version_string();
        }

        /// <summary>The ABI that the library offers: major x 65536 + minor. It serves every client of the same major and a
        /// minor up to its own.</summary>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. Since: 1.0.</remarks>
        public uint inlay_abi_version()
        {
            return _inlay_abi_version();
        }

        /// <summary>A status as it is written in the header, without the prefix: KV_FULL. A number that is none gives
        /// UNKNOWN.</summary>
        /// <param name="status">The status.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. Since: 1.0.</remarks>
        public byte* inlay_status_name(Status status)
        {
            return _inlay_status_name(status);
        }

        /// <summary>Number of devices; device 0 is the processor.</summary>
        /// <remarks>Thread: any. Blocks: on drivers at the first call. Ownership: Nothing is kept. Since: 1.0.</remarks>
        public int inlay_device_count()
        {
            return _inlay_device_count();
        }

        /// <summary>Describes a device.</summary>
        /// <param name="index">0 to inlay_device_count() - 1.</param>
        /// <param name="info">The device.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors: NOT_FOUND.
        /// Since: 1.0.</remarks>
        public Status inlay_device_get(int index, inlay_device_info* info, inlay_error* err)
        {
            return _inlay_device_get(index, info, err);
        }

        /// <summary>Loads a model that lies in memory.</summary>
        /// <param name="data">The model's bytes.</param>
        /// <param name="n_bytes">Their number. [bytes]</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="engine">The new engine.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on the processor for the whole load; progress is called meanwhile; takes device
        /// memory. Ownership: `*engine` is the caller's, to be freed with inlay_free. `data` is not needed after the call.
        /// On error: `*engine` is NULL. Errors: FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED. Since:
        /// 1.0.</remarks>
        public Status inlay_load_memory(void* data, UIntPtr n_bytes, inlay_load_params* @params, IntPtr* engine, inlay_error* err)
        {
            return _inlay_load_memory(data, n_bytes, @params, engine, err);
        }

        /// <summary>Loads a model through a callback, which is called on this thread and during this call only.</summary>
        /// <param name="reader">Where the bytes come from.</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="engine">The new engine.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on the callback and the processor for the whole load; takes device memory.
        /// Ownership: `*engine` is the caller's, to be freed with inlay_free. The reader is not needed after the call. On
        /// error: `*engine` is NULL. Errors: IO, FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED. Since:
        /// 1.0.</remarks>
        public Status inlay_load_reader(inlay_reader* reader, inlay_load_params* @params, IntPtr* engine, inlay_error* err)
        {
            return _inlay_load_reader(reader, @params, engine, err);
        }

        /// <summary>Tells what inlay_load would need, from the file's header alone.</summary>
        /// <param name="path">The file's path.</param>
        /// <param name="path_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="info">The needs.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on disk, for the header. Ownership: Nothing is kept. On error: Nothing has
        /// changed. Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, NO_DEVICE. Since: 1.0.</remarks>
        public Status inlay_memory_plan(byte* path, UIntPtr path_len, inlay_load_params* @params, inlay_memory_info* info, inlay_error* err)
        {
            return _inlay_memory_plan(path, path_len, @params, info, err);
        }

        /// <summary>Sizes of the model and of what was allocated for it.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="info">The sizes.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors: only the
        /// common ones. Since: 1.0.</remarks>
        public Status inlay_engine_get_info(IntPtr engine, inlay_engine_info* info, inlay_error* err)
        {
            return _inlay_engine_get_info(engine, info, err);
        }

        /// <summary>Number of the model file's metadata entries.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="count">The number.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors: only the
        /// common ones. Since: 1.0.</remarks>
        public Status inlay_meta_count(IntPtr engine, UIntPtr* count, inlay_error* err)
        {
            return _inlay_meta_count(engine, count, err);
        }

        /// <summary>Key of a metadata entry, in the file's order.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="index">0 to the count - 1.</param>
        /// <param name="buf">The key, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the key. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors: NOT_FOUND,
        /// BUFFER_TOO_SMALL. Since: 1.0.</remarks>
        public Status inlay_meta_key(IntPtr engine, UIntPtr index, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            return _inlay_meta_key(engine, index, buf, cap, needed, err);
        }

        /// <summary>A metadata value as text. An array is written as [a, b, c]; a long one is cut short and says how many
        /// elements there are.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="key">The key, such as general.architecture.</param>
        /// <param name="key_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="buf">The value, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the value. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors: NOT_FOUND,
        /// BUFFER_TOO_SMALL. Since: 1.0.</remarks>
        public Status inlay_meta_value(IntPtr engine, byte* key, UIntPtr key_len, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            return _inlay_meta_value(engine, key, key_len, buf, cap, needed, err);
        }

        /// <summary>Turns text into token ids, which can all be prefilled. There may be more of them than bytes of text:
        /// ill-formed UTF-8 becomes U+FFFD, a vocabulary's normalizer may lengthen the text, tokens are added around it.
        /// The same text and flags always give the same ids, so `*n_tokens` of one call is room for the next: ask with
        /// tokens NULL and cap 0, or grow at BUFFER_TOO_SMALL.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="text">The text; ill-formed UTF-8 is read as U+FFFD.</param>
        /// <param name="text_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="flags">0 adds BOS and EOS as the model asks and reads control tokens as plain text.</param>
        /// <param name="tokens">The ids. May be null.</param>
        /// <param name="cap">Room in tokens. [tokens]</param>
        /// <param name="n_tokens">Their number. [tokens]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: `*n_tokens` is what is
        /// needed, tokens are unspecified. Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CANCELLED. Since: 1.0.</remarks>
        public Status inlay_tokenize(IntPtr engine, byte* text, UIntPtr text_len, TokenizeFlags flags, int* tokens, UIntPtr cap, UIntPtr* n_tokens, inlay_error* err)
        {
            return _inlay_tokenize(engine, text, text_len, flags, tokens, cap, n_tokens, err);
        }

        /// <summary>Turns token ids into text. If the ids begin or end inside a character, so does the text.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="tokens">The ids. May be null.</param>
        /// <param name="n_tokens">Their number. [tokens]</param>
        /// <param name="flags">0 leaves out control tokens.</param>
        /// <param name="buf">The text, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the text. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: `*needed` is set, buf
        /// is unspecified. Errors: UNSUPPORTED, BUFFER_TOO_SMALL. Since: 1.0.</remarks>
        public Status inlay_detokenize(IntPtr engine, int* tokens, UIntPtr n_tokens, DetokenizeFlags flags, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            return _inlay_detokenize(engine, tokens, n_tokens, flags, buf, cap, needed, err);
        }

        /// <summary>Describes one token.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="token">Its id.</param>
        /// <param name="info">The token.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors:
        /// UNSUPPORTED. Since: 1.0.</remarks>
        public Status inlay_token_get_info(IntPtr engine, int token, inlay_token_info* info, inlay_error* err)
        {
            return _inlay_token_get_info(engine, token, info, err);
        }

        /// <summary>Makes an empty session. UNSUPPORTED of a model whose tokens see those behind them (`attention.causal`
        /// false): it makes embeddings and writes no text.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="session">The new session.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no; where running requests have all places: for their step, after which one of
        /// them gives way; takes device memory. Ownership: `*session` is the caller's, to be freed with inlay_session_free;
        /// it keeps the engine alive. On error: `*session` is NULL. Errors: UNSUPPORTED, SESSION_LIMIT,
        /// DEVICE_OUT_OF_MEMORY, DEVICE_LOST. Since: 1.0.</remarks>
        public Status inlay_session_create(IntPtr engine, inlay_session_params* @params, IntPtr* session, inlay_error* err)
        {
            return _inlay_session_create(engine, @params, session, err);
        }

        /// <summary>Frees a session and gives its KV blocks back. NULL is allowed.</summary>
        /// <param name="session">The session. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no; the last session of an engine that was freed: until the device
        /// is idle. Ownership: The handle is invalid afterwards. Since: 1.0.</remarks>
        public void inlay_session_free(IntPtr session)
        {
            _inlay_session_free(session);
        }

        /// <summary>Tells where a session stands; as of the last finished step while another thread runs one.</summary>
        /// <param name="session">The session.</param>
        /// <param name="info">The state.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors: only the
        /// common ones. Since: 1.0.</remarks>
        public Status inlay_session_get_info(IntPtr session, inlay_session_info* info, inlay_error* err)
        {
            return _inlay_session_get_info(session, info, err);
        }

        /// <summary>Takes text that did not fit into events: as many whole characters as fit. Call it until `*n_bytes` is
        /// 0; what is not taken stays, also past later steps, and comes before newer text.</summary>
        /// <param name="session">The session.</param>
        /// <param name="buf">The text, not ended by a zero.</param>
        /// <param name="cap">Room in buf; 4 bytes hold any character. [bytes]</param>
        /// <param name="n_bytes">Bytes taken. [bytes]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: buf has
        /// no room for the next character. Errors: BUFFER_TOO_SMALL. Since: 1.0.</remarks>
        public Status inlay_session_take_text(IntPtr session, byte* buf, UIntPtr cap, UIntPtr* n_bytes, inlay_error* err)
        {
            return _inlay_session_take_text(session, buf, cap, n_bytes, err);
        }

        /// <summary>Makes a second session with the same sequence, parameters and state. Keys and values are shared until
        /// one of the two writes. Give the child another seed if the two are to differ.</summary>
        /// <param name="session">The session.</param>
        /// <param name="child">The new session.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no; takes device memory. Ownership: `*child` is the caller's, to be
        /// freed with inlay_session_free, in any order. On error: `*child` is NULL. Errors: SESSION_LIMIT,
        /// DEVICE_OUT_OF_MEMORY, INVALID_STATE, DEVICE_LOST. Since: 1.0.</remarks>
        public Status inlay_session_fork(IntPtr session, IntPtr* child, inlay_error* err)
        {
            return _inlay_session_fork(session, child, err);
        }

        /// <summary>Cuts the sequence back to its first tokens. It begins a new generation: finish reason and max_tokens
        /// start over, text that was not taken is dropped. Where a sliding window reaches back to keys that are no longer
        /// kept, the next prefill or step first runs the sequence from its beginning again.</summary>
        /// <param name="session">The session.</param>
        /// <param name="n_tokens">Tokens to keep, at most the present length. [tokens]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed.
        /// Errors: INVALID_STATE. Since: 1.0.</remarks>
        public Status inlay_session_truncate(IntPtr session, UIntPtr n_tokens, inlay_error* err)
        {
            return _inlay_session_truncate(session, n_tokens, err);
        }

        /// <summary>Changes how the following tokens are drawn.</summary>
        /// <param name="session">The session.</param>
        /// <param name="params">NULL: greedy. May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: Everything is copied. On error: Nothing has changed.
        /// Errors: INVALID_STATE. Since: 1.0.</remarks>
        public Status inlay_session_set_sampler(IntPtr session, inlay_sampler_params* @params, inlay_error* err)
        {
            return _inlay_session_set_sampler(session, @params, err);
        }

        /// <summary>Sets the texts that end a generation, at most 64 of at most 1024 bytes each; an empty one is refused,
        /// one that is given twice counts once. They are looked for in the text, and in what it is with the names of
        /// control tokens in it: &lt;|user|&gt; stops at that token. Text held back for the old ones stays held until the
        /// next step.</summary>
        /// <param name="session">The session.</param>
        /// <param name="stops">The texts, each of 1 to 1024 bytes. May be null.</param>
        /// <param name="n_stops">Their number, at most 64; 0 removes all.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: The texts are copied. On error: Nothing has changed.
        /// Errors: only the common ones. Since: 1.0.</remarks>
        public Status inlay_session_set_stop(IntPtr session, inlay_text* stops, UIntPtr n_stops, inlay_error* err)
        {
            return _inlay_session_set_stop(session, stops, n_stops, err);
        }

        /// <summary>Copies the logits of the last position that was run: those that the last token was drawn from, or the
        /// next one will be.</summary>
        /// <param name="session">The session.</param>
        /// <param name="logits">n_vocab values, as the model gives them. May be null.</param>
        /// <param name="cap">Room in logits. [values]</param>
        /// <param name="needed">n_vocab. [values] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed.
        /// Errors: INVALID_STATE, BUFFER_TOO_SMALL, FORMAT. Since: 1.0.</remarks>
        public Status inlay_session_copy_logits(IntPtr session, float* logits, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            return _inlay_session_copy_logits(session, logits, cap, needed, err);
        }

        /// <summary>Asks a session to stop. A prefill under way ends with CANCELLED after its chunk; otherwise the
        /// session's next step, or its next prefill, sees the request, once. NULL is allowed. It may be called from a
        /// signal handler: it takes no lock and no memory. The session must not be freed meanwhile, also not by the thread
        /// that the signal interrupts.</summary>
        /// <param name="session">The session. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. Since: 1.0.</remarks>
        public void inlay_session_cancel(IntPtr session)
        {
            _inlay_session_cancel(session);
        }

        /// <summary>What the engine has done so far.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="stats">The figures.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors: only the
        /// common ones. Since: 1.0.</remarks>
        public Status inlay_engine_get_stats(IntPtr engine, inlay_stats* stats, inlay_error* err)
        {
            return _inlay_engine_get_stats(engine, stats, err);
        }

        /// <summary>The list of operations that a step runs, as text: one line an operation, with its bytes and its
        /// floating-point operations for one token.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="buf">The text, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the text. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors:
        /// BUFFER_TOO_SMALL. Since: 1.0.</remarks>
        public Status inlay_plan_text(IntPtr engine, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            return _inlay_plan_text(engine, buf, cap, needed, err);
        }

        /// <summary>Reads one message from the engine's ring of the latest messages. `*cursor` is the number of the message
        /// read before, 0 for none, and becomes that of this one; numbers count from 1, and those that the ring no longer
        /// holds are passed over.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="cursor">Which message.</param>
        /// <param name="level">Its importance. May be null.</param>
        /// <param name="buf">Its text, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the text. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: `*cursor` is unchanged. NOT_FOUND: there
        /// is no newer message yet. Errors: NOT_FOUND, BUFFER_TOO_SMALL. Since: 1.0.</remarks>
        public Status inlay_log_read(IntPtr engine, ulong* cursor, LogSeverity* level, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            return _inlay_log_read(engine, cursor, level, buf, cap, needed, err);
        }

        /// <summary>Runs a step of fixed tokens again and again, in a session of its own: whole, then with a time for each
        /// operation, and measures how fast the device reads memory. The engine keeps its latest 16 profiles;
        /// inlay_profile_text writes them.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="params">The step; NULL for defaults. May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on the device for all repetitions; other calls that compute on the engine run
        /// between them; takes device memory. Ownership: Nothing is kept. On error: No profile is added. Errors:
        /// UNSUPPORTED, SESSION_LIMIT, KV_FULL, DEVICE_OUT_OF_MEMORY, INVALID_STATE, DEVICE_LOST. Since: 1.1.</remarks>
        public Status inlay_profile_step(IntPtr engine, inlay_profile_params* @params, inlay_error* err)
        {
            if (_inlay_profile_step == null) return Older.Refuse("inlay_profile_step", "1.1", err);
            return _inlay_profile_step(engine, @params, err);
        }

        /// <summary>What inlay_profile_step measured: time, bytes, bytes a second and the share of the read bandwidth,
        /// operation by operation. Bytes are those that the operation must move at least, each weight as it is
        /// held.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="form">Table or trace.</param>
        /// <param name="buf">The text, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the text. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: NOT_FOUND: nothing was profiled yet.
        /// Errors: NOT_FOUND, BUFFER_TOO_SMALL. Since: 1.1.</remarks>
        public Status inlay_profile_text(IntPtr engine, ProfileForm form, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_profile_text == null) return Older.Refuse("inlay_profile_text", "1.1", err);
            return _inlay_profile_text(engine, form, buf, cap, needed, err);
        }

        /// <summary>Runs the same tokens in two engines, all but the last as one step and the last as another, and writes
        /// how far apart each operation's values are: cosine, squared error over squares (NMSE), largest difference. For
        /// finding where two devices, or two files of a model, begin to differ.</summary>
        /// <param name="engine_a">The engine whose values count as right.</param>
        /// <param name="engine_b">The other one; it may be the same.</param>
        /// <param name="tokens">Token ids.</param>
        /// <param name="n_tokens">At least 1; one less than these at most prefill_chunk of both engines. [tokens]</param>
        /// <param name="nmse_limit">An NMSE above it, or one that is no number, counts as different.</param>
        /// <param name="first">The first operation that differs, counted over both steps; -1 if none does. May be
        /// null.</param>
        /// <param name="buf">The table, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the text. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on both devices for two steps, on each call, also one for the size; takes device
        /// memory. Ownership: Nothing is kept. On error: Nothing has changed. Errors: SESSION_LIMIT, CONTEXT_FULL, KV_FULL,
        /// BUFFER_TOO_SMALL, UNSUPPORTED, INVALID_STATE, DEVICE_LOST. Since: 1.1.</remarks>
        public Status inlay_compare_text(IntPtr engine_a, IntPtr engine_b, int* tokens, UIntPtr n_tokens, double nmse_limit, int* first, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_compare_text == null) return Older.Refuse("inlay_compare_text", "1.1", err);
            return _inlay_compare_text(engine_a, engine_b, tokens, n_tokens, nmse_limit, first, buf, cap, needed, err);
        }

        /// <summary>Writes a model as a GGUF file with matrices of another type, under the names that GGUF files use. The
        /// source is a path as inlay_load takes it. With a quantized type, quantized matrices that take as few bits a
        /// weight already stay as they are. A folder's tokenizer gives the same tokens, texts and ends from the file; the
        /// log names what other programs will not read there.</summary>
        /// <param name="path">The source.</param>
        /// <param name="path_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="out_path">The file to write, which is named so when it is whole.</param>
        /// <param name="out_path_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on disk, and to quantize. Ownership: Nothing is kept. On error: Nothing is left; a
        /// file that was there before stays. Where only the folder cannot be brought to the disk, IO: the file is in place,
        /// but its name may not outlive a power failure; the message says so. Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED,
        /// CANCELLED. Since: 1.2.</remarks>
        public Status inlay_convert(byte* path, UIntPtr path_len, byte* out_path, UIntPtr out_path_len, inlay_convert_params* @params, inlay_error* err)
        {
            if (_inlay_convert == null) return Older.Refuse("inlay_convert", "1.2", err);
            return _inlay_convert(path, path_len, out_path, out_path_len, @params, err);
        }

        /// <summary>Writes a conversation as the text that the model was trained on, by the model's chat template or a
        /// given one (Jinja, as Hugging Face transformers sets it up). A conversation is JSON: an array of messages such as
        /// {"role": "user", "content": "Hi"}, or an object of all the template's variables: messages, tools, documents,
        /// enable_thinking and so on. The text holds control tokens in writing, BOS where the template writes it: tokenize
        /// it with NO_BOS_EOS and PARSE_SPECIAL. Those that messages write pass as they are, too; inlay_chat_tokenize takes
        /// messages as text alone.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="conversation">JSON, as said above.</param>
        /// <param name="conversation_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="buf">The text, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the text. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: `*needed` is set, buf
        /// is unspecified. Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL. Since: 1.2.</remarks>
        public Status inlay_chat_render(IntPtr engine, byte* conversation, UIntPtr conversation_len, inlay_chat_params* @params, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_chat_render == null) return Older.Refuse("inlay_chat_render", "1.2", err);
            return _inlay_chat_render(engine, conversation, conversation_len, @params, buf, cap, needed, err);
        }

        /// <summary>Turns texts into vectors: the final hidden states of a text's tokens, normalized as before the output
        /// matrix, pooled. Texts run together where sessions are free; one longer than prefill_chunk runs in chunks, or is
        /// CONTEXT_FULL where tokens see later ones.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="inputs">The texts. May be null.</param>
        /// <param name="n_inputs">Their number.</param>
        /// <param name="input_stride">sizeof(inlay_embed_input): from one text to the next. [bytes]</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="out">n_inputs x width values, text after text. The width is d_model. With pooling DEFAULT it is
        /// d_model times the number of the model's poolings, or that of its last Dense layer. May be null.</param>
        /// <param name="cap">Room in out. [values]</param>
        /// <param name="needed">n_inputs x width. [values] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on the device until all texts are run; other threads' calls that compute on the
        /// engine run between its steps; progress is called meanwhile. Ownership: Nothing is kept. On error:
        /// BUFFER_TOO_SMALL: `*needed` is set, nothing was run. Otherwise `out` is unspecified. Errors: UNSUPPORTED,
        /// BUFFER_TOO_SMALL, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, INVALID_STATE, DEVICE_LOST, FORMAT, CANCELLED. Since:
        /// 1.2.</remarks>
        public Status inlay_embed(IntPtr engine, inlay_embed_input* inputs, UIntPtr n_inputs, UIntPtr input_stride, inlay_embed_params* @params, float* @out, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_embed == null) return Older.Refuse("inlay_embed", "1.2", err);
            return _inlay_embed(engine, inputs, n_inputs, input_stride, @params, @out, cap, needed, err);
        }

        /// <summary>Says how likely each token of texts is, given those before it: one run of the model in steps, nothing
        /// is drawn. Each text runs in a session of its own, several at once where sessions are free and a step has room; a
        /// longer one runs chunk by chunk. With another engine of the same vocabulary both run, and their distributions are
        /// compared: what a quantization costs.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="against">Another engine to compare with, whose distributions count as exact; or NULL. May be
        /// null.</param>
        /// <param name="tokens">The texts' token ids, one text after the other. May be null.</param>
        /// <param name="n_tokens">Of all texts together. [tokens]</param>
        /// <param name="lengths">Tokens of each text, 1 at least. NULL: all tokens are one text. May be null.</param>
        /// <param name="n_texts">Their number; without lengths 0.</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="scores">One for each token.</param>
        /// <param name="score_stride">sizeof(inlay_token_score): from one score to the next. [bytes]</param>
        /// <param name="top">n_tokens x n_logprobs entries: of each token the likeliest in its place, the likeliest first;
        /// token -1 where there is none. NULL without n_logprobs. May be null.</param>
        /// <param name="top_cap">Room in top.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on the device until all texts are run; other threads' calls that compute on the
        /// engine run between its steps; progress is called meanwhile. Ownership: Nothing is kept. On error:
        /// BUFFER_TOO_SMALL: nothing was run. Otherwise scores and top are unspecified. Errors: UNSUPPORTED,
        /// BUFFER_TOO_SMALL, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, INVALID_STATE, DEVICE_LOST, FORMAT, CANCELLED. Since:
        /// 1.2.</remarks>
        public Status inlay_score(IntPtr engine, IntPtr against, int* tokens, UIntPtr n_tokens, int* lengths, UIntPtr n_texts, inlay_score_params* @params, inlay_token_score* scores, UIntPtr score_stride, inlay_token_logprob* top, UIntPtr top_cap, inlay_error* err)
        {
            if (_inlay_score == null) return Older.Refuse("inlay_score", "1.2", err);
            return _inlay_score(engine, against, tokens, n_tokens, lengths, n_texts, @params, scores, score_stride, top, top_cap, err);
        }

        /// <summary>Says what a model is, from its files' headers alone: family, features, types of its tensors, which
        /// devices would run it and why others would not, and the memory that contexts of several lengths take. A model
        /// that no device runs is no error here; files that cannot be read are.</summary>
        /// <param name="path">As inlay_load takes it.</param>
        /// <param name="path_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="params">NULL: all defaults. Contexts are shown for its device. May be null.</param>
        /// <param name="form">Text or JSON.</param>
        /// <param name="n_devices">How many devices would run it with these parameters. May be null.</param>
        /// <param name="buf">The text, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Length of the text. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on disk, for headers and the tokenizer, and on drivers. Ownership: Nothing is
        /// kept. On error: Nothing has changed. Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL. Since:
        /// 1.2.</remarks>
        public Status inlay_explain(byte* path, UIntPtr path_len, inlay_load_params* @params, ExplainForm form, int* n_devices, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_explain == null) return Older.Refuse("inlay_explain", "1.2", err);
            return _inlay_explain(path, path_len, @params, form, n_devices, buf, cap, needed, err);
        }

        /// <summary>The logits that inlay_session_copy_logits copies, without a copy: for hosts that read those of many
        /// sessions after every step.</summary>
        /// <param name="session">The session.</param>
        /// <param name="view">Where they are.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: The values are the engine's. They are there until
        /// the session's next call that is `exclusive`, decode steps that it takes part in included, or its end. On error:
        /// `view` is unspecified. Errors: INVALID_STATE, DEVICE_LOST. Since: 1.2.</remarks>
        public Status inlay_session_view_logits(IntPtr session, inlay_logits* view, inlay_error* err)
        {
            if (_inlay_session_view_logits == null) return Older.Refuse("inlay_session_view_logits", "1.2", err);
            return _inlay_session_view_logits(session, view, err);
        }

        /// <summary>Runs a part of a decode step, for hosts that give the model a little time in every frame. The first
        /// call begins it, the next ones go on, until `*units_left` is 0: then events and status are those of
        /// inlay_decode_step, bit for bit. Units take about the same time, but for what a truncation has left to be run
        /// first. Meanwhile calls that compute on the engine (those under way on other threads wait), and those that fork
        /// its sessions, change them or set a sampler, return INVALID_STATE; later minors may refuse fewer. Freeing one of
        /// the sessions drops the step.</summary>
        /// <param name="sessions">The sessions; of a pending step those that it began with, in their order.</param>
        /// <param name="n_sessions">At least 1; at most 64 on a GPU.</param>
        /// <param name="max_units">Most units to run now. 0 begins a step, if none is pending, and tells its units.</param>
        /// <param name="events">One event a session, untouched until the step has ended.</param>
        /// <param name="event_stride">sizeof(inlay_event): from one event to the next. [bytes]</param>
        /// <param name="units_left">Units that the step still has; 0: it has ended, or the call failed.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(sessions). Blocks: on the device for max_units units; waits for other calls that
        /// compute on the engine, of a prefill for one chunk. Ownership: Events are copies. On error: Wrong arguments:
        /// nothing happened, events are untouched. Otherwise each event has its own status. Errors: KV_FULL, UNSUPPORTED,
        /// INVALID_STATE, BUSY, FORMAT, DEVICE_LOST. Since: 1.2.</remarks>
        public Status inlay_decode_slice(IntPtr* sessions, UIntPtr n_sessions, int max_units, inlay_event* events, UIntPtr event_stride, int* units_left, inlay_error* err)
        {
            if (_inlay_decode_slice == null) return Older.Refuse("inlay_decode_slice", "1.2", err);
            return _inlay_decode_slice(sessions, n_sessions, max_units, events, event_stride, units_left, err);
        }

        /// <summary>Drops the pending step that inlay_decode_slice has begun for these sessions: they are as they were
        /// before it, except that one which it found cancelled has finished. If no step is pending, nothing
        /// happens.</summary>
        /// <param name="sessions">The sessions that it began with, in their order.</param>
        /// <param name="n_sessions">At least 1.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(sessions). Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed.
        /// Errors: INVALID_STATE. Since: 1.2.</remarks>
        public Status inlay_decode_abandon(IntPtr* sessions, UIntPtr n_sessions, inlay_error* err)
        {
            if (_inlay_decode_abandon == null) return Older.Refuse("inlay_decode_abandon", "1.2", err);
            return _inlay_decode_abandon(sessions, n_sessions, err);
        }

        /// <summary>Sets the token ids that end a generation when drawn, in place of those that there were.</summary>
        /// <param name="session">The session.</param>
        /// <param name="tokens">Token ids; those outside of the vocabulary are refused. May be null.</param>
        /// <param name="n_tokens">At most 1024; 0: none. [tokens]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: The ids are copied. On error: Nothing has changed.
        /// Errors: only the common ones. Since: 1.2.</remarks>
        public Status inlay_session_set_stop_tokens(IntPtr session, int* tokens, UIntPtr n_tokens, inlay_error* err)
        {
            if (_inlay_session_set_stop_tokens == null) return Older.Refuse("inlay_session_set_stop_tokens", "1.2", err);
            return _inlay_session_set_stop_tokens(session, tokens, n_tokens, err);
        }

        /// <summary>Asks for the end of one generation: as inlay_session_cancel, but a request for one that is over has no
        /// effect on later ones. A generation begins with a prefill or a truncation; its number is one more than the last
        /// one's, and inlay_session_info tells it. A request for the coming one is seen by the prefill that begins it. Of
        /// requests for several the session knows the highest.</summary>
        /// <param name="session">The session.</param>
        /// <param name="generation">Its number.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors: only the
        /// common ones. Since: 1.2.</remarks>
        public Status inlay_session_cancel_generation(IntPtr session, ulong generation, inlay_error* err)
        {
            if (_inlay_session_cancel_generation == null) return Older.Refuse("inlay_session_cancel_generation", "1.2", err);
            return _inlay_session_cancel_generation(session, generation, err);
        }

        /// <summary>Sets how many tokens may be drawn after a prefill: with the last of them the session finishes, the
        /// reason is MAX_TOKENS. It counts for the generation under way, too; one that has drawn as many already ends with
        /// its next token. With INLAY_SESSION_RESERVE a generation under way also gets the KV blocks for a higher limit, or
        /// KV_FULL.</summary>
        /// <param name="session">The session.</param>
        /// <param name="max_tokens">0 or more; 0: no limit but the context. [tokens]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed.
        /// Errors: KV_FULL. Since: 1.2.</remarks>
        public Status inlay_session_set_max_tokens(IntPtr session, int max_tokens, inlay_error* err)
        {
            if (_inlay_session_set_max_tokens == null) return Older.Refuse("inlay_session_set_max_tokens", "1.2", err);
            return _inlay_session_set_max_tokens(session, max_tokens, err);
        }

        /// <summary>Writes a conversation as inlay_chat_render does, and tokenizes it, so that only the template's own
        /// control tokens count: those that the conversation writes, in messages, tools or any other of its values, or that
        /// arise only together with what it writes, are text. Where it writes none the tokens are those of
        /// inlay_chat_render and inlay_tokenize with NO_BOS_EOS and PARSE_SPECIAL, behind BOS where the model asks for it
        /// and its own template writes none. Whatever a template makes of the conversation's texts counts as theirs; where
        /// it changes a text that mixes both (replace, upper, tojson), all of it does.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="conversation">As inlay_chat_render takes it.</param>
        /// <param name="conversation_len">Its length, or SIZE_MAX. [bytes]</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="tokens">The tokens. May be null.</param>
        /// <param name="cap">Room in tokens. [tokens]</param>
        /// <param name="n_tokens">How many tokens the conversation has. [tokens]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: `*n_tokens` is set,
        /// nothing is written. Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL, CANCELLED. Since: 1.2.</remarks>
        public Status inlay_chat_tokenize(IntPtr engine, byte* conversation, UIntPtr conversation_len, inlay_chat_params* @params, int* tokens, UIntPtr cap, UIntPtr* n_tokens, inlay_error* err)
        {
            if (_inlay_chat_tokenize == null) return Older.Refuse("inlay_chat_tokenize", "1.2", err);
            return _inlay_chat_tokenize(engine, conversation, conversation_len, @params, tokens, cap, n_tokens, err);
        }

        /// <summary>Takes tokens out of the sequence: those behind them move to the front. Their keys and values stay, keys
        /// are rotated to the new positions (RoPE), in about the time of a copy. They still carry what they have seen of
        /// the tokens that went: logits are close to those of the shorter sequence, not the same; FP8 and INT8 keys are
        /// rounded once more. A generation goes on, also one that ended with CONTEXT_FULL; where the last token goes, this
        /// is inlay_session_truncate. Where a sliding window needs keys that are gone, the next prefill or step first runs
        /// the shorter sequence from its beginning. UNSUPPORTED: the model has a state that cannot lose tokens; no present
        /// model has.</summary>
        /// <param name="session">The session.</param>
        /// <param name="first">The first token to go, at most the present length. [tokens]</param>
        /// <param name="n_tokens">How many go; 0: nothing happens. [tokens]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: while the device moves keys and values; waits for other calls that
        /// compute on the engine. Ownership: Nothing is kept. On error: DEVICE_LOST: unspecified. Otherwise nothing has
        /// changed. Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, DEVICE_LOST. Since: 1.2.</remarks>
        public Status inlay_session_shift(IntPtr session, UIntPtr first, UIntPtr n_tokens, inlay_error* err)
        {
            if (_inlay_session_shift == null) return Older.Refuse("inlay_session_shift", "1.2", err);
            return _inlay_session_shift(session, first, n_tokens, err);
        }

        /// <summary>Appends tokens that the host chose, as if they had been drawn: they count toward max_tokens, penalties
        /// and DRY see them, their text comes with the next event or inlay_session_take_text. A stop string, a stop or end
        /// token, max_tokens or the context's end finishes the generation as in a step; what comes behind is not accepted.
        /// Averages of Mirostat and adaptive-p stay. Nothing is run: logits remain those of before, and the next step runs
        /// the tokens before it draws.</summary>
        /// <param name="session">A session that has tokens and has not finished.</param>
        /// <param name="tokens">Token ids. May be null.</param>
        /// <param name="n_tokens">0: nothing happens. [tokens]</param>
        /// <param name="n_accepted">How many of them the sequence has now; fewer only where the generation has finished, as
        /// inlay_session_get_info tells, or memory ran out. [tokens] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: The ids are copied. On error: OUT_OF_MEMORY: the
        /// first `*n_accepted` tokens stay. Otherwise nothing has changed. Errors: INVALID_STATE. Since: 1.2.</remarks>
        public Status inlay_session_accept(IntPtr session, int* tokens, UIntPtr n_tokens, UIntPtr* n_accepted, inlay_error* err)
        {
            if (_inlay_session_accept == null) return Older.Refuse("inlay_session_accept", "1.2", err);
            return _inlay_session_accept(session, tokens, n_tokens, n_accepted, err);
        }

        /// <summary>Reads a session's tokens back: those of prompts, drawn and accepted ones.</summary>
        /// <param name="session">The session.</param>
        /// <param name="first">The first token to read, at most the length of the sequence. [tokens]</param>
        /// <param name="tokens">Their ids, up to the end of the sequence. May be null.</param>
        /// <param name="cap">Room in tokens. [tokens]</param>
        /// <param name="n_tokens">How many there are from the first one on. [tokens]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL:
        /// `*n_tokens` is set, nothing is written. Errors: BUFFER_TOO_SMALL. Since: 1.2.</remarks>
        public Status inlay_session_get_tokens(IntPtr session, UIntPtr first, int* tokens, UIntPtr cap, UIntPtr* n_tokens, inlay_error* err)
        {
            if (_inlay_session_get_tokens == null) return Older.Refuse("inlay_session_get_tokens", "1.2", err);
            return _inlay_session_get_tokens(session, first, tokens, cap, n_tokens, err);
        }

        /// <summary>Makes a queue of an engine. An engine may have several; none sees what becomes of another's requests.
        /// All of them share the device.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="queue">The new queue.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: `*queue` is the caller's, to be freed with inlay_queue_free. It
        /// does not keep the engine alive. On error: `*queue` is NULL. Errors: only the common ones. Since: 1.3.</remarks>
        public Status inlay_queue_create(IntPtr engine, inlay_queue_params* @params, IntPtr* queue, inlay_error* err)
        {
            if (_inlay_queue_create == null) return Older.Refuse("inlay_queue_create", "1.3", err);
            return _inlay_queue_create(engine, @params, queue, err);
        }

        /// <summary>Cancels the queue's requests and frees it; nobody is told. Calls that wait for it end with
        /// INVALID_STATE. NULL is allowed. Not from within the queue's wake function.</summary>
        /// <param name="queue">The queue. May be null.</param>
        /// <remarks>Thread: exclusive(queue). Blocks: while the queue's wake function runs on another thread. Ownership:
        /// The handle is invalid afterwards. Since: 1.3.</remarks>
        public void inlay_queue_free(IntPtr queue)
        {
            if (_inlay_queue_free == null) return;
            _inlay_queue_free(queue);
        }

        /// <summary>Hands a request over; inlay_run or the engine's own thread computes it, together with others. What can
        /// be wrong with it is refused here. Rendering and tokenization happen in this call. The number that it gets is
        /// never used again, and there is nothing to free.</summary>
        /// <param name="queue">The queue.</param>
        /// <param name="request">The request.</param>
        /// <param name="request_id">Its number, at least 1.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: The request is copied. On error: `*request_id` is 0 and nothing was
        /// submitted. Errors: UNSUPPORTED, FORMAT, CONTEXT_FULL, KV_FULL, QUEUE_FULL, CANCELLED, INVALID_STATE,
        /// DEVICE_LOST. Since: 1.3.</remarks>
        public Status inlay_submit(IntPtr queue, inlay_request* request, ulong* request_id, inlay_error* err)
        {
            if (_inlay_submit == null) return Older.Refuse("inlay_submit", "1.3", err);
            return _inlay_submit(queue, request, request_id, err);
        }

        /// <summary>Ends a request of the queue: no token is added once this has returned. Those to be polled still arrive,
        /// then its END, with the next computation where a budget has left its step pending. An unknown number, or one
        /// whose END was there, changes nothing.</summary>
        /// <param name="queue">The queue.</param>
        /// <param name="request_id">Of inlay_submit.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors:
        /// INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_request_cancel(IntPtr queue, ulong request_id, inlay_error* err)
        {
            if (_inlay_request_cancel == null) return Older.Refuse("inlay_request_cancel", "1.3", err);
            return _inlay_request_cancel(queue, request_id, err);
        }

        /// <summary>Moves the vector of a request of kind EMBED that has ended with EMBEDDED to the caller, once. Until
        /// then it stays, and the request counts among the queue's max_requests. A request that ended otherwise has
        /// none.</summary>
        /// <param name="queue">The queue.</param>
        /// <param name="request_id">Of inlay_submit.</param>
        /// <param name="values">The vector. NULL with cap 0 only asks for the number of values. May be null.</param>
        /// <param name="cap">Room in values. [values]</param>
        /// <param name="needed">Values of the vector. [values] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: The vector stays. BUFFER_TOO_SMALL:
        /// `*needed` is set. NOT_FOUND: the queue has no vector of such a request: the number is unknown, the vector was
        /// taken, or the request ended without one. INVALID_STATE: the request has not ended. Errors: BUFFER_TOO_SMALL,
        /// NOT_FOUND, INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_request_take_values(IntPtr queue, ulong request_id, float* values, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_request_take_values == null) return Older.Refuse("inlay_request_take_values", "1.3", err);
            return _inlay_request_take_values(queue, request_id, values, cap, needed, err);
        }

        /// <summary>Collects what became of the queue's requests, as far as there is room; what there is no room for stays.
        /// A request's events come in order, its END last; nothing is ever lost but what is not wanted: with tokens NULL
        /// the tokens, with text NULL the texts.</summary>
        /// <param name="queue">The queue.</param>
        /// <param name="events">The events.</param>
        /// <param name="cap_events">Room in events.</param>
        /// <param name="event_stride">sizeof(inlay_request_event): from one event to the next. [bytes]</param>
        /// <param name="tokens">The events' tokens. NULL with cap_tokens 0: none are wanted. They are dropped, and n_tokens
        /// and n_top are 0 in each event. May be null.</param>
        /// <param name="cap_tokens">Room in tokens. [tokens]</param>
        /// <param name="text">The events' texts, one behind the other. NULL with cap_text 0: none are wanted. They are
        /// dropped, and text_bytes is 0 in each event. May be null.</param>
        /// <param name="cap_text">Room in text. [bytes]</param>
        /// <param name="n_events">Events that were written; 0 where there are none.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: no room for the next
        /// event. 1 event, 1 + n_logprobs tokens and 4 bytes of text, where these are wanted, are room for any; the error's
        /// required is 4 whatever lacks. INVALID_STATE: the engine was freed, and all was polled. Errors: BUFFER_TOO_SMALL,
        /// INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_poll(IntPtr queue, inlay_request_event* events, UIntPtr cap_events, UIntPtr event_stride, inlay_token_logprob* tokens, UIntPtr cap_tokens, byte* text, UIntPtr cap_text, UIntPtr* n_events, inlay_error* err)
        {
            if (_inlay_poll == null) return Older.Refuse("inlay_poll", "1.3", err);
            return _inlay_poll(queue, events, cap_events, event_stride, tokens, cap_tokens, text, cap_text, n_events, err);
        }

        /// <summary>Waits until the queue has something to poll. Refused with INVALID_STATE where nobody would ever wake
        /// it: the engine has no thread of its own and inlay_run was never called; with timeout_us 0 never refused for
        /// that.</summary>
        /// <param name="queue">The queue.</param>
        /// <param name="timeout_us">The longest wait; 0 asks only, a negative number waits for ever. [microseconds]</param>
        /// <param name="result">How it ended.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: until there is something to poll, the time is over, somebody calls
        /// inlay_queue_wake, the device is lost, the engine's thread ends where inlay_run was never called, or the queue or
        /// its engine is freed. Ownership: Nothing is kept. On error: Nothing has changed. Errors: INVALID_STATE,
        /// DEVICE_LOST. Since: 1.3.</remarks>
        public Status inlay_wait(IntPtr queue, long timeout_us, WaitResult* result, inlay_error* err)
        {
            if (_inlay_wait == null) return Older.Refuse("inlay_wait", "1.3", err);
            return _inlay_wait(queue, timeout_us, result, err);
        }

        /// <summary>Ends every inlay_wait of the queue that is under way. Where none is, the next one that would wait ends
        /// at once; calls until then count as one. Nothing else changes: there is no event, the system's handle stays as it
        /// is, and the wake function is not called.</summary>
        /// <param name="queue">The queue.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors:
        /// INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_queue_wake(IntPtr queue, inlay_error* err)
        {
            if (_inlay_queue_wake == null) return Older.Refuse("inlay_queue_wake", "1.3", err);
            return _inlay_queue_wake(queue, err);
        }

        /// <summary>Gives what a loop of the system can wait for: ready while there is something to poll. inlay_poll alone
        /// makes it unready. Once the engine is freed it is ready for ever, and inlay_poll says INVALID_STATE when all was
        /// polled: then leave it out.</summary>
        /// <param name="queue">The queue.</param>
        /// <param name="kind">What it is to the system.</param>
        /// <param name="handle">A file descriptor, or a HANDLE as a number.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: The handle belongs to the queue and is closed with it; do not read,
        /// write, set or close it. On error: Nothing has changed. Errors: UNSUPPORTED, IO, INVALID_STATE. Since:
        /// 1.3.</remarks>
        public Status inlay_queue_get_handle(IntPtr queue, WaitKind* kind, long* handle, inlay_error* err)
        {
            if (_inlay_queue_get_handle == null) return Older.Refuse("inlay_queue_get_handle", "1.3", err);
            return _inlay_queue_get_handle(queue, kind, handle, err);
        }

        /// <summary>Computes the engine's requests, of all queues, on the calling thread. A step that the budget cuts goes
        /// on at the next call; other calls that compute end it first, and fail no more than without it. It draws together
        /// what requests have to draw and runs prompts in chunks beside that.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="info">What it came to.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on the device for the budget, on a GPU with NO_WAIT not at all; waits for other
        /// threads' calls that compute on the engine. Ownership: Nothing is kept. On error: `*info` is as before; what was
        /// drawn is polled. BUSY: another thread is in it. INVALID_STATE: the engine has a thread of its own, or a decode
        /// step in slices is pending, which may have begun between two steps of this call. Errors: BUSY, INVALID_STATE,
        /// DEVICE_LOST. Since: 1.3.</remarks>
        public Status inlay_run(IntPtr engine, inlay_run_params* @params, inlay_run_info* info, inlay_error* err)
        {
            if (_inlay_run == null) return Older.Refuse("inlay_run", "1.3", err);
            return _inlay_run(engine, @params, info, err);
        }

        /// <summary>Gives the engine a thread of its own that computes its requests, changes how that one computes, or ends
        /// it. Without any thread the host calls inlay_run. The engine's log may then come from that thread.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="params">NULL: the thread ends. May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: to end the thread: for the step at hand. Ownership: Nothing is kept. On error:
        /// Nothing has changed. Errors: INVALID_STATE, DEVICE_LOST. Since: 1.3.</remarks>
        public Status inlay_engine_set_thread(IntPtr engine, inlay_thread_params* @params, inlay_error* err)
        {
            if (_inlay_engine_set_thread == null) return Older.Refuse("inlay_engine_set_thread", "1.3", err);
            return _inlay_engine_set_thread(engine, @params, err);
        }

        /// <summary>Compiles which texts may be written. The mask of tokens that may come next is exact: each of them
        /// begins what some allowed text goes on with, and control tokens never count for their letters. The first
        /// constraint of an engine reads its vocabulary, which takes a moment. Compiling has limits of steps and memory, so
        /// that no text makes it endless.</summary>
        /// <param name="engine">The engine, whose model has a tokenizer.</param>
        /// <param name="params">What it is made of.</param>
        /// <param name="constraint">The new constraint.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: while it compiles. Ownership: `*constraint` is the caller's, to be freed with
        /// inlay_constraint_free. On error: `*constraint` is NULL. FORMAT: the text is no such schema, grammar or
        /// expression, or nothing can match it; UNSUPPORTED: it needs what is not supported, or more than the limits. The
        /// message names the place. Errors: FORMAT, UNSUPPORTED. Since: 1.3.</remarks>
        public Status inlay_constraint_create(IntPtr engine, inlay_constraint_params* @params, IntPtr* constraint, inlay_error* err)
        {
            if (_inlay_constraint_create == null) return Older.Refuse("inlay_constraint_create", "1.3", err);
            return _inlay_constraint_create(engine, @params, constraint, err);
        }

        /// <summary>Frees a constraint. Sessions and requests that have it keep what they need. NULL is allowed.</summary>
        /// <param name="constraint">The constraint. May be null.</param>
        /// <remarks>Thread: exclusive(constraint). Blocks: no. Ownership: The handle is invalid afterwards. Since:
        /// 1.3.</remarks>
        public void inlay_constraint_free(IntPtr constraint)
        {
            if (_inlay_constraint_free == null) return;
            _inlay_constraint_free(constraint);
        }

        /// <summary>Tells what a constraint takes.</summary>
        /// <param name="constraint">The constraint.</param>
        /// <param name="info">What it takes.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed. Errors:
        /// INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_constraint_get_info(IntPtr constraint, inlay_constraint_info* info, inlay_error* err)
        {
            if (_inlay_constraint_get_info == null) return Older.Refuse("inlay_constraint_get_info", "1.3", err);
            return _inlay_constraint_get_info(constraint, info, err);
        }

        /// <summary>Gives one of the remarks that compiling a schema left: a keyword or a format that is not known and
        /// demands nothing, or what LENIENT dropped, with its place.</summary>
        /// <param name="constraint">The constraint.</param>
        /// <param name="index">0 to n_remarks - 1.</param>
        /// <param name="buf">The remark, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Its length. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: `*needed` is set,
        /// nothing is written. Errors: NOT_FOUND, BUFFER_TOO_SMALL, INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_constraint_get_remark(IntPtr constraint, UIntPtr index, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_constraint_get_remark == null) return Older.Refuse("inlay_constraint_get_remark", "1.3", err);
            return _inlay_constraint_get_remark(constraint, index, buf, cap, needed, err);
        }

        /// <summary>Says what the session may write from now on, and in every later generation. A truncation inside of what
        /// was written under it goes back in it, a fork takes it along, a shift changes nothing.</summary>
        /// <param name="session">The session.</param>
        /// <param name="constraint">The constraint; NULL: anything may be written. May be null.</param>
        /// <param name="written">What of the text is in the sequence already, of the present generation alone; NULL:
        /// nothing. May be null.</param>
        /// <param name="written_len">Its length, or SIZE_MAX if a zero ends it. [bytes]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: The session shares the constraint: its handle may be
        /// freed. On error: The session is as before. INVALID_ARGUMENT: the constraint is another engine's, or does not
        /// allow what was written. Errors: UNSUPPORTED, INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_session_set_constraint(IntPtr session, IntPtr constraint, byte* written, UIntPtr written_len, inlay_error* err)
        {
            if (_inlay_session_set_constraint == null) return Older.Refuse("inlay_session_set_constraint", "1.3", err);
            return _inlay_session_set_constraint(session, constraint, written, written_len, err);
        }

        /// <summary>Gives the text that must follow under the session's constraint, up to where there is a choice or the
        /// text may end. Empty without a constraint. It is drawn all the same; a host may show it at once, or append its
        /// tokens with inlay_session_accept.</summary>
        /// <param name="session">The session.</param>
        /// <param name="buf">Whole characters, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Its length, at present at most 4096. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL:
        /// `*needed` is set, buf is unspecified. UNSUPPORTED: the constraint needs more than its limits at this place of
        /// the text. Errors: BUFFER_TOO_SMALL, UNSUPPORTED, INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_session_get_forced_text(IntPtr session, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_session_get_forced_text == null) return Older.Refuse("inlay_session_get_forced_text", "1.3", err);
            return _inlay_session_get_forced_text(session, buf, cap, needed, err);
        }

        /// <summary>Writes all that a session is: tokens, keys and values, undrawn logits, sampler, limits, text that is
        /// held back, constraint. A session that is restored from it goes on as this one would. Other sessions compute
        /// meanwhile.</summary>
        /// <param name="session">The session; not one in a decode step in slices.</param>
        /// <param name="state">The bytes; NULL with cap 0 to ask for their number. May be null.</param>
        /// <param name="cap">Room in bytes. [bytes]</param>
        /// <param name="needed">How many there are. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: while it copies. Ownership: The bytes are the caller's, with a
        /// version and a checksum (docs/design/session-state.md). Another version of the library may refuse them: who must
        /// outlive it keeps the tokens beside them. On error: The session is as before. BUFFER_TOO_SMALL: `*needed` is set,
        /// nothing is written. Errors: BUFFER_TOO_SMALL, INVALID_STATE, UNSUPPORTED, DEVICE_LOST. Since: 1.3.</remarks>
        public Status inlay_session_save(IntPtr session, void* state, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_session_save == null) return Older.Refuse("inlay_session_save", "1.3", err);
            return _inlay_session_save(session, state, cap, needed, err);
        }

        /// <summary>inlay_session_save through a callback, part by part.</summary>
        /// <param name="session">The session; not one in a decode step in slices.</param>
        /// <param name="writer">Where the bytes go.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(session). Blocks: on the callback, and while it copies. Ownership: Nothing is kept.
        /// On error: The session is as before; some bytes may be written. IO: the callback failed, native_code is what it
        /// returned. Errors: IO, INVALID_STATE, UNSUPPORTED, DEVICE_LOST. Since: 1.3.</remarks>
        public Status inlay_session_save_to(IntPtr session, inlay_state_writer* writer, inlay_error* err)
        {
            if (_inlay_session_save_to == null) return Older.Refuse("inlay_session_save_to", "1.3", err);
            return _inlay_session_save_to(session, writer, err);
        }

        /// <summary>Makes a session of what inlay_session_save has written, on an engine of the same model with the same
        /// weight and KV types. Pool, threads, chunks and device may differ, and the context, as long as the tokens fit and
        /// positions are scaled alike. Nothing is computed.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="state">The bytes.</param>
        /// <param name="n_bytes">How many there are. [bytes]</param>
        /// <param name="session">The new session.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: for one chunk of each prefill under way, and while it copies and compiles a
        /// constraint; takes device memory. Ownership: `*session` is the caller's, to be freed with inlay_session_free; it
        /// keeps the engine alive. On error: `*session` is NULL, nothing has changed, whatever the bytes are: all that they
        /// say is checked. FORMAT: the bytes are damaged or no saved session; UNSUPPORTED: of another model, KV type,
        /// scaling of positions or version. Errors: FORMAT, UNSUPPORTED, CONTEXT_FULL, KV_FULL, SESSION_LIMIT,
        /// DEVICE_OUT_OF_MEMORY, DEVICE_LOST. Since: 1.3.</remarks>
        public Status inlay_session_restore(IntPtr engine, void* state, UIntPtr n_bytes, IntPtr* session, inlay_error* err)
        {
            if (_inlay_session_restore == null) return Older.Refuse("inlay_session_restore", "1.3", err);
            return _inlay_session_restore(engine, state, n_bytes, session, err);
        }

        /// <summary>inlay_session_restore through a callback, part by part. What lies behind the saved session is not
        /// read.</summary>
        /// <param name="engine">The engine.</param>
        /// <param name="reader">Where the bytes come from.</param>
        /// <param name="session">The new session.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: on the callback, for one chunk of each prefill under way, and while it copies and
        /// compiles a constraint; takes device memory. Ownership: `*session` is the caller's, to be freed with
        /// inlay_session_free; it keeps the engine alive. On error: `*session` is NULL, nothing has changed. As
        /// inlay_session_restore; IO: the callback failed, native_code is what it returned. Errors: IO, FORMAT,
        /// UNSUPPORTED, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST. Since: 1.3.</remarks>
        public Status inlay_session_restore_from(IntPtr engine, inlay_state_reader* reader, IntPtr* session, inlay_error* err)
        {
            if (_inlay_session_restore_from == null) return Older.Refuse("inlay_session_restore_from", "1.3", err);
            return _inlay_session_restore_from(engine, reader, session, err);
        }

        /// <summary>Says in which format the model writes reasoning and calls of tools, by its chat template or as it is
        /// given. JSON: {"name", "reasoning": whether it has any, "calls": whether it has any, "arguments": "object" or
        /// "text", as the template takes those of earlier calls, "remark": what was not recognized, empty if all
        /// was}.</summary>
        /// <param name="engine">The engine, whose model has a tokenizer.</param>
        /// <param name="params">NULL: all defaults. The prompt is unused. May be null.</param>
        /// <param name="buf">The JSON, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Its length. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: `*needed` is set, buf
        /// is unspecified. FORMAT: the format or the tools are not as they should be. Errors: FORMAT, UNSUPPORTED,
        /// BUFFER_TOO_SMALL. Since: 1.3.</remarks>
        public Status inlay_chat_get_format(IntPtr engine, inlay_chat_parser_params* @params, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_chat_get_format == null) return Older.Refuse("inlay_chat_get_format", "1.3", err);
            return _inlay_chat_get_format(engine, @params, buf, cap, needed, err);
        }

        /// <summary>Makes a parser of one message: tokens or text go in while they are drawn, parts of the message come
        /// out. What came out is never taken back, and parts together are the same however the message is cut. Whatever a
        /// model writes is a message: what is not as the format says is content, and MALFORMED is set.</summary>
        /// <param name="engine">The engine, whose model has a tokenizer.</param>
        /// <param name="params">NULL: all defaults. May be null.</param>
        /// <param name="parser">The new parser.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: any. Blocks: no. Ownership: `*parser` is the caller's, to be freed with inlay_chat_parser_free;
        /// the engine may be freed before. On error: `*parser` is NULL. FORMAT: the format or the tools are not as they
        /// should be; the message names the place. Errors: FORMAT, UNSUPPORTED. Since: 1.3.</remarks>
        public Status inlay_chat_parser_create(IntPtr engine, inlay_chat_parser_params* @params, IntPtr* parser, inlay_error* err)
        {
            if (_inlay_chat_parser_create == null) return Older.Refuse("inlay_chat_parser_create", "1.3", err);
            return _inlay_chat_parser_create(engine, @params, parser, err);
        }

        /// <summary>Frees a parser. NULL is allowed.</summary>
        /// <param name="parser">The parser. May be null.</param>
        /// <remarks>Thread: exclusive(parser). Blocks: no. Ownership: The handle is invalid afterwards. Since:
        /// 1.3.</remarks>
        public void inlay_chat_parser_free(IntPtr parser)
        {
            if (_inlay_chat_parser_free == null) return;
            _inlay_chat_parser_free(parser);
        }

        /// <summary>Reads tokens that the model drew. A token that is a marker of the format counts as one, the same
        /// letters in other tokens do not; other control tokens are nothing.</summary>
        /// <param name="parser">The parser.</param>
        /// <param name="tokens">Token ids.</param>
        /// <param name="n_tokens">Their number; 0 reads nothing. [tokens]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(parser). Blocks: no. Ownership: Nothing is kept. On error: Nothing was read.
        /// INVALID_STATE: inlay_chat_parser_finish was called. OUT_OF_MEMORY: the parser is unspecified and can only be
        /// freed. Errors: INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_chat_parser_append(IntPtr parser, int* tokens, UIntPtr n_tokens, inlay_error* err)
        {
            if (_inlay_chat_parser_append == null) return Older.Refuse("inlay_chat_parser_append", "1.3", err);
            return _inlay_chat_parser_append(parser, tokens, n_tokens, err);
        }

        /// <summary>Reads text, which may be cut anywhere, inside of characters too. Letters of markers count where the
        /// vocabulary has no such token, and with WRITTEN_MARKERS.</summary>
        /// <param name="parser">The parser.</param>
        /// <param name="text">The text. May be null.</param>
        /// <param name="text_len">Its length, or SIZE_MAX if a zero ends it. [bytes]</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(parser). Blocks: no. Ownership: Nothing is kept. On error: Nothing was read.
        /// INVALID_STATE: inlay_chat_parser_finish was called. OUT_OF_MEMORY: the parser is unspecified and can only be
        /// freed. Errors: INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_chat_parser_append_text(IntPtr parser, byte* text, UIntPtr text_len, inlay_error* err)
        {
            if (_inlay_chat_parser_append_text == null) return Older.Refuse("inlay_chat_parser_append_text", "1.3", err);
            return _inlay_chat_parser_append_text(parser, text, text_len, err);
        }

        /// <summary>Says that the message ended, or was cut: what was held back is given. A second call changes
        /// nothing.</summary>
        /// <param name="parser">The parser.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(parser). Blocks: no. Ownership: Nothing is kept. On error: OUT_OF_MEMORY: the parser
        /// is unspecified and can only be freed. Errors: INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_chat_parser_finish(IntPtr parser, inlay_error* err)
        {
            if (_inlay_chat_parser_finish == null) return Older.Refuse("inlay_chat_parser_finish", "1.3", err);
            return _inlay_chat_parser_finish(parser, err);
        }

        /// <summary>Takes the parts of the message that are ready, in the order of the text, as far as there is room; what
        /// there is no room for stays. Texts of REASONING, CONTENT and ARGUMENTS may be cut between characters.</summary>
        /// <param name="parser">The parser.</param>
        /// <param name="deltas">The parts.</param>
        /// <param name="cap_deltas">Room in deltas.</param>
        /// <param name="delta_stride">sizeof(inlay_chat_delta): from one part to the next. [bytes]</param>
        /// <param name="text">Their texts, one behind the other. May be null.</param>
        /// <param name="cap_text">Room in text. [bytes]</param>
        /// <param name="n_deltas">Parts that were written; 0 where there are none.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(parser). Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL: no room
        /// for the next part; 1 part and 512 bytes of text are room for any. Nothing is taken. Errors: BUFFER_TOO_SMALL,
        /// INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_chat_parser_take(IntPtr parser, inlay_chat_delta* deltas, UIntPtr cap_deltas, UIntPtr delta_stride, byte* text, UIntPtr cap_text, UIntPtr* n_deltas, inlay_error* err)
        {
            if (_inlay_chat_parser_take == null) return Older.Refuse("inlay_chat_parser_take", "1.3", err);
            return _inlay_chat_parser_take(parser, deltas, cap_deltas, delta_stride, text, cap_text, n_deltas, err);
        }

        /// <summary>Tells where a parser is.</summary>
        /// <param name="parser">The parser.</param>
        /// <param name="info">Where it is.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(parser). Blocks: no. Ownership: Nothing is kept. On error: Nothing has changed.
        /// Errors: INVALID_STATE. Since: 1.3.</remarks>
        public Status inlay_chat_parser_get_info(IntPtr parser, inlay_chat_parser_info* info, inlay_error* err)
        {
            if (_inlay_chat_parser_get_info == null) return Older.Refuse("inlay_chat_parser_get_info", "1.3", err);
            return _inlay_chat_parser_get_info(parser, info, err);
        }

        /// <summary>Gives the whole message, whether its parts were taken or not, as JSON that can be appended to the
        /// conversation: {"role": "assistant", "content"}, with "reasoning_content" and "tool_calls" where there are any. A
        /// call is {"id", "type": "function", "function": {"name", "arguments"}}; its arguments are an object, or the text
        /// of one where the chat template wants text, or what there is of a call that was cut, as text.</summary>
        /// <param name="parser">The parser.</param>
        /// <param name="buf">The JSON, ended by a zero if there is room. May be null.</param>
        /// <param name="cap">Room in buf. [bytes]</param>
        /// <param name="needed">Its length. [bytes] May be null.</param>
        /// <param name="err">What went wrong. May be null.</param>
        /// <remarks>Thread: exclusive(parser). Blocks: no. Ownership: Nothing is kept. On error: BUFFER_TOO_SMALL:
        /// `*needed` is set, buf is unspecified. INVALID_STATE: inlay_chat_parser_finish was not called. Errors:
        /// INVALID_STATE, BUFFER_TOO_SMALL. Since: 1.3.</remarks>
        public Status inlay_chat_parser_get_message(IntPtr parser, byte* buf, UIntPtr cap, UIntPtr* needed, inlay_error* err)
        {
            if (_inlay_chat_parser_get_message == null) return Older.Refuse("inlay_chat_parser_get_message", "1.3", err);
            return _inlay_chat_parser_get_message(parser, buf, cap, needed, err);
        }
    }
}
