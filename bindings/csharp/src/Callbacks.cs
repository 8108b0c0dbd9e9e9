using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>
    /// What native code calls: static methods, held by static delegates that are never collected. Their `user` is the
    /// number of
    /// an object in a table, so that a late call finds nothing instead of a freed object.
    /// </summary>
    internal static unsafe class Callbacks
    {
        private static readonly inlay_log_fn LogDelegate = OnLog;
        private static readonly inlay_progress_fn ProgressDelegate = OnProgress;
        private static readonly inlay_read_fn ReadDelegate = OnRead;
        private static readonly inlay_state_read_fn StateReadDelegate = OnStateRead;
        private static readonly inlay_state_write_fn StateWriteDelegate = OnStateWrite;

        internal static readonly IntPtr Log = Marshal.GetFunctionPointerForDelegate(LogDelegate);
        internal static readonly IntPtr Progress = Marshal.GetFunctionPointerForDelegate(ProgressDelegate);
        internal static readonly IntPtr Read = Marshal.GetFunctionPointerForDelegate(ReadDelegate);
        internal static readonly IntPtr StateRead = Marshal.GetFunctionPointerForDelegate(StateReadDelegate);
        internal static readonly IntPtr StateWrite = Marshal.GetFunctionPointerForDelegate(StateWriteDelegate);

        private static readonly Dictionary<long, WeakReference> Table = new Dictionary<long, WeakReference>();
        private static long _last;

        internal static long Register(object target)
        {
            lock (Table)
            {
                Table.Add(++_last, new WeakReference(target));
                return _last;
            }
        }

        internal static void Forget(long number)
        {
            lock (Table) Table.Remove(number);
        }

        private static object? Find(IntPtr user)
        {
            WeakReference? found;
            lock (Table) return Table.TryGetValue((long)user, out found) ? found.Target : null;
        }

        [MonoPInvokeCallback(typeof(inlay_log_fn))]
        private static void OnLog(IntPtr user, LogSeverity level, byte* text, UIntPtr text_len)
        {
            try
            {
                var sink = (LogSink?)Find(user);
                if (sink != null) sink.Handler(new LogMessage(level, Utf8.Text(text, (int)text_len)));
            }
            catch (Exception)
            {
                // Nothing may be thrown into native code, and a failed log message must not fail the call that caused it.
            }
        }

        [MonoPInvokeCallback(typeof(inlay_progress_fn))]
        private static int OnProgress(IntPtr user, ulong n_done, ulong n_total)
        {
            return ((LoadWatch)Find(user)!).OnProgress(n_done, n_total);
        }

        [MonoPInvokeCallback(typeof(inlay_read_fn))]
        private static int OnRead(IntPtr user, ulong offset, void* into, ulong n)
        {
            return ((LoadWatch)Find(user)!).OnRead(offset, (byte*)into, n);
        }

        [MonoPInvokeCallback(typeof(inlay_state_read_fn))]
        private static int OnStateRead(IntPtr user, void* into, ulong n)
        {
            return ((StateStream)Find(user)!).OnRead((byte*)into, n);
        }

        [MonoPInvokeCallback(typeof(inlay_state_write_fn))]
        private static int OnStateWrite(IntPtr user, void* state, ulong n)
        {
            return ((StateStream)Find(user)!).OnWrite((byte*)state, n);
        }
    }

    /// <summary>Where the messages of an engine go. The engine refers to it, and its sessions to the engine: so long
    /// messages can come.</summary>
    internal sealed class LogSink
    {
        internal readonly Action<LogMessage> Handler;
        internal readonly long Number;

        internal LogSink(Action<LogMessage> handler)
        {
            Handler = handler;
            Number = Callbacks.Register(this);
        }

        ~LogSink() { Callbacks.Forget(Number); }
    }

    /// <summary>What one load, conversion or scoring calls: its progress, its cancellation, and the stream that a load reads. Keeps
    /// what they throw.</summary>
    internal sealed unsafe class LoadWatch : IDisposable
    {
        private const int IoError = 5; // EIO

        private readonly Action<ulong, ulong>? _progress;
        private readonly CancellationToken _cancellation;
        private readonly Stream? _stream;
        private readonly byte[]? _buffer;
        internal readonly long Number;

        internal LoadWatch(Action<ulong, ulong>? progress, CancellationToken cancellation, Stream? stream)
        {
            _progress = progress;
            _cancellation = cancellation;
            _stream = stream;
            _buffer = stream == null ? null : new byte[1 << 18];
            Number = Callbacks.Register(this);
        }

        /// <summary>What a callback threw, or null.</summary>
        internal Exception? Fault { get; private set; }

        /// <summary>Of a call that failed: throws what a callback threw, or the cancellation, or gives what the library
        /// reported.</summary>
        internal Exception Failure(Status status, ref inlay_error error, FieldNames? names)
        {
            if (Fault != null) ExceptionDispatchInfo.Capture(Fault).Throw();
            if (status == Status.Cancelled) _cancellation.ThrowIfCancellationRequested();
            return Check.Failure(status, ref error, names);
        }

        internal int OnProgress(ulong n_done, ulong n_total)
        {
            try
            {
                if (_progress != null) _progress(n_done, n_total);
                return _cancellation.IsCancellationRequested ? 1 : 0;
            }
            catch (Exception fault)
            {
                Fault = fault;
                return 1;
            }
        }

        internal int OnRead(ulong offset, byte* into, ulong n)
        {
            try
            {
                _stream!.Position = (long)offset;
                while (n > 0)
                {
                    int wanted = (int)Math.Min(n, (ulong)_buffer!.Length);
                    int got = _stream.Read(_buffer, 0, wanted);
                    if (got > wanted) throw new IOException("the stream says that it has read " + got + " bytes of " + wanted);
                    if (got <= 0) throw new EndOfStreamException("the stream ends before its length");
                    Marshal.Copy(_buffer, 0, (IntPtr)into, got);
                    into += got;
                    n -= (ulong)got;
                }
                return 0;
            }
            catch (Exception fault)
            {
                Fault = fault;
                return IoError;
            }
        }

        public void Dispose() { Callbacks.Forget(Number); }
    }
}
