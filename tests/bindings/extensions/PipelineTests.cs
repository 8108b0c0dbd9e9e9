// The client and the generator below Microsoft.Extensions.AI's own parts, and as services of a program.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Inlay;
using Inlay.Extensions.AI;
using Microsoft.Extensions.AI;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

sealed class MemoryCache : IDistributedCache
{
    readonly ConcurrentDictionary<string, byte[]> _entries = new();

    internal int Count { get { return _entries.Count; } }

    public byte[] Get(string key) { return _entries.GetValueOrDefault(key); }
    public Task<byte[]> GetAsync(string key, CancellationToken token = default) { return Task.FromResult(Get(key)); }
    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) { _entries[key] = value; }

    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default)
    {
        Set(key, value, options);
        return Task.CompletedTask;
    }

    public void Remove(string key) { _entries.TryRemove(key, out _); }

    public Task RemoveAsync(string key, CancellationToken token = default)
    {
        Remove(key);
        return Task.CompletedTask;
    }

    public void Refresh(string key) { }
    public Task RefreshAsync(string key, CancellationToken token = default) { return Task.CompletedTask; }
}

sealed class Lines : ILoggerFactory, ILogger
{
    internal readonly ConcurrentQueue<string> Written = new();

    public ILogger CreateLogger(string category) { return this; }
    public void AddProvider(ILoggerProvider provider) { }
    public IDisposable BeginScope<TState>(TState state) { return null; }
    public bool IsEnabled(LogLevel level) { return true; }
    public void Dispose() { }

    public void Log<TState>(LogLevel level, EventId id, TState state, Exception problem, Func<TState, Exception, string> format)
    {
        Written.Enqueue(format(state, problem));
    }
}

static class PipelineTests
{
    public static void CachingAndLogging()
    {
        using Engine engine = Given.Engine();
        var cache = new MemoryCache();
        var lines = new Lines();
        using IChatClient client = new ChatClientBuilder(Chat.Client(engine)).UseDistributedCache(cache).UseLogging(lines).Build();
        ChatMessage[] messages = [Chat.User("A tale of a dog.")];
        ChatResponse first = Chat.Result(client.GetResponseAsync(messages, Chat.Most(20)));
        Expect.Equal(Chat.Direct(engine, messages, 20), first.Text, "text");
        ulong drawn = engine.Stats.DecodeTokens;
        ChatResponse again = Chat.Result(client.GetResponseAsync(messages, Chat.Most(20)));
        Expect.Equal(drawn, engine.Stats.DecodeTokens, "the second one is the cache's");
        Expect.Equal(1, cache.Count, "entries of the cache");
        Expect.Equal(first.Text, again.Text, "text of the cache");
        Expect.Equal(first.FinishReason, again.FinishReason, "reason");
        Expect.Equal(first.Usage.InputTokenCount, again.Usage.InputTokenCount, "tokens");
        Expect.Equal(first.ResponseId, again.ResponseId, "the same answer");

        ChatResponse streamed = Chat.Result(Chat.Updates(client, messages, Chat.Most(20))).ToChatResponse();
        Expect.True(engine.Stats.DecodeTokens > drawn, "a stream has an entry of its own");
        drawn = engine.Stats.DecodeTokens;
        ChatResponse streamed_again = Chat.Result(Chat.Updates(client, messages, Chat.Most(20))).ToChatResponse();
        Expect.Equal(drawn, engine.Stats.DecodeTokens, "the second stream is the cache's");
        foreach (ChatResponse response in new[] { streamed, streamed_again })
        {
            Expect.Equal(first.Text, response.Text, "text of a stream");
            Expect.Equal((ChatFinishReason?)ChatFinishReason.Length, response.FinishReason, "reason of a stream");
            Expect.Equal(first.Usage.TotalTokenCount, response.Usage.TotalTokenCount, "tokens of a stream");
        }
        string log = string.Join("\n", lines.Written);
        Expect.Contains("GetResponseAsync completed", log);
        Expect.Contains("GetStreamingResponseAsync completed", log);
        Expect.Contains("A tale of a dog.", log);
        Expect.True(client.GetService<Engine>() == engine, "the engine is found through it");
        Expect.Equal("inlay", client.GetService<ChatClientMetadata>().ProviderName, "provider");
    }

    public static void OptionsOfThePipeline()
    {
        using Engine engine = Given.Engine();
        using IChatClient client = new ChatClientBuilder(Chat.Client(engine)).ConfigureOptions(options => options.MaxOutputTokens ??= 4).Build();
        ChatResponse response = Chat.Result(client.GetResponseAsync("A tale of a dog."));
        Expect.Equal(4L, response.Usage.OutputTokenCount, "tokens");
    }

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
        Expect.Equal(Chat.Direct(engine, [Chat.User("Once")], 10), Chat.Text(client, "Once", Chat.Most(10)), "text");
        Expect.Equal(engine.GetMetadata("general.name"), client.GetService<ChatClientMetadata>().DefaultModelId, "model");
        Expect.Equal("second-model", second.GetService<ChatClientMetadata>().DefaultModelId, "model of the second one");
        Expect.Equal((long?)engine.GetChatTokens("[{\"content\":\"Once\"}]", "{{ messages[0].content }}").Length,
                     Chat.Result(second.GetResponseAsync("Once", Chat.Most(10))).Usage.InputTokenCount, "template of the second one");
        int[][] tokens = [engine.Tokenize("A dog")];
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
