// Every status that can be provoked arrives as an exception with its status, its numbers and a text that names what is wrong.
using System;
using System.IO;
using System.Threading;
using Inlay;

static class ErrorTests
{
    static void LoadFails(Status status, Action<LoadOptions> change, string what)
    {
        LoadOptions options = Given.Options;
        change(options);
        Expect.Contains(what, Expect.Status(status, () => Engine.Load(Given.Model, options), what).Message);
    }

    public static void InvalidArgument()
    {
        LoadFails(Status.InvalidArgument, o => o.ContextLength = 1 << 30, "ContextLength is 1073741824");
        LoadFails(Status.InvalidArgument, o => o.MaxSessions = -1, "MaxSessions is -1");
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        {
            Expect.Contains("9999", Expect.Status(Status.InvalidArgument, () => session.Prefill(new[] { 9999 }), "token").Message);
            Expect.Status(Status.InvalidArgument, () => session.Prefill(new int[0]), "no tokens");
            Expect.Status(Status.InvalidArgument, () => session.SetSampler(new SamplerOptions { TopP = 2 }), "top_p");
            Expect.Status(Status.InvalidArgument, () => session.Truncate(5), "truncate");
            Expect.Status(Status.InvalidArgument, () => engine.GetTokenInfo(-1), "token info");
        }
    }

    public static void NotFound()
    {
        InlayException problem = Expect.Status(Status.NotFound, () => Engine.Load("no/such/model.gguf"), "file");
        Expect.Contains("no/such/model.gguf", problem.Message);
        Expect.Equal(2, problem.NativeCode, "the system's error number, ENOENT");
        Expect.Status(Status.NotFound, () => Engine.PlanMemory("no/such/model.gguf"), "plan");
        Expect.Status(Status.NotFound, () => Engine.Convert("no/such/model.gguf", "never.gguf", ConvertType.F16), "convert");
        using (Engine engine = Given.Engine())
        {
            Expect.Contains("no.such.key", Expect.Status(Status.NotFound, () => engine.GetMetadata("no.such.key"), "key").Message);
            Expect.Status(Status.NotFound, () => engine.GetMetadataKey(100000), "index");
            Expect.Status(Status.NotFound, () => engine.GetProfile(), "profile");
        }
    }

    public static void Io()
    {
        string target = Path.Combine(Path.GetTempPath(), "no-such-folder", "made.gguf");
        Expect.Contains(target, Expect.Status(Status.Io, () => Engine.Convert(Given.Model, target, ConvertType.F16), "no folder").Message);
    }

    public static void Format()
    {
        byte[] model = File.ReadAllBytes(Given.Model);
        Expect.Status(Status.Format, () => Engine.Load(new byte[1000], Given.Options), "zeros");
        byte[] cut = new byte[model.Length / 2];
        Array.Copy(model, cut, cut.Length);
        Expect.Status(Status.Format, () => Engine.Load(cut, Given.Options), "half a model");
    }

    public static void Unsupported()
    {
        LoadFails(Status.Unsupported, o => o.KvDtype = Given.Device == DeviceKind.Reference ? KvDtype.F16 : KvDtype.F32, "KV cache");
    }

    public static void OutOfMemory()
    {
        LoadOptions options = Given.Options;
        options.KvBudgetBytes = 1ul << 42;
        Status want = Given.Device == DeviceKind.Cuda ? Status.DeviceOutOfMemory : Status.OutOfMemory;
        InlayException problem = Expect.Status(want, () => Engine.Load(Given.Model, options), "four tebibytes");
        Expect.True(problem.Required > 1ul << 41, "bytes required");
        Expect.True(problem.Available > 0 && problem.Available < problem.Required, "bytes available");
        Expect.Contains(problem.Required.ToString(), problem.Message);
    }

    public static void NoDevice()
    {
        foreach (DeviceInfo device in Library.Devices)
        {
            if (device.Kind == DeviceKind.Cuda) throw new Skipped("there is a GPU");
        }
        Expect.Status(Status.NoDevice, () => Engine.Load(Given.Model, new LoadOptions { Device = DeviceKind.Cuda }), "no GPU");
    }

    public static void ContextFull()
    {
        LoadOptions options = Given.Options;
        options.ContextLength = Given.Prompt.Length + 2;
        using (Engine engine = Engine.Load(Given.Model, options))
        using (Session session = engine.CreateSession(Given.Endless))
        {
            InlayException problem = Expect.Status(Status.ContextFull, () => session.Prefill(new int[100]), "prompt");
            Expect.Equal(100ul, problem.Required, "tokens required");
            Expect.Equal((ulong)options.ContextLength, problem.Available, "tokens available");
            Expect.Equal(0, session.Info.Tokens, "tokens kept");
            session.Prefill(Given.Prompt);
            Expect.Equal(FinishReason.None, session.DecodeStep().FinishReason, "the first token");
            StepEvent last = session.DecodeStep();
            Expect.True(last.Token >= 0, "the last token");
            Expect.Equal(FinishReason.ContextFull, last.FinishReason, "the last token");
            Expect.Status(Status.InvalidState, () => session.DecodeStep(), "a step afterwards");
            session.Truncate(0);
            session.Prefill(new int[options.ContextLength]);
            last = session.DecodeStep();
            Expect.Equal(-1, last.Token, "no token has room");
            Expect.Equal(FinishReason.ContextFull, last.FinishReason, "reason");

            using (Session other = engine.CreateSession(Given.Endless))
            {
                other.Prefill(Given.Prompt);
                var events = new StepEvent[2];
                Expect.Equal(Status.InvalidState, engine.DecodeStep(new[] { session, other }, events), "step of both");
                Expect.Equal(Status.InvalidState, events[0].Status, "the full one");
                Expect.Equal(EventKind.None, events[0].Kind, "the full one");
                Expect.Equal(Status.Ok, events[1].Status, "the other one");
                Expect.Equal(Given.Prompt.Length + 1, other.Info.Tokens, "the other one's tokens");
            }
        }
    }

    public static void KvFull()
    {
        LoadOptions options = Given.Options;
        int n_block_tokens;
        using (Engine usual = Engine.Load(Given.Model, options))
        {
            n_block_tokens = usual.Stats.BlockTokens;
            ulong all = usual.Info.KvBytes / (ulong)usual.Stats.KvBlocks;
            options.ContextLength = 2 * n_block_tokens;
            options.KvBudgetBytes = 2 * all;
        }
        using (Engine engine = Engine.Load(Given.Model, options))
        using (Session first = engine.CreateSession())
        using (Session second = engine.CreateSession())
        {
            first.Prefill(new int[n_block_tokens + 1]);
            InlayException problem = Expect.Status(Status.KvFull, () => second.Prefill(new int[1]), "pool");
            Expect.True(problem.Required > problem.Available, "blocks required");
            first.Dispose();
            second.Prefill(new int[1]);
        }
    }

    public static void BufferTooSmall()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        {
            session.Prefill(Given.Prompt);
            InlayException problem = Expect.Status(Status.BufferTooSmall, () => session.CopyLogits(new float[3]), "logits");
            Expect.Equal((ulong)engine.Info.VocabularySize, problem.Required, "values required");
            Expect.Equal(3ul, problem.Available, "values available");
        }
    }

    public static void Cancelled()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        {
            session.Cancel(); // there is nothing to end
            session.Prefill(Given.Prompt);
            Library.Api.inlay_session_cancel(session.Handle.DangerousGetHandle()); // what comes next
            var problem = Expect.Throws<OperationCanceledException>(() => session.Prefill(Given.Prompt), "a prefill");
            Expect.Equal(Status.Cancelled, ((InlayException)problem.InnerException).Status, "the status inside");
            session.Prefill(Given.Prompt);
        }
    }

    public static void Busy()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            session.Prefill(Given.Prompt);
            Expect.Status(Status.Busy, () => engine.DecodeStep(new[] { session, session }, new StepEvent[2]), "twice in a step");
            Given.Draw(session, 2); // the claim was given back

            bool stop = false;
            int n_busy = 0;
            var other = new Thread(() =>
            {
                while (!Volatile.Read(ref stop))
                {
                    try { session.Truncate(Given.Prompt.Length); }
                    catch (InlayException problem) when (problem.Status == Status.Busy) { n_busy++; }
                }
            });
            other.Start();
            for (int i = 0; i < 100000 && Volatile.Read(ref n_busy) < 10; i++)
            {
                try { session.Prefill(Given.Prompt); }
                catch (InlayException problem) when (problem.Status == Status.Busy || problem.Status == Status.ContextFull) { }
            }
            Volatile.Write(ref stop, true);
            other.Join();
            Expect.True(n_busy >= 10, "the second thread was refused " + n_busy + " times");
        }
    }

    public static void SessionLimit()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 1;
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            using (Session only = engine.CreateSession())
            {
                Expect.Equal(1ul, Expect.Status(Status.SessionLimit, () => engine.CreateSession(), "a second one").Available, "available");
                Expect.Status(Status.SessionLimit, () => only.Fork(), "a fork");
            }
            engine.CreateSession().Dispose();
            // Refused options leave no session behind.
            Expect.Status(Status.InvalidArgument, () => engine.CreateSession(new SessionOptions { Stop = new[] { "" } }), "an empty stop");
            engine.CreateSession().Dispose();
        }
    }

    public static void InvalidState()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 1, Flags = SessionFlags.IgnoreEndOfGeneration }))
        {
            Expect.Status(Status.InvalidState, () => session.DecodeStep(), "an empty session");
            Expect.Status(Status.InvalidState, () => session.GetLogits(), "no logits");
            session.Prefill(Given.Prompt);
            Expect.Equal(FinishReason.MaxTokens, session.DecodeStep().FinishReason, "the only token");
            Expect.Status(Status.InvalidState, () => session.DecodeStep(), "a finished session");
        }
    }

    public static void WrongUseOfTheLanguage()
    {
        Expect.Throws<ArgumentNullException>(() => Engine.Load((string)null), "no path");
        Expect.Throws<ArgumentNullException>(() => Engine.Load((byte[])null), "no bytes");
        Expect.Throws<ArgumentNullException>(() => Engine.Load((Stream)null), "no stream");
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        {
            Expect.Throws<ArgumentNullException>(() => engine.Tokenize(null), "no text");
            Expect.Throws<ArgumentException>(() => engine.Tokenize("half a pair: \ud83e"), "a lone surrogate");
            Expect.Throws<ArgumentNullException>(() => session.Generate((string)null), "no prompt");
            Expect.Throws<ArgumentNullException>(() => engine.DecodeStep(new Session[1], new StepEvent[1]), "no session");
            Expect.Throws<ArgumentException>(() => engine.DecodeStep(new[] { session }, new StepEvent[0]), "no room");
            Expect.Status(Status.InvalidArgument, () => engine.DecodeStep(new Session[0], new StepEvent[0]), "no sessions");
        }
    }
}
