// The client and the generator as services of a program.
using System;
using Inlay;
using Inlay.Extensions.AI;
using Microsoft.Extensions.AI;
using Microsoft.Extensions.DependencyInjection;

static class ServiceTests
{
    static void Load(LoadOptions options)
    {
        options.Device = Given.Device;
        options.ContextLength = 128;
        options.MaxSessions = 3;
        options.Threads = 2;
    }

    public static void ServicesOfAProgram()
    {
        ServiceProvider services = new ServiceCollection()
            .AddInlayChatClient(Given.Model, Load, options => options.ChatTemplate = Chat.Template)
            .AddKeyedInlayChatClient("second", Given.Model, Load, options =>
            {
                options.ChatTemplate = "{{ messages[0].content }}";
                options.ModelId = "second-model";
            })
            .AddInlayEmbeddingGenerator(Given.Model, Load, options => options.Pooling = Pooling.Mean)
            .AddKeyedInlayEmbeddingGenerator("second", Given.Model, Load, options => options.Pooling = Pooling.Last)
            .BuildServiceProvider();
        var client = services.GetRequiredService<IChatClient>();
        var second = services.GetRequiredKeyedService<IChatClient>("second");
        var generator = services.GetRequiredService<IEmbeddingGenerator<string, Embedding<float>>>();
        var last = services.GetRequiredKeyedService<IEmbeddingGenerator<string, Embedding<float>>>("second");
        Expect.True(client == services.GetRequiredService<IChatClient>(), "one client");
        var engine = client.GetService<Engine>();
        Expect.Equal(3, engine.Info.MaxSessions, "load options");
        Expect.Equal(Chat.Direct(engine, new[] { Chat.User("Once") }, 10), Chat.Text(client, "Once", Chat.Most(10)), "text");
        Expect.Equal(engine.GetMetadata("general.name"), client.GetService<ChatClientMetadata>().DefaultModelId, "model");
        Expect.Equal("second-model", second.GetService<ChatClientMetadata>().DefaultModelId, "model of the second one");
        Expect.Equal((long?)engine.GetChatTokens("[{\"content\":\"Once\"}]", "{{ messages[0].content }}").Length,
                     Chat.Result(second.GetResponseAsync("Once", Chat.Most(10))).Usage.InputTokenCount, "template of the second one");
        int[][] tokens = { engine.Tokenize("A dog") };
        Expect.True(Chat.Result(generator.GenerateVectorAsync("A dog")).Span.SequenceEqual(engine.Embed(tokens, Pooling.Mean)[0]), "vector");
        Expect.True(Chat.Result(last.GenerateVectorAsync("A dog")).Span.SequenceEqual(engine.Embed(tokens, Pooling.Last)[0]), "vector of the second one");
        services.Dispose();
        Expect.Throws<ObjectDisposedException>(() => engine.Tokenize("a"), "the services own the engine");
        foreach (Engine other in new[] { second.GetService<Engine>(), (Engine)generator.GetService(typeof(Engine)), (Engine)last.GetService(typeof(Engine)) })
        {
            Expect.Throws<ObjectDisposedException>(() => other.Tokenize("a"), "and the others");
        }
    }

    public static void AModelIsLoadedWhenItIsAskedFor()
    {
        using ServiceProvider services = new ServiceCollection().AddInlayChatClient("no/such/model.gguf").BuildServiceProvider();
        Expect.Status(Status.NotFound, () => services.GetService<IChatClient>(), "no such file");
    }
}
