using System;
using System.IO;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using Inlay.Raw;

namespace Inlay
{
    public sealed unsafe partial class Session
    {
        /// <summary>All that the session is, as bytes: tokens, keys and values, sampler, limits, text that is held back, constraint. A
        /// session that <see cref="Engine.RestoreSession(byte[])"/> makes of them goes on as this one would, and computes nothing again.
        /// Other sessions compute meanwhile.</summary>
        /// <exception cref="InlayException">Status InvalidState: the session takes part in a step in slices. Busy: a request has it.
        /// Unsupported and others.</exception>
        /// <exception cref="OutOfMemoryException">They are more than an array can have.</exception>
        public byte[] Save()
        {
            using (var use = new Use(this))
            {
                IntPtr session = use.Pointer;
                // A request that continues the session may change its size between two calls.
                return Native.ReadBytes(1, (state, room, size, error) =>
                {
                    Status status = _api.inlay_session_save(session, state, room, size, error);
                    if ((ulong)*size > int.MaxValue) throw new OutOfMemoryException("a saved session of " + *size + " bytes is more than an array can have");
                    return status;
                });
            }
        }

        /// <summary>Writes what <see cref="Save()"/> gives, part by part.</summary>
        /// <remarks>What the stream throws ends it and is thrown on; the session is as before.</remarks>
        public void Save(Stream stream)
        {
            if (stream == null) throw new ArgumentNullException(nameof(stream));
            using (var use = new Use(this))
            using (var bytes = new StateStream(stream))
            {
                var writer = new inlay_state_writer
                {
                    struct_size = (uint)sizeof(inlay_state_writer), user = new IntPtr(bytes.Number), write = Callbacks.StateWrite
                };
                inlay_error error;
                bytes.Ok(_api.inlay_session_save_to(use.Pointer, &writer, &error), ref error);
            }
        }

        internal delegate Status Restorer(IntPtr engine, IntPtr* session, inlay_error* error);

        internal static Session Restore(Api api, EngineHandle parent, Engine engine, Action freed, StateStream? stream, Restorer restorer)
        {
            var session = new Session(api, engine);
            IntPtr handle = IntPtr.Zero;
            inlay_error error;
            Status status;
            using (var hold = new Hold(parent)) status = restorer(hold.Pointer, &handle, &error);
            session._handle.Freed = freed;
            session._handle.Set(handle);
            if (stream != null) stream.Ok(status, ref error);
            Check.Ok(status, ref error);
            return session;
        }
    }

    /// <summary>The stream that one saved session is written to or read from. Keeps what it throws.</summary>
    internal sealed unsafe class StateStream : IDisposable
    {
        private const int IoError = 5; // EIO

        private readonly Stream _stream;
        private readonly byte[] _buffer = new byte[1 << 18];
        private Exception? _fault;
        internal readonly long Number;

        internal StateStream(Stream stream)
        {
            _stream = stream;
            Number = Callbacks.Register(this);
        }

        /// <summary>Throws what the stream threw, or what the library reported.</summary>
        internal void Ok(Status status, ref inlay_error error)
        {
            if (_fault != null) ExceptionDispatchInfo.Capture(_fault).Throw();
            Check.Ok(status, ref error);
        }

        internal int OnRead(byte* into, ulong n)
        {
            try
            {
                while (n > 0)
                {
                    int wanted = (int)Math.Min(n, (ulong)_buffer.Length);
                    int got = _stream.Read(_buffer, 0, wanted);
                    if (got > wanted) throw new IOException("the stream says that it has read " + got + " bytes of " + wanted);
                    if (got <= 0) throw new EndOfStreamException("the stream ends before the saved session does");
                    Marshal.Copy(_buffer, 0, (IntPtr)into, got);
                    into += got;
                    n -= (ulong)got;
                }
                return 0;
            }
            catch (Exception fault)
            {
                _fault = fault;
                return IoError;
            }
        }

        internal int OnWrite(byte* state, ulong n)
        {
            try
            {
                while (n > 0)
                {
                    int part = (int)Math.Min(n, (ulong)_buffer.Length);
                    Marshal.Copy((IntPtr)state, _buffer, 0, part);
                    _stream.Write(_buffer, 0, part);
                    state += part;
                    n -= (ulong)part;
                }
                return 0;
            }
            catch (Exception fault)
            {
                _fault = fault;
                return IoError;
            }
        }

        public void Dispose() { Callbacks.Forget(Number); }
    }

    public sealed unsafe partial class Engine
    {
        /// <summary>Makes a session of what <see cref="Session.Save()"/> gave, here or in another process: of the same model, with weights
        /// and keys and values of the same types. Device, pool, threads and context may differ, as long as the tokens fit.</summary>
        /// <remarks>Bytes of unknown origin do no harm: all that they say is checked.</remarks>
        /// <exception cref="InlayException">Status Format: the bytes are damaged or no saved session. Unsupported: of another model, type
        /// of keys and values, or version. ContextFull, KvFull, SessionLimit and others.</exception>
        public Session RestoreSession(byte[] state)
        {
            if (state == null) throw new ArgumentNullException(nameof(state));
            byte[] given = state.Length > 0 ? state : new byte[1]; // whose address is not null
            return Session.Restore(_api, _handle, this, _queue.Wake, null, (engine, session, error) =>
            {
                fixed (byte* first = given) return _api.inlay_session_restore(engine, first, (UIntPtr)(uint)state.Length, session, error);
            });
        }

        /// <summary>The same from a stream, part by part, from where it stands. What lies behind the saved session is not read.</summary>
        /// <remarks>What the stream throws ends it and is thrown on.</remarks>
        public Session RestoreSession(Stream stream)
        {
            if (stream == null) throw new ArgumentNullException(nameof(stream));
            using (var bytes = new StateStream(stream))
            {
                return Session.Restore(_api, _handle, this, _queue.Wake, bytes, (engine, session, error) =>
                {
                    var reader = new inlay_state_reader
                    {
                        struct_size = (uint)sizeof(inlay_state_reader), user = new IntPtr(bytes.Number), read = Callbacks.StateRead
                    };
                    return _api.inlay_session_restore_from(engine, &reader, session, error);
                });
            }
        }
    }
}
