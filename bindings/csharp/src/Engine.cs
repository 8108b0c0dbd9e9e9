using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>One model's weights on one device. Any thread may use it at any time.</summary>
    /// <remarks>Its sessions keep the model alive: an engine and its sessions may be disposed in any order.</remarks>
    public sealed unsafe partial class Engine : IDisposable
    {
        private readonly Api _api;
        private readonly EngineHandle _handle;
        private readonly LogSink? _log;
        private readonly SessionQueue _queue;
        private readonly GenerationThreads _threads = new GenerationThreads(nameof(Engine));

        private Engine(Api api, LoadOptions options)
        {
            _api = api;
            _handle = new EngineHandle(api);
            _log = options.Log == null ? null : new LogSink(options.Log);
            _queue = new SessionQueue(options.MaxWaiting == 0 ? 1024 : options.MaxWaiting);
        }

        /// <summary>Loads a model file: GGUF, of which a split one is named by its first file.</summary>
        /// <exception cref="InlayException">Status NotFound, Io, Format, Unsupported, DeviceOutOfMemory, NoDevice and
        /// others.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
        public static Engine Load(string path, LoadOptions? options = null, CancellationToken cancellation = default(CancellationToken))
        {
            UIntPtr length;
            byte[] bytes = Utf8.Bytes(path, "path", out length);
            Api api = Library.Api;
            return Load(options, cancellation, null, (raw, engine, error, watch) =>
            {
                fixed (byte* name = bytes) return api.inlay_load(name, length, raw, engine, error);
            });
        }

        /// <summary>Loads a model that lies in memory; the bytes are not needed afterwards.</summary>
        public static Engine Load(byte[] model, LoadOptions? options = null, CancellationToken cancellation = default(CancellationToken))
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            fixed (byte* data = model) return Load(data, model.Length, options, cancellation);
        }

        private static Engine Load(byte* data, int n_bytes, LoadOptions? options, CancellationToken cancellation)
        {
            Api api = Library.Api;
            return Load(options, cancellation, null, (raw, engine, error, watch) =>
                api.inlay_load_memory(data, (UIntPtr)(uint)n_bytes, raw, engine, error));
        }

        /// <summary>Loads a model from a stream that can seek, from its beginning; the stream is not needed
        /// afterwards.</summary>
        /// <remarks>What the stream throws ends the load and is thrown on.</remarks>
        public static Engine Load(Stream model, LoadOptions? options = null, CancellationToken cancellation = default(CancellationToken))
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            if (!model.CanSeek) throw new ArgumentException("the stream must be able to seek", nameof(model));
            ulong size = (ulong)model.Length;
            Api api = Library.Api;
            return Load(options, cancellation, model, (raw, engine, error, watch) =>
            {
                var reader = new inlay_reader
                {
                    struct_size = (uint)sizeof(inlay_reader), user = new IntPtr(watch), size = size, read = Callbacks.Read
                };
                return api.inlay_load_reader(&reader, raw, engine, error);
            });
        }

        private delegate Status Loader(inlay_load_params* options, IntPtr* engine, inlay_error* error, long watch);

        private static Engine Load(LoadOptions? options, CancellationToken cancellation, Stream? stream, Loader loader)
        {
            options = options ?? new LoadOptions();
            if (options.MaxWaiting < 0) throw new ArgumentOutOfRangeException(nameof(options), "MaxWaiting is negative");
            cancellation.ThrowIfCancellationRequested();
            var engine = new Engine(Library.Api, options);
            using (PinnedTexts texts = options.PinTexts())
            {
                inlay_load_params raw = options.Raw(texts);
                if (engine._log != null)
                {
                    raw.log = Callbacks.Log;
                    raw.log_user = new IntPtr(engine._log.Number);
                }
                using (var watch = new LoadWatch(options.Progress, cancellation, stream))
                {
                    if (options.Progress != null || cancellation.CanBeCanceled)
                    {
                        raw.progress = Callbacks.Progress;
                        raw.progress_user = new IntPtr(watch.Number);
                    }
                    IntPtr handle = IntPtr.Zero;
                    inlay_error error;
                    Status status = loader(&raw, &handle, &error, watch.Number);
                    engine._handle.Set(handle);
                    if (status == Status.Ok) return engine;
                    engine.Dispose();
                    throw watch.Failure(status, ref error, FieldNames.Load);
                }
            }
        }

        /// <summary>The engine's handle, for functions of <see cref="Library.Api"/> that the classes do not offer.</summary>
        /// <remarks>
        /// It stays the engine's: it is closed by <see cref="Dispose"/>, and not to be closed otherwise. Hold it with
        /// DangerousAddRef, which refuses a closed one with an <see cref="ObjectDisposedException"/>, call the function with
        /// DangerousGetHandle, and give it back with DangerousRelease.
        /// </remarks>
        public EngineHandle Handle { get { return _handle; } }

        /// <summary>Gives up the engine. Its memory goes with its last session. Asynchronous generations that are under way or wait
        /// end with an exception; this waits for the step, or the chunk of a prompt, that runs.</summary>
        public void Dispose()
        {
            _threads.End();
            _handle.Dispose();
            _queue.Wake();
        }

        /// <summary>Makes an empty session.</summary>
        /// <exception cref="InlayException">Status SessionLimit, DeviceOutOfMemory and others.</exception>
        public Session CreateSession(SessionOptions? options = null)
        {
            return Session.Create(_api, _handle, this, options ?? new SessionOptions(), _queue.Wake);
        }

        /// <summary>Sizes of the model and of what was allocated for it.</summary>
        public EngineInfo Info
        {
            get
            {
                var raw = new inlay_engine_info { struct_size = (uint)sizeof(inlay_engine_info) };
                inlay_error error;
                using (var engine = new Hold(_handle)) Check.Ok(_api.inlay_engine_get_info(engine.Pointer, &raw, &error), ref error);
                return new EngineInfo(ref raw);
            }
        }

        /// <summary>What the engine has done so far.</summary>
        public EngineStats Stats
        {
            get
            {
                var raw = new inlay_stats { struct_size = (uint)sizeof(inlay_stats) };
                inlay_error error;
                using (var engine = new Hold(_handle)) Check.Ok(_api.inlay_engine_get_stats(engine.Pointer, &raw, &error), ref error);
                return new EngineStats(ref raw);
            }
        }

        /// <summary>Tells what loading a file would need, from its header alone.</summary>
        public static MemoryInfo PlanMemory(string path, LoadOptions? options = null)
        {
            UIntPtr length;
            byte[] bytes = Utf8.Bytes(path, "path", out length);
            options = options ?? new LoadOptions();
            var info = new inlay_memory_info { struct_size = (uint)sizeof(inlay_memory_info) };
            inlay_error error;
            using (PinnedTexts texts = options.PinTexts())
            fixed (byte* name = bytes)
            {
                inlay_load_params raw = options.Raw(texts);
                Check.Ok(Library.Api.inlay_memory_plan(name, length, &raw, &info, &error), ref error, FieldNames.Load);
            }
            return new MemoryInfo(ref info);
        }

        /// <summary>Says what a model is, from its files' headers alone: family, features, types of its tensors, which devices
        /// would run it and why others would not, and the memory that contexts of several lengths take.</summary>
        /// <param name="path">A GGUF file or a Hugging Face folder.</param>
        /// <param name="devices">How many devices would run it.</param>
        /// <param name="options">How it would be loaded.</param>
        public static string Explain(string path, out int devices, LoadOptions? options = null)
        {
            return Explain(path, out devices, options, ExplainForm.Text);
        }

        /// <summary>The facts of <see cref="Explain(string, out int, LoadOptions)"/>, as one JSON object.</summary>
        public static string ExplainJson(string path, out int devices, LoadOptions? options = null)
        {
            return Explain(path, out devices, options, ExplainForm.Json);
        }

        private static string Explain(string path, out int devices, LoadOptions? options, ExplainForm form)
        {
            UIntPtr length;
            byte[] bytes = Utf8.Bytes(path, "path", out length);
            options = options ?? new LoadOptions();
            int found = 0;
            byte[] text = Native.ReadBytes(ReportRoom, (buffer, room, needed, error) =>
            {
                int n = 0;
                Status status;
                using (PinnedTexts texts = options.PinTexts())
                fixed (byte* name = bytes)
                {
                    inlay_load_params given = options.Raw(texts);
                    status = Library.Api.inlay_explain(name, length, &given, form, &n, buffer, room, needed, error);
                }
                found = n;
                return status;
            }, FieldNames.Load);
            devices = found;
            return System.Text.Encoding.UTF8.GetString(text);
        }

        /// <summary>Writes a model, a GGUF file or a Hugging Face folder, as a GGUF file with matrices of another type. If it is
        /// cancelled, or `progress` throws, nothing is left.</summary>
        /// <param name="source">What is read.</param>
        /// <param name="target">The file to write.</param>
        /// <param name="type">Type of the matrices.</param>
        /// <param name="threads">How many compute; 0 to 1024, 0: all cores.</param>
        /// <param name="progress">Told the bytes of the source that are done, and all, on this thread. It must not call
        /// Inlay.</param>
        /// <param name="cancellation">Ends the conversion.</param>
        /// <param name="log">Called with warnings: what of a folder's tokenizer other programs will not read in the file. It must
        /// not call Inlay; what it throws is dropped.</param>
        /// <exception cref="InlayException">Status NotFound, Io, Format, Unsupported.</exception>
        /// <exception cref="OperationCanceledException">It was cancelled.</exception>
        public static void Convert(string source, string target, ConvertType type, int threads = 0, Action<ulong, ulong>? progress = null,
                                   CancellationToken cancellation = default(CancellationToken), Action<LogMessage>? log = null)
        {
            cancellation.ThrowIfCancellationRequested();
            UIntPtr fromLength, toLength;
            byte[] fromBytes = Utf8.Bytes(source, "source", out fromLength), toBytes = Utf8.Bytes(target, "target", out toLength);
            var raw = new inlay_convert_params { struct_size = (uint)sizeof(inlay_convert_params), type = type, n_threads = threads };
            LogSink? sink = log == null ? null : new LogSink(log);
            if (sink != null)
            {
                raw.log = Callbacks.Log;
                raw.log_user = new IntPtr(sink.Number);
            }
            using (var watch = new LoadWatch(progress, cancellation, null))
            {
                if (progress != null || cancellation.CanBeCanceled)
                {
                    raw.progress = Callbacks.Progress;
                    raw.progress_user = new IntPtr(watch.Number);
                }
                inlay_error error;
                Status status;
                fixed (byte* from = fromBytes, to = toBytes)
                {
                    status = Library.Api.inlay_convert(from, fromLength, to, toLength, &raw, &error);
                }
                GC.KeepAlive(sink);
                if (status != Status.Ok) throw watch.Failure(status, ref error, FieldNames.Convert);
            }
        }
    }
}
