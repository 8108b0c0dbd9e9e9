// Tokens, texts, and what generations say.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using Inlay;

static class TextTests
{
    public static void TokensAndTextAndBack()
    {
        using (Engine engine = Given.Engine())
        {
            foreach (string text in new[] { "", "x", "Once upon a time", "Die Königin Ängstlich aß Süßes: „", "Привет, 世界 🦊!", "a\0b" })
            {
                int[] tokens = engine.Tokenize(text, TokenizeFlags.NoBosEos);
                Expect.Equal(text, engine.Detokenize(tokens), "text");
                Expect.Equal(text.Length == 0, tokens.Length == 0, "no tokens of no text");
                int[] with_bos = engine.Tokenize(text);
                Expect.Equal(engine.Info.Bos, with_bos[0], "BOS");
                Expect.Sequence(tokens, with_bos.Skip(1).ToArray(), "the rest");
            }
            string longer = string.Concat(Enumerable.Repeat("The quick brown fox. ", 5000));
            Expect.Equal(longer, engine.Detokenize(engine.Tokenize(longer, TokenizeFlags.NoBosEos)), "a long text");
        }
    }

    /// <summary>The model of the repository as a folder, with a normalizer that makes ten letters of one.</summary>
    internal static string FolderWithNormalizer()
    {
        string folder = Path.Combine(Path.GetTempPath(), "inlay-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        foreach (string file in Directory.GetFiles(Path.Combine(Path.GetDirectoryName(Given.Model), "hf")))
            File.WriteAllBytes(Path.Combine(folder, Path.GetFileName(file)), File.ReadAllBytes(file));
        string tokenizer = Path.Combine(folder, "tokenizer.json"), before = File.ReadAllText(tokenizer);
        const string longer = "\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}, \"content\": \"QQQQQQQQQQ\"}";
        string changed = before.Replace("\"normalizer\": null", longer);
        Expect.True(changed != before, "a changed tokenizer");
        File.WriteAllText(tokenizer, changed);
        return folder;
    }

    public static void MoreTokensThanBytes()
    {
        string folder = FolderWithNormalizer();
        using (Engine engine = Engine.Load(folder, Given.Options))
        {
            Directory.Delete(folder, true);
            int[] tokens = engine.Tokenize(new string('a', 100));
            Expect.True(tokens.Length > 102, "more tokens than bytes");
            Expect.Equal(new string('Q', 1000), engine.Detokenize(tokens), "their text");
        }
    }

    public static void CharactersInPieces()
    {
        using (Engine engine = Given.Engine())
        {
            int[] tokens = engine.Tokenize("🦊", TokenizeFlags.NoBosEos);
            Expect.True(tokens.Length > 1, "a character of several tokens");
            var bytes = new List<byte>();
            foreach (int token in tokens) bytes.AddRange(engine.DetokenizeBytes(new[] { token }));
            Expect.Equal("🦊", Encoding.UTF8.GetString(bytes.ToArray()), "its bytes");
            Expect.Contains("\ufffd", engine.Detokenize(tokens.Take(1).ToArray()));
            TokenInfo info = engine.GetTokenInfo(tokens[0]);
            Expect.Equal(info.PieceLength, info.Piece.Length, "length of the piece");
            Expect.Equal(bytes[0], info.Piece[0], "first byte");
            Expect.Equal(TokenKind.Control, engine.GetTokenInfo(engine.Info.Bos).Kind, "kind of BOS");
            Expect.Equal(TokenFlags.EndOfGeneration | TokenFlags.Control, engine.GetTokenInfo(engine.Info.Eos).Flags, "flags of EOS");
        }
    }

    public static void GenerationIsTheStepsText()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 40 }))
        {
            var tokens = new List<int>();
            var text = new StringBuilder();
            Generated last = null;
            foreach (Generated next in session.Generate("Once upon a time"))
            {
                tokens.Add(next.Token);
                text.Append(next.Text);
                Expect.True(last == null || last.FinishReason == FinishReason.None, "nothing follows the last event");
                last = next;
            }
            Expect.Equal(40, tokens.Count, "tokens");
            Expect.Equal(FinishReason.MaxTokens, last.FinishReason, "reason");
            Expect.Equal(engine.Detokenize(tokens.ToArray()), text.ToString(), "text");

            session.Truncate(0);
            session.Prefill("Once upon a time");
            Expect.Sequence(tokens.ToArray(), Given.Draw(session, 40), "tokens of the steps");
        }
    }

    public static void AGenerationThatWasLeftGoesOn()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 30 }))
        {
            int[] want = session.Generate("The old fox said").Select(g => g.Token).ToArray();
            session.Truncate(0);
            int[] begun = session.Generate("The old fox said").Take(10).Select(g => g.Token).ToArray();
            Expect.Sequence(want, begun.Concat(session.Continue().Select(g => g.Token)).ToArray(), "both parts");
        }
    }

    public static void StopStrings()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 60, Stop = new[] { "friend" } }))
        {
            Generated[] all = session.Generate("Once upon a time").ToArray();
            string text = string.Concat(all.Select(g => g.Text));
            Expect.Equal(FinishReason.StopString, all.Last().FinishReason, "reason after: " + text);
            Expect.True(!text.Contains("friend"), "text: " + text);
            session.Truncate(0);
            all = session.Generate("Once upon a time", new GenerateOptions { Stop = new string[0] }).ToArray();
            Expect.Contains("friend", string.Concat(all.Select(g => g.Text)));
            Expect.Equal(FinishReason.MaxTokens, all.Last().FinishReason, "reason without it");
        }
    }

    public static void StopTokens()
    {
        using (Engine engine = Given.Engine())
        {
            int token;
            using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 1 }))
                token = session.Generate("Once upon a time").First().Token;
            using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 60, StopTokens = new[] { token } }))
            {
                Generated[] all = session.Generate("Once upon a time").ToArray();
                Expect.Equal(FinishReason.StopToken, all.Last().FinishReason, "reason");
                Expect.Equal(1, all.Length, "events");
            }
        }
    }

    public static void DryBreaksRepetitionsButForItsBreakers()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            int token = engine.Tokenize("fox", TokenizeFlags.NoBosEos)[0];
            var sampler = new SamplerOptions { Bias = new Dictionary<int, float> { { token, 50 } } };
            int[] all = { token, token, token, token, token, token, token, token };
            Action<string, bool> same = (what, wanted) =>
            {
                session.Truncate(0);
                session.SetSampler(sampler);
                session.Prefill(new[] { 1, 2 });
                Expect.Equal(wanted, Given.Draw(session, 8).SequenceEqual(all), what);
            };
            same("without DRY", true);
            sampler.DryMultiplier = 100;
            same("with DRY", false);
            sampler.DryBreakers = new[] { "never", "f" };
            same("with a breaker in the token", true);
            sampler.DryBreakers = null;
            sampler.Flags = SamplerFlags.NoDryBreakers;
            same("without breakers", false);
            sampler.DryAllowedLength = 20;
            same("as long as it is allowed", true);
        }
    }

    public static void AcceptedTokensCountAsDrawn()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            session.Prefill(Given.Prompt);
            int[] drawn = Given.Draw(session, 8);
            session.Truncate(0);
            Expect.Status(Status.InvalidState, () => session.Accept(drawn), "nothing to go on with");
            session.Prefill(Given.Prompt);
            Expect.Equal(4, session.Accept(drawn.Take(4).ToArray()), "accepted");
            StepEvent step = session.DecodeStep();
            Expect.Equal(drawn[4], step.Token, "drawn behind them");
            Expect.Equal(1, step.TokenCount, "one token a step");
            Expect.Sequence(Given.Prompt.Concat(drawn.Take(5)).ToArray(), session.GetTokens(), "the sequence");
            Expect.Sequence(drawn.Take(5).ToArray(), session.GetTokens(Given.Prompt.Length), "its end");
            session.SetMaxTokens(7);
            Expect.Equal(2, session.Accept(drawn), "up to the limit");
            Expect.Equal(FinishReason.MaxTokens, session.Info.FinishReason, "reason");
            Expect.Status(Status.InvalidArgument, () => session.GetTokens(1000), "behind the end");
        }
    }

    // Stop strings hold text back: what comes at once then is more than an event carries.
    public static void LongTextIsTakenWhole()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            int a = engine.Tokenize("a", TokenizeFlags.NoBosEos)[0], dot = engine.Tokenize(".", TokenizeFlags.NoBosEos)[0];
            string held = new string('a', 300);
            session.SetStop(new[] { held + "!" });
            session.Prefill(Given.Prompt);
            session.SetSampler(new SamplerOptions { Bias = new Dictionary<int, float> { { a, 1e6f } } });
            for (int i = 0; i < 200; i++) Expect.Equal("", session.DecodeStep().Text, "held text");
            session.SetSampler(new SamplerOptions { Bias = new Dictionary<int, float> { { dot, 1e6f } } });
            StepEvent step = session.DecodeStep();
            Expect.Equal(128, step.Text.Length, "text of the event");
            Expect.Equal(73ul, step.PendingTextBytes, "bytes that did not fit");
            Expect.Equal(73ul, session.Info.PendingTextBytes, "bytes that did not fit, by the session");
            Expect.Equal(new string('a', 72) + ".", session.TakeText(), "the rest");
            Expect.Equal("", session.TakeText(), "no more");

            int before = session.Info.Tokens;
            session.Shift(1, 3);
            Expect.Equal(before - 3, session.Info.Tokens, "tokens after a shift");
            Expect.Throws<ArgumentOutOfRangeException>(() => session.Shift(-1, 1), "a negative place");
            session.Truncate(Given.Prompt.Length);
            var texts = new List<string>();
            session.SetSampler(new SamplerOptions { Bias = new Dictionary<int, float> { { a, 1e6f } } });
            foreach (Generated next in session.Continue())
            {
                texts.Add(next.Text);
                if (texts.Count == 200) session.SetSampler(new SamplerOptions { Bias = new Dictionary<int, float> { { dot, 1e6f } } });
                if (texts.Count == 201) break;
            }
            Expect.Equal(new string('a', 200) + ".", string.Concat(texts), "a generation takes it by itself");
        }
    }

    public static void SeedAndStreamDecide()
    {
        using (Engine engine = Given.Engine())
        {
            Func<ulong, ulong, int[]> draw = (seed, stream) =>
            {
                using (Session session = engine.CreateSession(Given.Hot(seed, stream)))
                {
                    session.Prefill(Given.Prompt);
                    return Given.Draw(session, 24);
                }
            };
            int[] first = draw(1, 0);
            Expect.Sequence(first, draw(1, 0), "the same again");
            Expect.True(!first.SequenceEqual(draw(2, 0)), "another seed");
            Expect.True(!first.SequenceEqual(draw(1, 1)), "another stream");
        }
    }

    public static void SlicesDrawWhatStepsDraw()
    {
        using (Engine engine = Given.Engine())
        using (Session one = engine.CreateSession(Given.Hot(7, 0)), two = engine.CreateSession(Given.Hot(7, 1)),
                       twin = engine.CreateSession(Given.Hot(7, 0)))
        {
            foreach (Session session in new[] { one, two, twin }) session.Prefill(Given.Prompt);
            int[] want = Given.Draw(twin, 13);
            var sessions = new[] { one, two };
            var events = new StepEvent[2];
            var tokens = new List<int>();
            int pending = 0, left;
            while (tokens.Count < 12)
            {
                Expect.Equal(Status.Ok, engine.DecodeSlice(sessions, 2, events, out left), "status");
                if (left > 0) pending++;
                else tokens.Add(events[0].Token);
            }
            Expect.Sequence(want.Take(12).ToArray(), tokens.ToArray(), "tokens");
            Expect.True(pending >= 11 * 2, "parts that were no whole steps: " + pending);

            // A pending step refuses, until it is dropped; then it never was.
            Expect.Equal(Status.Ok, engine.DecodeSlice(sessions, 0, events, out left), "status");
            Expect.True(left > engine.Info.Layers, "units: " + left);
            Expect.Status(Status.InvalidState, () => one.Prefill(Given.Prompt), "prefill");
            Expect.Status(Status.InvalidState, () => two.Fork(), "fork");
            Expect.Equal(Status.InvalidState, engine.DecodeStep(sessions, events), "step");
            Expect.Status(Status.InvalidState, () => engine.DecodeAbandon(new[] { two, one }), "another order");
            engine.DecodeAbandon(sessions);
            engine.DecodeAbandon(sessions);
            Expect.Equal(want[12], one.DecodeStep().Token, "the next token");
            Expect.Throws<ArgumentOutOfRangeException>(() => engine.DecodeSlice(sessions, -1, events, out left), "units");
            Expect.Throws<ArgumentException>(() => engine.DecodeSlice(sessions, 1, new StepEvent[1], out left), "events");
            Expect.Throws<ArgumentNullException>(() => engine.DecodeAbandon(null), "sessions");
            Expect.Status(Status.InvalidArgument, () => engine.DecodeAbandon(new Session[0]), "no sessions");
            Expect.Equal(Status.Ok, engine.DecodeStep(sessions, events), "none is left in use");
        }
    }

    public static void CompanyChangesNothing()
    {
        using (Engine engine = Given.Engine())
        {
            const int n = 6, n_steps = 20;
            var sessions = new Session[n];
            var together = new int[n][];
            for (int i = 0; i < n; i++)
            {
                sessions[i] = engine.CreateSession(Given.Hot(7, (ulong)i));
                sessions[i].Prefill(Given.Prompt);
                together[i] = new int[n_steps];
            }
            var events = new StepEvent[n];
            for (int step = 0; step < n_steps; step++)
            {
                Expect.Equal(Status.Ok, engine.DecodeStep(sessions, events), "status");
                for (int i = 0; i < n; i++)
                {
                    Expect.Equal(i, events[i].SessionIndex, "index");
                    together[i][step] = events[i].Token;
                }
            }
            for (int i = 0; i < n; i++)
            {
                sessions[i].Dispose();
                using (Session alone = engine.CreateSession(Given.Hot(7, (ulong)i)))
                {
                    alone.Prefill(Given.Prompt);
                    Expect.Sequence(Given.Draw(alone, n_steps), together[i], "session " + i);
                }
            }
            Expect.True(!together[1].SequenceEqual(together[2]), "or swapped sessions would not be noticed");
        }
    }

    public static void LogitsAndLogprobs()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            session.SetSampler(new SamplerOptions { Logprobs = 5 });
            session.Prefill(Given.Prompt);
            StepEvent step = session.DecodeStep();
            float[] logits = session.GetLogits();
            Expect.Equal(engine.Info.VocabularySize, logits.Length, "logits");
            unsafe
            {
                int count;
                float* view = session.ViewLogits(out count);
                Expect.Equal(logits.Length, count, "logits that are viewed");
                for (int i = 0; i < count; ++i) Expect.Equal(logits[i], view[i], "logit " + i);
            }
            Expect.Equal(Array.IndexOf(logits, logits.Max()), step.Token, "the likeliest token");
            double sum = Math.Log(logits.Sum(l => Math.Exp(l)));
            TokenLogprob[] top = step.Top;
            Expect.Equal(5, top.Length, "alternatives");
            Expect.Equal(step.Token, top[0].Token, "the first of them");
            foreach (TokenLogprob one in top) Expect.True(Math.Abs(logits[one.Token] - sum - one.Logprob) < 1e-4, "logprob of " + one.Token);
            Expect.True(step.Logprob == top[0].Logprob && top[0].Logprob > top[4].Logprob, "order");
        }
    }

    public static void ForkGoesOnLikeItsParent()
    {
        using (Engine engine = Given.Engine())
        using (Session parent = engine.CreateSession(Given.Hot(3)))
        {
            parent.Prefill(Given.Prompt);
            Given.Draw(parent, 4);
            using (Session child = parent.Fork())
            {
                int[] want = Given.Draw(parent, 16);
                Expect.Sequence(want, Given.Draw(child, 16), "the child's");
                child.Truncate(Given.Prompt.Length + 4);
                child.SetSampler(new SamplerOptions { Temperature = 1.5f, Seed = 4 });
                Expect.True(!want.SequenceEqual(Given.Draw(child, 16)), "another seed");
            }
        }
    }
}
