// Saved sessions: what is restored goes on alike, and what cannot be is refused.
using System;
using System.IO;
using System.Linq;
using Inlay;
using Inlay.Raw;

static class SavedTests
{
    const string Prompt = "Once upon a time";

    static SessionOptions Hot(Constraint constraint = null)
    {
        return new SessionOptions
        {
            MaxTokens = 20, Sampler = new SamplerOptions { Temperature = 0.9f, Seed = 7, RepetitionPenalty = 1.2f }, Constraint = constraint
        };
    }

    static string Rest(Session session)
    {
        string text = "";
        foreach (Generated next in session.Continue()) text += next.Text;
        return text;
    }

    public static void ARestoredSessionGoesOnAlike()
    {
        using (Engine engine = Given.Engine())
        {
            foreach (int drawn in new[] { 0, 1, 9 })
            {
                using (Session session = engine.CreateSession(Hot()))
                {
                    session.Prefill(Prompt);
                    for (int i = 0; i < drawn; i++) session.DecodeStep();
                    byte[] state = session.Save();
                    var stream = new MemoryStream();
                    session.Save(stream);
                    Expect.Equal(Convert.ToBase64String(state), Convert.ToBase64String(stream.ToArray()), "the stream's bytes");
                    stream.Position = 0;
                    using (Session again = engine.RestoreSession(state))
                    using (Session read = engine.RestoreSession(stream))
                    {
                        Expect.Equal(session.Info.Tokens, again.Info.Tokens, "tokens");
                        string text = Rest(session);
                        Expect.Equal(text, Rest(again), "the text of one restored");
                        Expect.Equal(text, Rest(read), "the text of one read");
                    }
                }
            }
        }
    }

    public static void AConstraintIsMadeAgain()
    {
        using (Engine engine = Given.Engine())
        using (Constraint constraint = engine.CreateConstraint(new[] { "a long way", "a short way" }))
        using (Session session = engine.CreateSession(Hot(constraint)))
        {
            session.Prefill(Prompt);
            session.DecodeStep();
            using (Session again = engine.RestoreSession(session.Save())) Expect.Equal(Rest(session), Rest(again), "the text");
        }
    }

    public static void DamageIsRefused()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Hot()))
        {
            session.Prefill(Prompt);
            byte[] state = session.Save();
            foreach (int n in new[] { 0, 7, 47, state.Length / 2, state.Length - 1 })
            {
                var part = new byte[n];
                Array.Copy(state, part, n);
                Expect.Status(Status.Format, () => engine.RestoreSession(part), "the first " + n);
            }
            state[state.Length / 2] ^= 16;
            Expect.Status(Status.Format, () => engine.RestoreSession(state), "a byte");
            state[state.Length / 2] ^= 16;
            using (Session again = engine.RestoreSession(state)) Expect.True(again.Info.Tokens > 0, "the control");
        }
    }

    public static void ACancelIsForTheRestoredGeneration()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Hot()))
        {
            session.Prefill(Prompt);
            session.Prefill(Prompt);
            using (Session again = engine.RestoreSession(session.Save()))
            {
                again.Cancel();
                Expect.Equal(FinishReason.Cancelled, again.DecodeStep().FinishReason, "the end");
            }
        }
    }

    static Replaced first; // of the calls that one call of the binding makes
    static int[] added;    // behind it; null: the sequence is cut instead

    static unsafe void Change(IntPtr session)
    {
        inlay_error error;
        if (added == null) Library.Api.inlay_session_truncate(session, (UIntPtr)270u, &error);
        else fixed (int* tokens = added) Library.Api.inlay_prefill(session, tokens, (UIntPtr)(uint)added.Length, null, &error);
    }

    static unsafe Status SaveThenChange(IntPtr session, void* state, UIntPtr room, UIntPtr* size, inlay_error* error)
    {
        first.Dispose();
        Status status = Library.Api.inlay_session_save(session, state, room, size, error);
        Change(session);
        return status;
    }

    static unsafe Status ReadThenChange(IntPtr session, UIntPtr from, int* tokens, UIntPtr room, UIntPtr* n_tokens, inlay_error* error)
    {
        first.Dispose();
        Status status = Library.Api.inlay_session_get_tokens(session, from, tokens, room, n_tokens, error);
        Change(session);
        return status;
    }

    // As requests change one that they continue.
    public static void ASessionMayChangeWhileItIsRead()
    {
        LoadOptions load = Given.Options;
        load.ContextLength = 512;
        using (Engine engine = Engine.Load(Given.Model, load))
        {
            foreach (int[] tokens in new[] { null, Enumerable.Repeat(66, 40).ToArray() })
            {
                added = tokens;
                int n = tokens == null ? 270 : 340;
                using (Session session = engine.CreateSession(Hot()))
                {
                    session.Prefill(Enumerable.Repeat(65, 300).ToArray());
                    byte[] state;
                    using (first = new Replaced("inlay_session_save", typeof(SavedTests), nameof(SaveThenChange))) state = session.Save();
                    using (Session again = engine.RestoreSession(state)) Expect.Equal(n, again.Info.Tokens, "tokens that were saved");
                }
                using (Session session = engine.CreateSession(Hot()))
                {
                    session.Prefill(Enumerable.Repeat(65, 300).ToArray());
                    int[] read;
                    using (first = new Replaced("inlay_session_get_tokens", typeof(SavedTests), nameof(ReadThenChange))) read = session.GetTokens();
                    Expect.Equal(n, read.Length, "tokens that were read");
                    Expect.Sequence(session.GetTokens(), read, "the tokens");
                }
            }
        }
    }

    // Fails after some bytes.
    sealed class Brittle : MemoryStream
    {
        int _left;
        internal Brittle(byte[] bytes, int left)
        {
            base.Write(bytes, 0, bytes.Length);
            Position = 0;
            _left = left;
        }

        void Take(int n)
        {
            _left -= n;
            if (_left < 0) throw new TimeoutException("of the stream");
        }

        public override int Read(byte[] buffer, int offset, int count)
        {
            Take(count);
            return base.Read(buffer, offset, count);
        }

        public override void Write(byte[] buffer, int offset, int count)
        {
            Take(count);
            base.Write(buffer, offset, count);
        }
    }

    static void Throws<T>(Action action, string what) where T : Exception
    {
        try
        {
            action();
        }
        catch (T)
        {
            return;
        }
        Expect.True(false, what + " throws nothing");
    }

    public static void WhatAStreamThrowsIsThrownOn()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Hot()))
        {
            session.Prefill(Prompt);
            byte[] state = session.Save();
            foreach (int left in new[] { 0, 60, state.Length - 1 })
            {
                Throws<TimeoutException>(() => session.Save(new Brittle(new byte[0], left)), "a stream that is written");
                Throws<TimeoutException>(() => engine.RestoreSession(new Brittle(state, left)), "a stream that is read");
            }
            var part = new byte[state.Length - 1];
            Array.Copy(state, part, part.Length);
            Throws<EndOfStreamException>(() => engine.RestoreSession(new MemoryStream(part)), "a stream that ends");
            Expect.Equal(Convert.ToBase64String(state), Convert.ToBase64String(session.Save()), "the session afterwards");
            var two = new MemoryStream();
            session.Save(two);
            session.Save(two);
            two.Position = 0;
            for (int i = 0; i < 2; i++)
                using (Session again = engine.RestoreSession(two)) Expect.True(again.Info.Tokens > 0, "one behind the other");
        }
    }
}
