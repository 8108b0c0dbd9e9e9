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

    public static void ItIsCancelledOnAnotherThread()
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

    static void AreThose(float[][] want, Task<ReadOnlyMemory<float>>[] tasks)
    {
        ReadOnlyMemory<float>[] got = Chat.Result(Task.WhenAll(tasks));
        for (int i = 0; i < got.Length; i++) Expect.True(got[i].Span.SequenceEqual(want[i % want.Length]), "vector " + i);
    }

    static Task<ReadOnlyMemory<float>>[] Fifty(InlayEmbeddingGenerator generator)
    {
        return Enumerable.Range(0, 50).Select(i => generator.GenerateVectorAsync(Texts[i % Texts.Length])).ToArray();
    }

    // The program's own sessions have all places: the texts wait until it gives one back.
    public static void FiftyWaitBesideBusySessions()
    {
        using Engine engine = Chat.Engine(2);
        float[][] want = engine.Embed(Texts, Pooling.Mean);
        using InlayEmbeddingGenerator generator = Generator(engine);
        using Session held = engine.CreateSession(Given.Endless);
        Task<ReadOnlyMemory<float>>[] tasks;
        using (Session other = engine.CreateSession(Given.Endless))
        {
            Expect.Status(Status.SessionLimit, () => engine.Embed(Texts, Pooling.Mean), "no session is free");
            tasks = Fifty(generator);
            foreach (Session session in new[] { held, other }) session.Prefill(Given.Prompt);
            for (int i = 0; i < 20; i++) engine.DecodeStep(new[] { held, other }, new StepEvent[2]);
            Expect.True(!tasks.Any(task => task.IsCompleted), "they wait");
        }
        AreThose(want, tasks);
        Expect.Equal(1, engine.Stats.Sessions, "sessions");
    }

    public static void FiftyAreMadeBesideAnswers()
    {
        using Engine engine = Chat.Engine(2);
        float[][] want = engine.Embed(Texts, Pooling.Mean);
        using InlayEmbeddingGenerator generator = Generator(engine);
        using InlayChatClient client = Chat.Client(engine);
        string alone = Chat.Text(client, "Once upon a time", Chat.Most(100));
        Task<ChatResponse>[] answers = Enumerable.Range(0, 4).Select(_ => client.GetResponseAsync(new[] { Chat.User("Once upon a time") }, Chat.Most(100))).ToArray();
        AreThose(want, Fifty(generator));
        foreach (ChatResponse answer in Chat.Result(Task.WhenAll(answers))) Expect.Equal(alone, answer.Text, "an answer");
    }

    // What is refused leaves no text of its call waiting, and gives the room back.
    public static void AFailureEndsItsCallAlone()
    {
        using Engine engine = Chat.Engine(2, 64);
        using InlayEmbeddingGenerator generator = Generator(engine, 2);
        float[] want = engine.Embed(new[] { Texts[3] }, Pooling.Mean)[0];
        string tooLong = string.Concat(Enumerable.Repeat(" dogs", 200));
        for (int i = 0; i < 3; i++)
        {
            Task<GeneratedEmbeddings<Embedding<float>>> fails = generator.GenerateAsync(new[] { Texts[0], Texts[1], tooLong, Texts[2] });
            Task<ReadOnlyMemory<float>> goesOn = generator.GenerateVectorAsync(Texts[3]);
            Expect.Status(Status.ContextFull, () => Chat.Result(fails), "too long");
            Expect.True(Chat.Result(goesOn).Span.SequenceEqual(want), "beside it");
        }
        Expect.Throws<ArgumentNullException>(() => Chat.Result(generator.GenerateAsync(new string[] { Texts[0], null })), "no text");
        AreThose(new[] { want }, new[] { generator.GenerateVectorAsync(Texts[3]), generator.GenerateVectorAsync(Texts[3]), generator.GenerateVectorAsync(Texts[3]) });
    }

    public static void AFailureLeavesNothingToCompute()
    {
        using Engine engine = Chat.Engine(2, 64);
        using var generator = new InlayEmbeddingGenerator(engine, new InlayEmbeddingGeneratorOptions { Pooling = Pooling.Mean, HostComputes = true });
        engine.Run(); // somebody computes
        foreach (bool fails in new[] { true, false })
        {
            ulong before = engine.Stats.PrefillTokens;
            var task = generator.GenerateAsync(new[] { Texts[0], Texts[1], fails ? string.Concat(Enumerable.Repeat(" dogs", 200)) : Texts[2] });
            if (fails) Expect.Status(Status.ContextFull, () => Chat.Result(task), "too long");
            Chat.Soon(() => engine.Run().Requests == 0 && task.IsCompleted, "all end");
            Expect.Equal(fails, engine.Stats.PrefillTokens == before, "tokens were run");
        }
    }

    public static void WhatIsUnderWayEndsWithTheGenerator()
    {
        foreach (bool ownsEngine in new[] { false, true })
        {
            using Engine engine = Chat.Engine(1);
            using Session held = engine.CreateSession(Given.Endless);
            var generator = new InlayEmbeddingGenerator(engine, new InlayEmbeddingGeneratorOptions { Pooling = Pooling.Mean, OwnsEngine = ownsEngine });
            Task<ReadOnlyMemory<float>>[] tasks = Fifty(generator);
            Thread.Sleep(20); // some wait in the engine, the others for these
            generator.Dispose();
            generator.Dispose();
            foreach (Task<ReadOnlyMemory<float>> task in tasks) Expect.Throws<OperationCanceledException>(() => Chat.Result(task), "disposed");
        }
    }

    // The engine has no thread but where a generator or a client gives it one.
    public static void TheProgramMayCompute()
    {
        using Engine engine = Chat.Engine(2);
        float[][] want = engine.Embed(Texts, Pooling.Mean);
        var options = new InlayEmbeddingGeneratorOptions { Pooling = Pooling.Mean, HostComputes = true };
        using (var generator = new InlayEmbeddingGenerator(engine, options))
        {
            engine.Run(); // somebody computes
            Task<ReadOnlyMemory<float>>[] tasks = Fifty(generator);
            Chat.Soon(() => engine.Run().Requests == 0 && tasks.All(task => task.IsCompleted), "they end");
            AreThose(want, tasks);
        }
        using (Generator(engine)) Expect.Status(Status.InvalidState, () => engine.Run(), "it has a thread");
        engine.Run();
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
