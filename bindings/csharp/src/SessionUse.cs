using System;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    public sealed unsafe partial class Session
    {
        /// <summary>Claims the session for one call, since the library trusts its callers in this.</summary>
        /// <exception cref="InlayException">Status Busy: another thread uses the session.</exception>
        internal IntPtr Claim()
        {
            bool held = false;
            _handle.DangerousAddRef(ref held);
            if (Interlocked.CompareExchange(ref _busy, 1, 0) == 0) return _handle.DangerousGetHandle();
            _handle.DangerousRelease();
            throw new InlayException(Status.Busy, "another call uses the session");
        }

        internal void Release()
        {
            Volatile.Write(ref _busy, 0);
            _handle.DangerousRelease();
        }

        private struct Use : IDisposable
        {
            private readonly Session _session;
            internal readonly IntPtr Pointer;

            internal Use(Session session)
            {
                Pointer = session.Claim();
                _session = session;
            }

            public void Dispose() { _session.Release(); }
        }
    }
}
