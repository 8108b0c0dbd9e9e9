using System;
using System.Runtime.CompilerServices;

namespace Inlay.Extensions.AI
{
    /// <summary>Threads that compute for clients: an engine has one while any client of it asks for one.</summary>
    internal static class EngineThreads
    {
        private sealed class Users
        {
            internal int Count; // guarded by the object itself
        }

        private static readonly ConditionalWeakTable<Engine, Users> All = new ConditionalWeakTable<Engine, Users>();

        internal static void Begin(Engine engine)
        {
            Users users = All.GetOrCreateValue(engine);
            lock (users)
            {
                if (users.Count == 0) engine.SetThread(new ThreadOptions());
                users.Count++;
            }
        }

        internal static void End(Engine engine)
        {
            Users users = All.GetOrCreateValue(engine);
            lock (users)
            {
                if (--users.Count > 0) return;
                try { engine.SetThread(null); }
                catch (ObjectDisposedException) { } // it has none any more
                catch (InlayException) { } // of a broken engine, which computes nothing any more
            }
        }
    }
}
