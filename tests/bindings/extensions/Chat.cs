// What the tests of the chat client share.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using Inlay;
using Inlay.Extensions.AI;
using Microsoft.Extensions.AI;
using ChatMessage = Microsoft.Extensions.AI.ChatMessage;
using EngineMessage = Inlay.ChatMessage;

static class Chat
{
    const int Limit = 60000; // milliseconds

    /// <summary>A prompt is the beginning of the next turn's.</summary>
    internal const string Template =
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

    internal static T Result<T>(Task<T> task)
    {
        if (Task.WaitAny(new Task[] { task }, Limit) < 0) throw new CheckFailed("the task has not ended");
        return task.GetAwaiter().GetResult();
    }

    internal static void Done(Task task)
    {
        if (Task.WaitAny(new Task[] { task }, Limit) < 0) throw new CheckFailed("the task has not ended");
        task.GetAwaiter().GetResult();
    }

    internal static Engine Engine(int sessions, int context = 256)
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = sessions;
        options.ContextLength = context;
        return Inlay.Engine.Load(Given.Model, options);
    }

    /// <summary>From now on long answers take many seconds.</summary>
    internal static void SlowDown(Engine engine)
    {
        engine.SetThread(new ThreadOptions { Busy = TimeSpan.FromMilliseconds(0.1), Period = TimeSpan.FromMilliseconds(100) });
    }

    internal static InlayChatClient Client(Engine engine)
    {
        return new InlayChatClient(engine, new InlayChatClientOptions { ChatTemplate = Template });
    }

    internal static ChatMessage User(string text) { return new ChatMessage(ChatRole.User, text); }

    internal static ChatOptions Most(int tokens) { return new ChatOptions { MaxOutputTokens = tokens }; }

    internal static async Task<List<ChatResponseUpdate>> Updates(IChatClient client, IEnumerable<ChatMessage> messages, ChatOptions options,
                                                                 CancellationToken cancellation = default)
    {
        var updates = new List<ChatResponseUpdate>();
        await foreach (ChatResponseUpdate update in client.GetStreamingResponseAsync(messages, options, cancellation)) updates.Add(update);
        return updates;
    }

    internal static JsonElement Json(string text)
    {
        using JsonDocument json = JsonDocument.Parse(text);
        return json.RootElement.Clone();
    }

    internal static string Text(IChatClient client, string prompt, ChatOptions options)
    {
        return Result(client.GetResponseAsync(new[] { User(prompt) }, options)).Text;
    }

    /// <summary>What the engine itself says in a session of its own.</summary>
    internal static Completion Direct(Engine engine, GenerateOptions options, params EngineMessage[] messages)
    {
        return Result(engine.CompleteAsync(engine.GetChatTokens(messages, Template), options));
    }

    internal static string Direct(Engine engine, IEnumerable<ChatMessage> messages, int most)
    {
        EngineMessage[] same = messages.Select(m => new EngineMessage(m.Role.Value, m.Text)).ToArray();
        return Direct(engine, new GenerateOptions { MaxTokens = most }, same).Text;
    }

    /// <summary>Waits for what another thread does soon.</summary>
    internal static void Soon(Func<bool> holds, string what)
    {
        for (int i = 0; i < 2000; i++)
        {
            if (holds()) return;
            Thread.Sleep(5);
        }
        throw new CheckFailed(what);
    }
}
