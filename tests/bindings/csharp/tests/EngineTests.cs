// Loading in every way, callbacks, and what an engine tells about itself.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using Inlay;

static class EngineTests
{
    public static void LoadedInEveryWayItIsTheSame()
    {
        int[] want;
        using (Engine engine = Given.Engine()) want = Given.Reply(engine, 16);
        byte[] bytes = File.ReadAllBytes(Given.Model);
        using (Engine engine = Engine.Load(bytes, Given.Options)) Expect.Sequence(want, Given.Reply(engine, 16), "from bytes");
        using (FileStream stream = File.OpenRead(Given.Model))
        using (Engine engine = Engine.Load(stream, Given.Options)) Expect.Sequence(want, Given.Reply(engine, 16), "from a stream");
    }

    sealed class FailingStream : MemoryStream
    {
        internal FailingStream(byte[] bytes) : base(bytes) { }
        internal int Left = 3;

        public override int Read(byte[] buffer, int offset, int count)
        {
            if (Left-- == 0) throw new UnauthorizedAccessException("the archive is locked");
            return base.Read(buffer, offset, count);
        }
    }

    public static void WhatAStreamThrowsArrives()
    {
        var stream = new FailingStream(File.ReadAllBytes(Given.Model));
        var problem = Expect.Throws<UnauthorizedAccessException>(() => Engine.Load(stream, Given.Options), "a failing stream");
        Expect.Equal("the archive is locked", problem.Message, "message");
        var cut = new MemoryStream(File.ReadAllBytes(Given.Model));
        var shrinking = new ShrinkingStream(cut);
        Expect.Throws<EndOfStreamException>(() => Engine.Load(shrinking, Given.Options), "a stream that ends early");
        foreach (int more in new[] { 1, 1 << 20 })
        {
            var boasting = new BoastingStream(more);
            string message = Expect.Throws<IOException>(() => Engine.Load(boasting, Given.Options), "more than it was asked for").Message;
            Expect.True(message.StartsWith("the stream says that it has read "), message);
        }
    }

    /// <summary>Tells more bytes than it was asked for.</summary>
    sealed class BoastingStream : MemoryStream
    {
        readonly int _more;
        internal BoastingStream(int more) : base(File.ReadAllBytes(Given.Model)) { _more = more; }
        public override int Read(byte[] buffer, int offset, int count) { return base.Read(buffer, offset, count) + _more; }
    }

    sealed class ShrinkingStream : MemoryStream
    {
        internal ShrinkingStream(MemoryStream whole) : base(whole.ToArray()) { }
        public override int Read(byte[] buffer, int offset, int count) { return Position > 100000 ? 0 : base.Read(buffer, offset, count); }
    }

    public static void ProgressAndItsEnd()
    {
        LoadOptions options = Given.Options;
        var done = new List<ulong>();
        ulong total = 0;
        options.Progress = (n_done, n_total) =>
        {
            done.Add(n_done);
            total = n_total;
        };
        using (Engine.Load(Given.Model, options)) { }
        Expect.True(done.Count > 0 && total > 1000000 && done.Last() == total, "progress to the end: " + done.Count + " calls");

        options.Progress = (n_done, n_total) => { throw new FormatException("enough"); };
        Expect.Equal("enough", Expect.Throws<FormatException>(() => Engine.Load(Given.Model, options), "what progress throws").Message, "text");

        using (var source = new CancellationTokenSource())
        {
            options.Progress = (n_done, n_total) => source.Cancel();
            var problem = Expect.Throws<OperationCanceledException>(() => Engine.Load(Given.Model, options, source.Token), "a cancelled load");
            Expect.Equal(source.Token, problem.CancellationToken, "whose token");
        }
    }

    public static void MessagesReachTheHandlerAndTheRing()
    {
        LoadOptions options = Given.Options;
        var heard = new List<LogMessage>();
        options.Log = heard.Add;
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            Expect.True(heard.Count > 0, "messages");
            Expect.True(heard.Any(m => m.Text.Contains("Inlay Tales")), "the model's name");
            ulong cursor = 0;
            LogMessage message;
            foreach (LogMessage want in heard.ToArray())
            {
                Given.CollectGarbage(); // the handler must survive
                Expect.True(engine.TryReadLog(ref cursor, out message), "a message in the ring");
                Expect.Equal(want.Text, message.Text, "text");
                Expect.Equal(want.Level, message.Level, "level");
            }
            ulong last = cursor;
            Expect.True(!engine.TryReadLog(ref cursor, out message) && cursor == last, "no newer message");
        }
        heard.Clear();
        options.LogLevel = LogSeverity.Off;
        using (Engine.Load(Given.Model, options)) Expect.Equal(0, heard.Count, "messages when they are off");
        options.LogLevel = LogSeverity.Info;
        options.Log = m => { throw new FormatException("a bad handler"); };
        using (Engine engine = Engine.Load(Given.Model, options)) Given.Reply(engine, 2);
    }

    public static void Conversion()
    {
        string target = System.IO.Path.GetTempFileName();
        Engine.Convert(Given.Model, target, ConvertType.Q80, 2);
        Expect.True(new System.IO.FileInfo(target).Length < new System.IO.FileInfo(Given.Model).Length, "a smaller file");
        using (Engine engine = Engine.Load(target, Given.Options)) Given.Reply(engine, 2);
        System.IO.File.Delete(target);

        ulong last = 0, all = 0;
        int calls = 0;
        Engine.Convert(Given.Model, target, ConvertType.F16, 2, (n_done, n_total) =>
        {
            Expect.True(n_done > last, "progress");
            last = n_done;
            all = n_total;
            ++calls;
        });
        Expect.True(calls > 5 && last == all, "calls of progress");
        System.IO.File.Delete(target);
        using (var source = new CancellationTokenSource())
        {
            int told = 0;
            Action<ulong, ulong> cancel = (n_done, n_total) => { if (++told == 3) source.Cancel(); };
            var problem = Expect.Throws<OperationCanceledException>(
                () => Engine.Convert(Given.Model, target, ConvertType.F16, 2, cancel, source.Token), "a cancelled conversion");
            Expect.Equal(source.Token, problem.CancellationToken, "whose token");
            Expect.Equal(3, told, "calls before the cancel");
        }
        Action<ulong, ulong> fails = (n_done, n_total) => { throw new FormatException("a bad handler"); };
        Expect.Throws<FormatException>(() => Engine.Convert(Given.Model, target, ConvertType.F16, 2, fails), "its own exception");
        Expect.True(!System.IO.File.Exists(target) && !System.IO.File.Exists(target + ".partial"), "nothing is left");
    }

    public static void LogOfAConversion()
    {
        string folder = TextTests.FolderWithNormalizer(), target = Path.Combine(folder, "made.gguf");
        var said = new List<LogMessage>();
        Engine.Convert(folder, target, ConvertType.Q80, 2, log: said.Add);
        Expect.Equal(1, said.Count, "messages");
        Expect.Equal(LogSeverity.Warning, said[0].Level, "level");
        Expect.Contains("normalizer Replace", said[0].Text);
        Engine.Convert(Given.Model, target, ConvertType.Q80, 2, log: said.Add);
        Expect.Equal(1, said.Count, "messages of a file");
        Engine.Convert(folder, target, ConvertType.Q80, 2, log: message => { throw new FormatException("a bad handler"); });
        Directory.Delete(folder, true);
    }

    public static void SplitterByName()
    {
        const string text = "The end.\n\nThen";
        LoadOptions options = Given.Options;
        options.PreTokenizer = "gpt-2";
        using (Engine plain = Engine.Load(Given.Model, Given.Options))
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            Expect.True(!plain.Tokenize(text).SequenceEqual(engine.Tokenize(text)), "other tokens");
        }
        options.PreTokenizer = "gpt-99";
        Expect.Contains("'gpt-99'", Expect.Status(Status.InvalidArgument, () => Engine.Load(Given.Model, options), "no splitter").Message);
    }

    public static void TuningIsAText()
    {
        LoadOptions options = Given.Options;
        options.Device = DeviceKind.Cpu;
        options.Tuning = "cublas=0, isa=generic";
        string logged = "";
        options.Log = message => logged += message.Text;
        using (Engine engine = Engine.Load(Given.Model, options)) Expect.Contains("tuning: cublas changes nothing", logged);
        foreach (string[] wrong in new[] { new[] { "speed=9", "'speed'" }, new[] { "isa=fast", "generic, avx2 or avx512" }, new[] { "isa", "key=value" } })
        {
            options.Tuning = wrong[0];
            Expect.Contains(wrong[1], Expect.Status(Status.InvalidArgument, () => Engine.Load(Given.Model, options), wrong[0]).Message);
        }
    }

    public static void SizesAndPlans()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 3;
        MemoryInfo plan = Engine.PlanMemory(Given.Model, options);
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            EngineInfo info = engine.Info;
            Expect.Equal(Given.Device, info.Device, "device");
            Expect.Equal(256, info.ContextLength, "context");
            Expect.Equal(512, info.TrainedContextLength, "trained context");
            Expect.Equal(3, info.MaxSessions, "sessions");
            Expect.Equal(2048, info.VocabularySize, "vocabulary");
            Expect.Equal(6, info.Layers, "layers");
            Expect.Equal(192, info.ModelWidth, "width");
            Expect.Equal(6, info.Heads, "heads");
            Expect.Equal(2, info.KvHeads, "key and value heads");
            Expect.Equal(32, info.HeadWidth, "head width");
            Expect.Equal(512, info.FeedForwardWidth, "feed-forward width");
            Expect.Equal(2043, info.Bos, "BOS");
            Expect.Equal(2044, info.Eos, "EOS");
            Expect.Equal(EngineFlags.HasTokenizer | EngineFlags.AddsBos, info.Flags, "flags");
            Expect.Equal(2755008ul, info.Parameters, "parameters");
            Expect.Equal(plan.WeightBytes, info.WeightBytes, "weights as planned");
            Expect.Equal(plan.KvBytes, info.KvBytes, "KV pool as planned");
            Expect.Equal(plan.TotalBytes, plan.WeightBytes + plan.KvBytes + plan.ScratchBytes, "the sum");
            Expect.True(plan.AvailableBytes > plan.TotalBytes, "it fits");
            foreach (string op in new[] { "embed", "attention", "ffn_in", "sample" }) Expect.Contains(op, engine.Plan);
        }
    }

    public static void StatisticsCount()
    {
        using (Engine engine = Given.Engine())
        {
            Given.Reply(engine, 10);
            EngineStats stats = engine.Stats;
            Expect.Equal((ulong)Given.Prompt.Length, stats.PrefillTokens, "prompt tokens");
            Expect.Equal(10ul, stats.DecodeTokens, "drawn tokens");
            Expect.Equal(10ul, stats.DecodeSteps, "steps");
            Expect.True(stats.LoadTime > TimeSpan.Zero && stats.DecodeTime > TimeSpan.Zero, "times");
            Expect.True(stats.KvBlocksPeak > 0 && stats.KvBlocksUsed == 0 && stats.KvBlocks >= stats.KvBlocksPeak, "blocks");
        }
    }

    public static void MetadataInTheFilesOrder()
    {
        using (Engine engine = Given.Engine())
        {
            KeyValuePair<string, string>[] all = engine.Metadata.ToArray();
            Expect.Equal(engine.MetadataCount, all.Length, "entries");
            Expect.Equal("general.architecture", all[0].Key, "first key");
            Expect.Equal("llama", all[0].Value, "first value");
            Expect.Equal("Inlay Tales", engine.GetMetadata("general.name"), "a value by its key");
            Expect.Contains("2048 in all]", engine.GetMetadata("tokenizer.ggml.tokens"));
        }
    }

    public static void ProfilesAndComparisons()
    {
        using (Engine engine = Given.Engine())
        using (Engine truth = Engine.Load(Given.Model, new LoadOptions { Device = DeviceKind.Reference, ContextLength = 64, Threads = 2 }))
        {
            engine.ProfileStep(new ProfileOptions { Repetitions = 2 });
            Expect.Contains("attention", engine.GetProfile());
            Expect.Contains("traceEvents", engine.GetProfile(ProfileForm.Trace));
            int first;
            Expect.Contains("attention", engine.Compare(truth, Given.Prompt, 1e-2, out first));
            Expect.Equal(-1, first, "nothing differs much");
            engine.Compare(truth, Given.Prompt, 0, out first);
            Expect.True(Given.Device == DeviceKind.Reference || first >= 0, "something differs a little");
        }
    }

    public static void ModelsAreExplained()
    {
        int devices;
        Expect.Contains("would run on", Engine.Explain(Given.Model, out devices));
        Expect.True(devices >= 2, "the processor and the interpreter");
        Expect.Contains("\"family\": \"", Engine.ExplainJson(Given.Model, out devices));
        Expect.True(devices >= 2, "the same devices");
        Expect.Status(Status.NotFound, () => Engine.Explain("no/such/model.gguf", out devices), "no model");
    }

    public static void TextsBecomeVectors()
    {
        using (Engine engine = Given.Engine())
        {
            int[] text = { 737, 937, 258, 480 };
            float[][] vectors = engine.Embed(new[] { text, new[] { 5 }, text }, Pooling.Mean);
            Expect.Equal(3, vectors.Length, "vectors");
            Expect.Equal(engine.Info.ModelWidth, vectors[0].Length, "their width");
            Expect.True(Math.Abs(Product(vectors[0], vectors[2]) - 1) < 1e-4, "the same text is the same vector of length 1");
            Expect.True(Product(vectors[0], vectors[1]) < 0.99, "another text is another one");
            float[] raw = engine.Embed(new[] { text }, Pooling.Mean, EmbedFlags.None)[0];
            Expect.True(Math.Abs(Product(raw, raw) - 1) > 0.01, "not normalized");
            const string said = "Once upon a time";
            float[][] of = engine.Embed(new[] { said, "x" }, Pooling.Mean);
            Expect.True(Math.Abs(Product(of[0], engine.Embed(new[] { engine.Tokenize(said) }, Pooling.Mean)[0]) - 1) < 1e-4, "a text is its tokens");
            Expect.True(Product(of[0], of[1]) < 0.99, "each text has its own");
            using (var source = new CancellationTokenSource())
            {
                Expect.Equal(1, engine.Embed(new[] { said }, Pooling.Mean, EmbedFlags.None, source.Token).Length, "nobody cancels");
                source.Cancel();
                Expect.Throws<OperationCanceledException>(() => engine.Embed(new[] { said }, Pooling.Mean, EmbedFlags.None, source.Token), "cancelled");
            }
            Expect.Equal(0, engine.Embed(new int[0][], Pooling.Mean).Length, "no texts");
            Expect.Status(Status.InvalidArgument, () => engine.Embed(new[] { new int[0] }, Pooling.Mean), "an empty text");
            Expect.Status(Status.Unsupported, () => engine.Embed(new[] { text }), "a pooling that the model does not name");
        }
    }

    private static double Product(float[] a, float[] b)
    {
        return a.Zip(b, (x, y) => (double)x * y).Sum();
    }

    const string Unusual = "Once upon a time the zebra sang of bricks.";

    /// <summary>The natural logarithms of the probabilities of all tokens behind the first ones of a text.</summary>
    private static double[] Distribution(Engine engine, int[] text, int n)
    {
        using (Session session = engine.CreateSession())
        {
            session.Prefill(text.Take(n).ToArray());
            float[] logits = session.GetLogits();
            double max = logits.Max(), log_sum = max + Math.Log(logits.Sum(l => Math.Exp(l - max)));
            return logits.Select(l => l - log_sum).ToArray();
        }
    }

    private static void Near(double want, double got, string what)
    {
        Expect.True(Math.Abs(want - got) < 2e-3, what + ": expected " + want + ", got " + got);
    }

    private static int Best(double[] values) { return Array.IndexOf(values, values.Max()); }

    private static void HasNone(TokenScore score)
    {
        Expect.True(score.IsGiven && score.Rank == -1 && float.IsNaN(score.Logprob) && score.Top.Length == 0, "a token that was given");
        Expect.True(score.AgainstRank == -1 && float.IsNaN(score.AgainstLogprob), "of another engine");
        Expect.True(float.IsNaN(score.Divergence) && score.SameBest == null, "of both");
    }

    public static void ScoresAreWhatTheLogitsSay()
    {
        using (Engine engine = Given.Engine())
        {
            int[] text = engine.Tokenize(Unusual);
            TokenScore[] scores = engine.Score(new[] { text }, new ScoreOptions { Logprobs = 3 })[0];
            Expect.Equal(text.Length, scores.Length, "scores");
            HasNone(scores[0]);
            Expect.True(scores.Any(s => s.Rank > 0), "the text is what a greedy draw gives");
            for (int i = 1; i < text.Length; i++)
            {
                TokenScore score = scores[i];
                double[] all = Distribution(engine, text, i);
                double own = all[text[i]];
                Near(own, score.Logprob, "token " + i);
                Expect.True(score.Rank >= all.Count(l => l > own + 4e-3) && score.Rank <= all.Count(l => l > own - 4e-3), "rank " + score.Rank);
                Expect.Equal(3, score.Top.Length, "likeliest tokens");
                Near(all.Max(), score.Top[0].Logprob, "the likeliest");
                for (int place = 0; place < 3; place++)
                {
                    Near(all[score.Top[place].Token], score.Top[place].Logprob, "one of the likeliest");
                    Expect.True(place == 0 || score.Top[place - 1].Logprob >= score.Top[place].Logprob, "their order");
                    if (place != score.Rank) continue;
                    Expect.True(score.Top[place].Token == text[i] && score.Top[place].Logprob == score.Logprob, "the token itself");
                }
                Expect.True(!score.IsGiven && score.AgainstRank == -1 && score.SameBest == null, "no other engine");
            }
        }
    }

    public static void DrawnTokensHaveTheScoresOfTheirEvents()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            session.Prefill(Given.Prompt);
            var events = new List<StepEvent>();
            for (int i = 0; i < 12; i++) events.Add(session.DecodeStep());
            int[] text = Given.Prompt.Concat(events.Select(e => e.Token)).ToArray();
            int n_prompt = Given.Prompt.Length;
            TokenScore[] scores = engine.Score(new[] { text }, new ScoreOptions { Given = n_prompt, Logprobs = 1 })[0];
            for (int i = 0; i < text.Length; i++)
            {
                if (i < n_prompt)
                {
                    HasNone(scores[i]);
                    continue;
                }
                Near(events[i - n_prompt].Logprob, scores[i].Logprob, "token " + i);
                Near(events[i - n_prompt].Logprob, scores[i].Top[0].Logprob, "the likeliest in place " + i);
                Expect.Equal(scores[i].Top[0].Token == text[i], scores[i].Rank == 0, "rank 0");
            }
            Array.ForEach(engine.Score(new[] { text }, new ScoreOptions { Given = int.MaxValue })[0], HasNone);
        }
    }

    public static void TextsAreScoredTogetherAsAlone()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 2;
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            int[] a = engine.Tokenize("The old fox said"), b = engine.Tokenize(Unusual);
            int[][] texts = { a, b, a.Take(1).ToArray(), b, a };
            var told = new List<ulong>();
            ulong total = 0;
            var score = new ScoreOptions { Progress = (n_done, n_total) => { told.Add(n_done); total = n_total; } };
            TokenScore[][] together = engine.Score(texts, score);
            Expect.Equal(texts.Length, together.Length, "texts");
            for (int i = 0; i < texts.Length; i++)
            {
                TokenScore[] alone = engine.Score(new[] { texts[i] })[0];
                Expect.Equal(texts[i].Length, together[i].Length, "tokens of text " + i);
                HasNone(together[i][0]);
                for (int j = 1; j < alone.Length; j++) Near(alone[j].Logprob, together[i][j].Logprob, "token " + j + " of text " + i);
            }
            ulong want = (ulong)texts.Sum(text => text.Length - 1); // nothing runs behind a text's last token
            Expect.True(told.Count > 1 && told.Zip(told.Skip(1), (x, y) => x < y).All(rises => rises), "progress");
            Expect.True(told.Last() == want && total == want, "tokens: expected " + want + ", got " + told.Last() + " of " + total);
            Expect.Equal(0, engine.Score(new int[0][]).Length, "no texts");
            InlayException wrong = Expect.Status(Status.InvalidArgument, () => engine.Score(new[] { a, new int[0] }), "an empty text");
            Expect.Contains("lengths[1]", wrong.Message);
            Expect.Throws<ArgumentNullException>(() => engine.Score(null), "null");
            Expect.Throws<ArgumentNullException>(() => engine.Score(new[] { a, null }), "a text that is null");
        }
    }

    public static void EnginesAreCompared()
    {
        string target = Path.GetTempFileName();
        Engine.Convert(Given.Model, target, ConvertType.Q40, 2);
        LoadOptions options = Given.Options;
        options.MaxSessions = 1; // an engine against itself takes no second one
        using (Engine engine = Engine.Load(Given.Model, options))
        using (Engine coarse = Engine.Load(target, Given.Options))
        {
            File.Delete(target);
            int[] text = engine.Tokenize(Unusual);
            foreach (TokenScore[] scores in engine.Score(new[] { text, text }, new ScoreOptions { Against = engine }))
            {
                HasNone(scores[0]);
                foreach (TokenScore score in scores.Skip(1))
                {
                    Expect.True(score.AgainstLogprob == score.Logprob && score.AgainstRank == score.Rank, "the same engine's");
                    Expect.True(score.Divergence == 0 && score.SameBest == true, "divergence " + score.Divergence);
                }
            }
            TokenScore[] compared = coarse.Score(new[] { text }, new ScoreOptions { Against = engine })[0];
            for (int i = 1; i < text.Length; i++)
            {
                double[] p = Distribution(engine, text, i), q = Distribution(coarse, text, i);
                Near(q[text[i]], compared[i].Logprob, "token " + i);
                Near(p[text[i]], compared[i].AgainstLogprob, "token " + i + " of the other engine");
                Near(p.Zip(q, (x, y) => Math.Exp(x) * (x - y)).Sum(), compared[i].Divergence, "divergence");
                Expect.True(compared[i].Divergence > 0, "engines that differ");
                Expect.Equal(Best(p) == Best(q), compared[i].SameBest.Value, "the likeliest of both, token " + i);
            }
            coarse.Dispose();
            Expect.Throws<ObjectDisposedException>(() => engine.Score(new[] { text }, new ScoreOptions { Against = coarse }), "disposed");
        }
    }

    public static void AScoringIsCancelled()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 1;
        using (Engine engine = Engine.Load(Given.Model, options))
        using (var source = new CancellationTokenSource())
        {
            int[][] texts = { Given.Prompt, Given.Prompt, Given.Prompt };
            int told = 0;
            var score = new ScoreOptions { Progress = (n_done, n_total) => { if (++told == 2) source.Cancel(); } };
            var problem = Expect.Throws<OperationCanceledException>(() => engine.Score(texts, score, source.Token), "a cancelled scoring");
            Expect.Equal(source.Token, problem.CancellationToken, "whose token");
            Expect.Equal(2, told, "calls before the cancel");
            Expect.Throws<OperationCanceledException>(() => engine.Score(texts, null, source.Token), "cancelled before");
            score.Progress = (n_done, n_total) => { throw new FormatException("a bad handler"); };
            Expect.Throws<FormatException>(() => engine.Score(texts, score), "its own exception");
            Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
            Expect.Equal(3, engine.Score(texts).Length, "it goes on");
        }
    }

    public static void LibraryAndDevices()
    {
        Expect.Equal(Environment.GetEnvironmentVariable("INLAY_LIBRARY"), Library.Path, "path");
        Expect.Equal((uint)Inlay.Raw.Api.AbiMajor, Library.AbiVersion >> 16, "ABI");
        Expect.True(Library.Version.Length > 0, "version");
        Expect.Equal("KV_FULL", Library.StatusName(Status.KvFull), "name of a status");
        Library.Load(Library.Path);
        Expect.Throws<InvalidOperationException>(() => Library.Load("elsewhere"), "a second library");
        IList<DeviceInfo> devices = Library.Devices;
        Expect.Equal(DeviceKind.Cpu, devices[0].Kind, "the first device");
        Expect.True(devices[0].Units > 0 && devices[0].TotalBytes > devices[0].FreeBytes && devices[0].FreeBytes > 0, "its sizes");
        Expect.True(devices[0].Name.Length > 0 && devices[0].Features.Length > 0, "its texts");
    }
}

/// <summary>How the library is looked for. Each needs a process of its own, with the variable set or not.</summary>
[OnRequest]
static class LookupTests
{
    static string Path { get { return Environment.GetEnvironmentVariable("INLAY_TEST_OTHER"); } }

    public static void NothingIsFound()
    {
        var problem = Expect.Throws<DllNotFoundException>(() => Library.Load(), "no library");
        foreach (string tried in new[] { "INLAY_LIBRARY", AppDomain.CurrentDomain.BaseDirectory + "libinlay.so.1", "\n  libinlay.so:" })
        {
            Expect.Contains(tried, problem.Message);
        }
        // A line for each, with the system's own reason.
        foreach (string line in problem.Message.Split('\n'))
        {
            if (line.StartsWith("  ") && line.Contains(".so")) Expect.Contains("cannot open shared object file", line);
        }
        Expect.Throws<DllNotFoundException>(() => Engine.Load(Given.Model), "it stays so");
    }

#if NET5_0_OR_GREATER
    public static void TheHostsResolverIsAsked()
    {
        NativeLibrary.SetDllImportResolver(typeof(Library).Assembly, (name, assembly, search) =>
            name == "inlay" ? NativeLibrary.Load(Path) : IntPtr.Zero);
        Expect.Equal(Path, Library.Path, "the file is told");
        Expect.True(Library.Devices.Count > 0, "it works");
    }
#endif

    // A file without a path, where the system looks.
    public static void TheFileThatWasFoundIsTold()
    {
        Expect.True(System.IO.Path.IsPathRooted(Library.Path) && System.IO.File.Exists(Library.Path), "path " + Library.Path);
    }

    public static void AGivenPathIsTheOnlyOneTried()
    {
        var problem = Expect.Throws<DllNotFoundException>(() => Library.Load("/no/such/libinlay.so"), "no file");
        Expect.Contains("/no/such/libinlay.so", problem.Message);
        Expect.True(!problem.Message.Contains("libinlay.so.1"), "nothing else: " + problem.Message);
    }

    public static void AnotherLibrary()
    {
        Expect.Contains("not an Inlay library", Expect.Status(Status.Unsupported, () => Library.Load(Path), "another").Message);
    }

    public static void AnotherMajor()
    {
        Expect.Contains("ABI 2.0", Expect.Status(Status.Unsupported, () => Library.Load(Path), "another major").Message);
    }

    public static void ALibraryThatLacksAFunction()
    {
        Expect.Contains("lacks the function inlay_profile_", Expect.Status(Status.Unsupported, () => Library.Load(Path), "a broken one").Message);
    }

    // ABI 1.0 has no profiles: everything else works, and their functions say what is missing.
    public static void AnOlderMinor()
    {
        Library.Load(Path);
        Expect.Equal(1u << 16, Library.AbiVersion, "ABI");
        using (Engine engine = Engine.Load("any"))
        {
            InlayException problem = Expect.Status(Status.Unsupported, () => engine.ProfileStep(), "a profile");
            Expect.Contains("inlay_profile_step", problem.Message);
            Expect.Contains("1.1", problem.Message);
            Expect.Status(Status.Unsupported, () => engine.GetProfile(), "its text");
            Expect.Status(Status.Unsupported, () => engine.CreateQueue(), "a queue");
            Expect.Status(Status.Unsupported, () => engine.Run(), "requests");
            Expect.Status(Status.Unsupported, () => engine.SetThread(null), "a thread");
            Expect.Equal(DeviceKind.Auto, engine.Info.Device, "a function of 1.0");
        }
    }
}
