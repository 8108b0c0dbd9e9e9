#if NETCOREAPP || NETSTANDARD2_1_OR_GREATER
// The calls that take and fill spans give what those with strings and arrays give, and write nothing beyond their room.
using System;
using System.IO;
using System.Linq;
using System.Text;
using Inlay;

static class SpanTests
{
    const string Text = "Once upon a time, a f\u00f6x \ud83e\udd8a met {a} `wolf`.";

    static InlayException TooSmall(Action call, int required, int available)
    {
        InlayException problem = Expect.Status(Status.BufferTooSmall, call, "room for " + available);
        Expect.Equal((ulong)required, problem.Required, "required");
        Expect.Equal((ulong)available, problem.Available, "available");
        return problem;
    }

    public static void Load()
    {
        byte[] model = File.ReadAllBytes(Given.Model);
        var larger = new byte[model.Length + 2];
        model.CopyTo(larger, 1);
        using (Engine engine = Engine.Load(larger.AsSpan(1, model.Length), Given.Options))
        using (Engine usual = Given.Engine())
        {
            Expect.Sequence(Given.Reply(usual, 8), Given.Reply(engine, 8), "what it says");
        }
        Expect.Status(Status.Format, () => Engine.Load(model.AsSpan(0, model.Length / 2), Given.Options), "half a model");
        Expect.Throws<InlayException>(() => Engine.Load(ReadOnlySpan<byte>.Empty, Given.Options), "nothing");
    }

    public static void Tokenize()
    {
        using (Engine engine = Given.Engine())
        {
            byte[] bytes = Encoding.UTF8.GetBytes(Text);
            foreach (TokenizeFlags flags in new[] { TokenizeFlags.None, TokenizeFlags.NoBosEos })
            {
                int[] want = engine.Tokenize(Text, flags);
                Expect.Sequence(want, engine.Tokenize(("<" + Text + ">").AsSpan(1, Text.Length), flags), "characters");
                Expect.Sequence(want, engine.TokenizeUtf8(bytes, flags), "bytes");

                int[] room = Enumerable.Repeat(-7, want.Length + 2).ToArray();
                Expect.Equal(want.Length, engine.Tokenize(Text.AsSpan(), room.AsSpan(1), flags), "count of characters' tokens");
                Expect.Sequence(new[] { -7 }.Concat(want).Concat(new[] { -7 }).ToArray(), room, "into a larger room");
                room = new int[want.Length];
                Expect.Equal(want.Length, engine.TokenizeUtf8(bytes, room, flags), "count of bytes' tokens");
                Expect.Sequence(want, room, "into a room that just holds them");
                TooSmall(() => engine.TokenizeUtf8(bytes, room.AsSpan(1), flags), want.Length, want.Length - 1);
                TooSmall(() => engine.Tokenize(Text.AsSpan(), Span<int>.Empty, flags), want.Length, 0);
            }
            Expect.Equal(0, engine.Tokenize("".AsSpan(), Span<int>.Empty, TokenizeFlags.NoBosEos), "no text");
            Expect.Sequence(new int[0], engine.TokenizeUtf8(ReadOnlySpan<byte>.Empty, TokenizeFlags.NoBosEos), "no bytes");
            string large = new string('a', 100000);
            Expect.Sequence(engine.Tokenize(large), engine.Tokenize(large.AsSpan()), "a long text");
            Expect.Throws<ArgumentException>(() => engine.Tokenize("half a pair: \ud83e".AsSpan()), "a lone surrogate");
        }
    }

    public static void Detokenize()
    {
        using (Engine engine = Given.Engine())
        {
            int[] tokens = engine.Tokenize(Text, TokenizeFlags.NoBosEos);
            byte[] want = Encoding.UTF8.GetBytes(Text);
            ReadOnlySpan<int> span = new[] { -7 }.Concat(tokens).ToArray().AsSpan(1);
            Expect.Equal(Text, engine.Detokenize(span), "text");
            Expect.True(want.SequenceEqual(engine.DetokenizeBytes(span)), "bytes");
            byte[] room = Enumerable.Repeat((byte)9, want.Length + 3).ToArray();
            Expect.Equal(want.Length, engine.DetokenizeBytes(span, room.AsSpan(1, want.Length)), "count");
            Expect.True(room.SequenceEqual(new byte[] { 9 }.Concat(want).Concat(new byte[] { 9, 9 })), "bytes in the room alone");
            Expect.Equal(want.Length, engine.DetokenizeBytes(span, room), "count in a larger room");
            Expect.True(room.SequenceEqual(want.Concat(new byte[] { 0, 9, 9 })), "a zero behind them");
            TooSmall(() => engine.DetokenizeBytes(tokens.AsSpan(), room.AsSpan(0, 5)), want.Length, 5);
            TooSmall(() => engine.DetokenizeBytes(tokens.AsSpan(), Span<byte>.Empty), want.Length, 0);
            Expect.Equal("", engine.Detokenize(ReadOnlySpan<int>.Empty), "no tokens");
        }
    }

    public static void Embed()
    {
        using (Engine engine = Given.Engine())
        {
            int[] first = Given.Prompt, second = engine.Tokenize(Text);
            float[][] want = engine.Embed(new[] { first, second }, Pooling.Mean);
            int width = engine.Info.ModelWidth;
            var room = new float[width + 1];
            room[width] = 77;
            Expect.Equal(width, engine.Embed(second.AsSpan(), room.AsSpan(), Pooling.Mean), "values of one");
            Near(want[1], room.AsSpan(0, width));
            Expect.Equal(77f, room[width], "behind it");

            int[] lengths = { first.Length, second.Length }, all = first.Concat(second).ToArray();
            var both = new float[2 * width];
            Expect.Equal(2 * width, engine.Embed(all.AsSpan(), lengths, both, Pooling.Mean), "values of two");
            Near(want[0], both.AsSpan(0, width));
            Near(want[1], both.AsSpan(width));

            TooSmall(() => engine.Embed(first.AsSpan(), room.AsSpan(2), Pooling.Mean), width, width - 1);
            TooSmall(() => engine.Embed(first.AsSpan(), Span<float>.Empty, Pooling.Mean), width, 0);
            Action wrong = () => engine.Embed(all.AsSpan(), lengths.AsSpan(0, 1), both, Pooling.Mean);
            Expect.Contains("tokens.Length is " + all.Length, Expect.Throws<ArgumentException>(wrong, "tokens of no text").Message);
            var plain = new float[width];
            engine.Embed(first.AsSpan(), plain, Pooling.Mean, EmbedFlags.None);
            Expect.True(!plain.SequenceEqual(want[0]), "the flags are passed on");
        }
    }

    static void Near(float[] want, ReadOnlySpan<float> got)
    {
        Expect.Equal(want.Length, got.Length, "width");
        for (int i = 0; i < want.Length; i++) Expect.True(Math.Abs(want[i] - got[i]) < 1e-4f, "value " + i + ": " + want[i] + ", " + got[i]);
    }

    public static void Session()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            session.Prefill(new[] { -7 }.Concat(Given.Prompt).ToArray().AsSpan(1));
            var logits = new float[engine.Info.VocabularySize];
            session.CopyLogits(logits.AsSpan());
            Expect.True(logits.SequenceEqual(session.GetLogits()), "logits");
            Expect.Sequence(Given.Reply(engine, 8), Given.Draw(session, 8), "what it says");
        }
    }

    /// <summary>Into the caller's room: nothing is allocated.</summary>
    public static void NothingIsAllocated()
    {
        using (Engine engine = Given.Engine())
        {
            var tokens = new int[200];
            var bytes = new byte[400];
            long before = 0;
            for (int i = 0; i < 11; i++)
            {
                if (i == 1) before = GC.GetAllocatedBytesForCurrentThread(); // the first round compiles
                int n = engine.Tokenize(Text.AsSpan(), tokens);
                engine.DetokenizeBytes(tokens.AsSpan(0, n), bytes);
            }
            Expect.Equal(0L, GC.GetAllocatedBytesForCurrentThread() - before, "bytes of ten rounds");
        }
    }
}
#endif
