using System;
using System.IO;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    public sealed unsafe partial class Session
    {
        /// <summary>All that the session is, as bytes: tokens, keys and values, sampler, limits, text that is held back, constraint. A
        /// session that <see cref="Engine.RestoreSession(byte[])"/> makes of them goes on as this one would, and computes nothing again.
        /// Other sessions compute meanwhile.</summary>
        /// <exception cref="InlayException">Status InvalidState: the session takes part in a step in slices. Unsupported and others.</exception>
        /// <exception cref="OutOfMemoryException">They are more than an array can have.</exception>
        public byte[] Save()
        {
            using (var use = new Use(this))
            {
                inlay_error error;
                UIntPtr size;
                Check.Ok(_api.inlay_session_save(use.Pointer, null, UIntPtr.Zero, &size, &error), ref error);
                if ((ulong)size > int.MaxValue) throw new OutOfMemoryException("a saved session of " + size + " bytes is more than an array can have");
                var state = new byte[(int)size];
                fixed (byte* first = state) Check.Ok(_api.inlay_session_save(use.Pointer, first, size, &size, &error), ref error);
                return state;
            }
        }

        /// <summary>Writes what <see cref="Save()"/> gives, which is in memory until all of it is written.</summary>
        public void Save(Stream stream)
        {
            if (stream == null) throw new ArgumentNullException(nameof(stream));
            byte[] state = Save();
            stream.Write(state, 0, state.Length);
        }

        internal static Session Restore(Api api, EngineHandle parent, Engine engine, byte[] state, Action freed)
        {
            var session = new Session(api, engine);
            IntPtr handle = IntPtr.Zero;
            inlay_error error;
            Status status;
            byte[] given = state.Length > 0 ? state : new byte[1]; // whose address is not null
            using (var hold = new Hold(parent))
            fixed (byte* first = given) status = api.inlay_session_restore(hold.Pointer, first, (UIntPtr)(uint)state.Length, &handle, &error);
            session._handle.Freed = freed;
            session._handle.Set(handle);
            Check.Ok(status, ref error);
            using (var use = new Use(session)) Volatile.Write(ref session._generation, session.LastGeneration(use.Pointer));
            return session;
        }
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
            return Session.Restore(_api, _handle, this, state, _queue.Wake);
        }

        /// <summary>The same of all that a stream gives from where it stands.</summary>
        public Session RestoreSession(Stream stream)
        {
            if (stream == null) throw new ArgumentNullException(nameof(stream));
            using (var state = new MemoryStream())
            {
                stream.CopyTo(state);
                return RestoreSession(state.ToArray());
            }
        }
    }
}
