// Texts as vectors.
using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Inlay;
using Inlay.Extensions.AI;
using Microsoft.Extensions.AI;

static class EmbeddingTests
{
    static readonly string[] Texts = Enumerable.Range(0, 11).Select(i => "Once upon a time there were " + i + " dogs" + new string('.', i)).ToArray();

    static InlayEmbeddingGenerator Generator(Engine engine, int? batch = null)
    {
        return new InlayEmbeddingGenerator(engine, new InlayEmbeddingGeneratorOptions { Pooling = Pooling.Mean, BatchSize = batch });
    }

    public static void TheyAreTheEngines()
    {
        using Engine engine = Given.Engine();
        int[][] tokens = Texts.Select(text => engine.Tokenize(text)).ToArray();
        float[][] want = engine.Embed(tokens, Pooling.Mean);
        foreach (int? batch in new int?[] { null, 1, 4, 100 })
        {
            using InlayEmbeddingGenerator generator = Generator(engine, batch);
            GeneratedEmbeddings<Embedding<float>> got = Chat.Result(generator.GenerateAsync(Texts));
            Expect.Equal(want.Length, got.Count, "vectors");
            for (int i = 0; i < want.Length; i++)
            {
                Expect.True(got[i].Vector.Span.SequenceEqual(want[i]), "vector " + i + " in batches of " + batch);
                Expect.Equal(generator.GetService<EmbeddingGeneratorMetadata>().DefaultModelId, got[i].ModelId, "model");
                Expect.True(got[i].CreatedAt != null, "time");
            }
            Expect.Equal((long?)tokens.Sum(text => text.Length), got.Usage.InputTokenCount, "tokens");
            Expect.Equal(got.Usage.InputTokenCount, got.Usage.TotalTokenCount, "tokens in all");
        }
        using InlayEmbeddingGenerator one = Generator(engine);
        Expect.True(Chat.Result(one.GenerateVectorAsync(Texts[3])).Span.SequenceEqual(want[3]), "one text");
        Expect.Equal(0, Chat.Result(one.GenerateAsync(Array.Empty<string>())).Count, "none");
        using var other = new InlayEmbeddingGenerator(engine, new InlayEmbeddingGeneratorOptions { Pooling = Pooling.Last, Flags = EmbedFlags.None });
        float[] last = engine.Embed(new[] { tokens[3] }, Pooling.Last, EmbedFlags.None)[0];
        Expect.True(!last.SequenceEqual(want[3]), "another vector");
        Expect.True(Chat.Result(other.GenerateVectorAsync(Texts[3])).Span.SequenceEqual(last), "pooling and flags");
    }

    public static void ServicesAreGiven()
    {
        using Engine engine = Given.Engine();
        using InlayEmbeddingGenerator generator = Generator(engine);
        EmbeddingGeneratorMetadata metadata = generator.GetService<EmbeddingGeneratorMetadata>();
        Expect.Equal("inlay", metadata.ProviderName, "provider");
        Expect.Equal((int?)engine.Info.ModelWidth, metadata.DefaultModelDimensions, "dimensions");
        Expect.Equal(engine.GetMetadata("general.name"), metadata.DefaultModelId, "model");
        Expect.True(generator.GetService(typeof(Engine)) == engine, "engine");
    }

    public static void OtherDimensionsAreRefused()
    {
        using Engine engine = Given.Engine();
        using InlayEmbeddingGenerator generator = Generator(engine);
        int width = engine.Info.ModelWidth;
        NotSupportedException problem = Expect.Throws<NotSupportedException>(
            () => Chat.Result(generator.GenerateAsync(Texts, new EmbeddingGenerationOptions { Dimensions = width / 2 })), "fewer");
        Expect.Contains(width.ToString(), problem.Message);
        Expect.Throws<NotSupportedException>(
            () => Chat.Result(generator.GenerateAsync(Texts, new EmbeddingGenerationOptions { ModelId = "other-model" })), "another model");
        Expect.Equal(Texts.Length, Chat.Result(generator.GenerateAsync(Texts, new EmbeddingGenerationOptions { Dimensions = width })).Count, "the model's");
    }

    public static void ItIsCancelledBetweenBatchesOfAnotherThread()
    {
        using Engine engine = Given.Engine();
        using InlayEmbeddingGenerator generator = Generator(engine, 1);
        using var source = new CancellationTokenSource();
        string[] many = Enumerable.Repeat(Texts[3], 20000).ToArray();
        Task<GeneratedEmbeddings<Embedding<float>>> task = generator.GenerateAsync(many, null, source.Token);
        Expect.True(!task.IsCompleted, "the caller goes on meanwhile");
        Thread.Sleep(30);
        source.Cancel();
        OperationCanceledException cancelled = Expect.Throws<OperationCanceledException>(() => Chat.Result(task), "cancelled");
        Expect.Equal(source.Token, cancelled.CancellationToken, "whose token");
        Expect.Equal(0, engine.Stats.Sessions, "sessions");
    }

    public static void RequestsTakeTurns()
    {
        using Engine engine = Chat.Engine(1);
        using InlayEmbeddingGenerator generator = Generator(engine);
        float[][] want = engine.Embed(Texts.Select(text => engine.Tokenize(text)).ToArray(), Pooling.Mean);
        Task<GeneratedEmbeddings<Embedding<float>>>[] tasks = Enumerable.Range(0, 8).Select(_ => generator.GenerateAsync(Texts)).ToArray();
        foreach (GeneratedEmbeddings<Embedding<float>> got in Chat.Result(Task.WhenAll(tasks)))
        {
            for (int i = 0; i < want.Length; i++) Expect.True(got[i].Vector.Span.SequenceEqual(want[i]), "vector " + i);
        }
        generator.Dispose();
        Expect.Throws<ObjectDisposedException>(() => Chat.Result(generator.GenerateAsync(Texts)), "afterwards");
    }
}
