// The client below Microsoft.Extensions.AI's own parts, which need its packages.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Inlay;
using Microsoft.Extensions.AI;
using Microsoft.Extensions.Caching.Distributed;
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
}
