// Functions of the C interface beside the classes: through Library.Api, with the handles of engines and sessions.
using System;
using System.Runtime.InteropServices;
using Inlay;
using Inlay.Raw;

static unsafe class RawTests
{
    static T Held<T>(SafeHandle handle, Func<IntPtr, T> call)
    {
        bool held = false;
        try
        {
            handle.DangerousAddRef(ref held);
            return call(handle.DangerousGetHandle());
        }
        finally
        {
            if (held) handle.DangerousRelease();
        }
    }

    static int Vocabulary(EngineHandle handle)
    {
        return Held(handle, engine =>
        {
            var info = new inlay_engine_info { struct_size = (uint)sizeof(inlay_engine_info) };
            Expect.Equal(Status.Ok, Library.Api.inlay_engine_get_info(engine, &info, null), "engine info");
            return info.n_vocab;
        });
    }

    static int Tokens(SessionHandle handle)
    {
        return Held(handle, session =>
        {
            var info = new inlay_session_info { struct_size = (uint)sizeof(inlay_session_info) };
            Expect.Equal(Status.Ok, Library.Api.inlay_session_get_info(session, &info, null), "session info");
            return info.n_tokens;
        });
    }

    public static void AnEnginesHandle()
    {
        using (Engine engine = Given.Engine()) Expect.Equal(engine.Info.VocabularySize, Vocabulary(engine.Handle), "vocabulary");
    }

    public static void ASessionsHandle()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        {
            session.Prefill(Given.Prompt);
            Expect.Equal(Given.Prompt.Length, Tokens(session.Handle), "tokens");
            Held(session.Handle, pointer =>
            {
                Expect.Equal(Status.Ok, Library.Api.inlay_session_truncate(pointer, (UIntPtr)2u, null), "truncate");
                return 0;
            });
            Expect.Equal(2, session.Info.Tokens, "tokens left, as the object sees them");
        }
    }

    public static void AClosedHandleIsRefused()
    {
        Engine engine = Given.Engine();
        Session session = engine.CreateSession();
        session.Dispose();
        Expect.True(session.Handle.IsClosed, "the session's handle is closed");
        Expect.Throws<ObjectDisposedException>(() => Tokens(session.Handle), "a disposed session");
        Expect.Equal(engine.Info.VocabularySize, Vocabulary(engine.Handle), "the engine lives on");
        engine.Dispose();
        Expect.Throws<ObjectDisposedException>(() => Vocabulary(engine.Handle), "a disposed engine");
    }

    public static void AHeldHandleOutlivesDispose()
    {
        using (Engine engine = Given.Engine())
        {
            Session session = engine.CreateSession();
            session.Prefill(Given.Prompt);
            int tokens = Held(session.Handle, pointer =>
            {
                session.Dispose();
                var info = new inlay_session_info { struct_size = (uint)sizeof(inlay_session_info) };
                Expect.Equal(Status.Ok, Library.Api.inlay_session_get_info(pointer, &info, null), "info after Dispose");
                Expect.Equal(1, engine.Stats.Sessions, "sessions while the handle is held");
                return info.n_tokens;
            });
            Expect.Equal(Given.Prompt.Length, tokens, "tokens");
            Expect.Equal(0, engine.Stats.Sessions, "sessions when the handle was given back");
        }
    }
}
