// One request: its options, its answer, and what is refused.
using System;
using System.Collections.Generic;
using System.Linq;
using Inlay;
using Inlay.Extensions.AI;
using Microsoft.Extensions.AI;
using ChatMessage = Microsoft.Extensions.AI.ChatMessage;
using EngineMessage = Inlay.ChatMessage;

static class ChatTests
{
    const string Story = "Once upon a time";

    public static void StreamingEqualsWhole()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        ChatOptions options = Chat.Most(40);
        options.Temperature = 0.8f;
        options.Seed = 7;
        ChatResponse whole = Chat.Result(client.GetResponseAsync(new[] { Chat.User(Story) }, options));
        List<ChatResponseUpdate> updates = Chat.Result(Chat.Updates(client, new[] { Chat.User(Story) }, options));
        Expect.Equal(whole.Text, string.Concat(updates.Select(update => update.Text)), "text");
        ChatResponse joined = updates.ToChatResponse();
        Expect.Equal(whole.Text, joined.Text, "joined text");
        Expect.Equal(1, joined.Messages.Count, "messages");
        Expect.Equal(whole.FinishReason, joined.FinishReason, "reason");
        Expect.Equal(whole.Usage.InputTokenCount, joined.Usage.InputTokenCount, "tokens of the input");
        Expect.Equal(whole.Usage.OutputTokenCount, joined.Usage.OutputTokenCount, "tokens of the output");

        Completion direct = Chat.Direct(engine, new GenerateOptions { MaxTokens = 40, Sampler = new SamplerOptions { Temperature = 0.8f, Seed = 7 } },
                                        EngineMessage.User(Story));
        Expect.Equal(direct.Text, whole.Text, "the engine's own text");
        Expect.Equal((long?)direct.PromptTokens, whole.Usage.InputTokenCount, "tokens of the prompt");
        Expect.Equal((long?)direct.Tokens.Count, whole.Usage.OutputTokenCount, "drawn tokens");
        Expect.Equal(whole.Usage.InputTokenCount + whole.Usage.OutputTokenCount, whole.Usage.TotalTokenCount, "the sum");
    }

    // An engine that takes its time draws a token in each period.
    public static void UpdatesComeWhileTheAnswerIsDrawn()
    {
        using Engine engine = Given.Engine();
        engine.SetThread(new ThreadOptions { Busy = TimeSpan.FromMilliseconds(0.1), Period = TimeSpan.FromMilliseconds(20) });
        using var client = new InlayChatClient(engine, new InlayChatClientOptions { ChatTemplate = Chat.Template, HostComputes = true });
        List<ChatResponseUpdate> updates = Chat.Result(Chat.Updates(client, new[] { Chat.User(Story) }, Chat.Most(16)));
        Expect.True(updates.Count > 3, "one by one: " + updates.Count);
        RequestPiece[] pieces = updates.Select(update => update.RawRepresentation).OfType<RequestPiece>().ToArray();
        Expect.Equal(updates.Count - 1, pieces.Length, "pieces");
        Expect.True(pieces.SelectMany(piece => piece.Tokens).All(token => token.Logprob <= 0), "probabilities");
        var whole = (Completion)updates.Last().RawRepresentation;
        Expect.Equal(whole.Text, string.Concat(updates.Select(update => update.Text)), "text");
    }

    public static void WhatIsAroundTheTextIsFilled()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        DateTimeOffset before = DateTimeOffset.UtcNow;
        ChatResponse whole = Chat.Result(client.GetResponseAsync(new[] { Chat.User(Story) }, Chat.Most(4)));
        string model = client.GetService<ChatClientMetadata>().DefaultModelId;
        Expect.Equal(model, whole.ModelId, "model");
        Expect.True(whole.ResponseId.Length > 0 && whole.Messages[0].MessageId.Length > 0, "ids");
        Expect.True(whole.CreatedAt >= before && whole.CreatedAt <= DateTimeOffset.UtcNow, "time");
        Expect.Equal(ChatRole.Assistant, whole.Messages[0].Role, "role");
        List<ChatResponseUpdate> updates = Chat.Result(Chat.Updates(client, new[] { Chat.User(Story) }, Chat.Most(4)));
        foreach (ChatResponseUpdate update in updates)
        {
            bool is_last = update == updates.Last();
            Expect.Equal(updates[0].ResponseId, update.ResponseId, "one id");
            Expect.Equal(updates[0].MessageId, update.MessageId, "one message");
            Expect.Equal(model, update.ModelId, "model");
            Expect.Equal((ChatRole?)ChatRole.Assistant, update.Role, "role");
            Expect.True(update.CreatedAt >= before, "time");
            Expect.Equal(is_last ? (ChatFinishReason?)ChatFinishReason.Length : null, update.FinishReason, "reason");
            Expect.Equal(is_last ? 1 : 0, update.Contents.OfType<UsageContent>().Count(), "usage");
        }
        Expect.True(updates[0].ResponseId != whole.ResponseId, "another answer, another id");
    }

    public static void AnAnswerEndsForAReason()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        ChatResponse limited = Chat.Result(client.GetResponseAsync(new[] { Chat.User(Story) }, Chat.Most(30)));
        Expect.Equal((ChatFinishReason?)ChatFinishReason.Length, limited.FinishReason, "limit");
        Expect.Equal(30L, limited.Usage.OutputTokenCount, "tokens up to the limit");

        string stop = limited.Text.Substring(limited.Text.Length / 2, 3);
        ChatOptions options = Chat.Most(30);
        options.StopSequences = new[] { stop };
        ChatResponse stopped = Chat.Result(client.GetResponseAsync(new[] { Chat.User(Story) }, options));
        Expect.Equal((ChatFinishReason?)ChatFinishReason.Stop, stopped.FinishReason, "stop sequence");
        Expect.Equal(limited.Text.Substring(0, limited.Text.IndexOf(stop, StringComparison.Ordinal)), stopped.Text, "text before it");

        int[] drawn = Chat.Direct(engine, new GenerateOptions { MaxTokens = 30 }, EngineMessage.User(Story)).Tokens.ToArray();
        options = new ChatOptions { RawRepresentationFactory = _ => new GenerateOptions { StopTokens = new[] { drawn[9] } } };
        ChatResponse ended = Chat.Result(client.GetResponseAsync(new[] { Chat.User(Story) }, options));
        Expect.Equal((ChatFinishReason?)ChatFinishReason.Stop, ended.FinishReason, "stop token");
        Expect.Equal(Array.IndexOf(drawn, drawn[9]) + 1L, ended.Usage.OutputTokenCount, "tokens up to it");
    }

    public static void AFullContextIsALength()
    {
        using Engine engine = Chat.Engine(2, 48);
        using InlayChatClient client = Chat.Client(engine);
        // No token ends it, so that the context does.
        int[] ends = Enumerable.Range(0, engine.Info.VocabularySize)
            .Where(id => (engine.GetTokenInfo(id).Flags & TokenFlags.EndOfGeneration) != 0).ToArray();
        var never = new SamplerOptions { Bias = ends.ToDictionary(id => id, _ => float.NegativeInfinity) };
        var options = new ChatOptions { RawRepresentationFactory = _ => new GenerateOptions { Sampler = never } };
        ChatResponse full = Chat.Result(client.GetResponseAsync(new[] { Chat.User(Story) }, options));
        Expect.Equal((ChatFinishReason?)ChatFinishReason.Length, full.FinishReason, "reason");
        Expect.True(full.Usage.TotalTokenCount >= 48, "the context is full");
        string longer = string.Concat(Enumerable.Repeat(Story + " ", 30));
        Expect.Status(Status.ContextFull, () => Chat.Text(client, longer, null), "too long");
        Expect.True(Chat.Text(client, Story, Chat.Most(5)).Length > 0, "afterwards");
    }

    public static void OptionsAreOfOneRequest()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        string greedy = Chat.Text(client, Story, Chat.Most(30));
        ChatOptions odd = Chat.Most(3);
        odd.Temperature = 2;
        odd.Seed = 5;
        odd.StopSequences = new[] { " " };
        odd.RawRepresentationFactory = _ => new GenerateOptions { StopTokens = Enumerable.Range(0, 500).ToArray() };
        Chat.Text(client, Story, odd);
        ChatResponse unlimited = Chat.Result(client.GetResponseAsync(new[] { Chat.User(Story) }));
        Expect.True(unlimited.Usage.OutputTokenCount > 30, "no limit: " + unlimited.Usage.OutputTokenCount);
        Expect.True(unlimited.Text.StartsWith(greedy, StringComparison.Ordinal), "the likeliest tokens again: " + unlimited.Text);
    }

    public static void OptionsReachTheSampler()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        SamplerOptions Hot() { return new SamplerOptions { Temperature = 1.5f, Seed = 11 }; }
        string plain = Chat.Direct(engine, new GenerateOptions { MaxTokens = 40, Sampler = Hot() }, EngineMessage.User(Story)).Text;
        void Check(string what, Action<ChatOptions> ask, Action<SamplerOptions> set)
        {
            SamplerOptions sampler = Hot();
            set(sampler);
            string want = Chat.Direct(engine, new GenerateOptions { MaxTokens = 40, Sampler = sampler }, EngineMessage.User(Story)).Text;
            Expect.True(want != plain, what + " changes nothing");
            ChatOptions options = Chat.Most(40);
            options.Temperature = 1.5f;
            options.Seed = 11;
            ask(options);
            Expect.Equal(want, Chat.Text(client, Story, options), what);
        }
        Check("temperature", o => o.Temperature = 0.5f, s => s.Temperature = 0.5f);
        Check("seed", o => o.Seed = -3, s => s.Seed = unchecked((ulong)-3));
        Check("top-k", o => o.TopK = 3, s => s.TopK = 3);
        Check("top-p", o => o.TopP = 0.4f, s => s.TopP = 0.4f);
        Check("frequency penalty", o => o.FrequencyPenalty = 2, s => s.FrequencyPenalty = 2);
        Check("presence penalty", o => o.PresencePenalty = 2, s => s.PresencePenalty = 2);
        Check("min_p", o => o.AdditionalProperties = new AdditionalPropertiesDictionary { ["min_p"] = 0.3 }, s => s.MinP = 0.3f);
        Check("repetition_penalty", o => o.AdditionalProperties = new AdditionalPropertiesDictionary { ["repetition_penalty"] = Chat.Json("1.8") },
              s => s.RepetitionPenalty = 1.8f);
        Check("given options", o => o.RawRepresentationFactory = _ => new GenerateOptions { Sampler = new SamplerOptions { TopK = 2 } },
              s => s.TopK = 2);
    }

    public static void ASeedGivesEqualTextAndNoneAnother()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        ChatOptions options = Chat.Most(40);
        options.Temperature = 1.5f;
        Expect.True(Chat.Text(client, Story, options) != Chat.Text(client, Story, options), "drawn anew");
        options.Seed = 1;
        Expect.Equal(Chat.Text(client, Story, options), Chat.Text(client, Story, options), "one seed");
    }

    static ChatMessage System(string text) { return new ChatMessage(ChatRole.System, text); }

    public static void MessagesReachTheTemplate()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        void Check(string what, ChatOptions options, ChatMessage[] asked, params EngineMessage[] want)
        {
            options.MaxOutputTokens = 20;
            ChatResponse got = Chat.Result(client.GetResponseAsync(asked, options));
            Completion direct = Chat.Direct(engine, new GenerateOptions { MaxTokens = 20 }, want);
            Expect.Equal((long?)direct.PromptTokens, got.Usage.InputTokenCount, what + ": tokens");
            Expect.Equal(direct.Text, got.Text, what);
        }
        Check("roles", new ChatOptions(), new[] { System("Be brief."), Chat.User("Hi"), new ChatMessage(ChatRole.Assistant, "Yes?"), Chat.User("A tale") },
              EngineMessage.System("Be brief."), EngineMessage.User("Hi"), EngineMessage.Assistant("Yes?"), EngineMessage.User("A tale"));
        Check("another role", new ChatOptions(), new[] { new ChatMessage(new ChatRole("narrator"), "It was a dark night.") },
              new EngineMessage("narrator", "It was a dark night."));
        Check("control tokens in writing", new ChatOptions(), new[] { Chat.User("<|end|></s>\"\n\u00e9") }, EngineMessage.User("<|end|></s>\"\n\u00e9"));
        Check("parts", new ChatOptions(), new[] { new ChatMessage(ChatRole.User, new AIContent[] { new TextContent("One "), new TextContent("two") }) },
              EngineMessage.User("One two"));
        Check("instructions", new ChatOptions { Instructions = "Be kind." }, new[] { Chat.User("Hi") }, EngineMessage.System("Be kind."),
              EngineMessage.User("Hi"));
        Check("instructions and a system message", new ChatOptions { Instructions = "Be kind." }, new[] { System("Be brief."), Chat.User("Hi") },
              EngineMessage.System("Be kind.\n\nBe brief."), EngineMessage.User("Hi"));
    }

    public static void WhatCannotBeDoneIsRefused()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        void Refused(string names, ChatOptions options, ChatMessage message = null)
        {
            ChatMessage[] messages = { message ?? Chat.User(Story) };
            NotSupportedException problem =
                Expect.Throws<NotSupportedException>(() => Chat.Result(client.GetResponseAsync(messages, options)), names);
            Expect.Contains(names, problem.Message);
            Expect.Throws<NotSupportedException>(() => Chat.Result(Chat.Updates(client, messages, options)), names + ", streaming");
        }
        AITool tool = AIFunctionFactory.CreateDeclaration("one", "Gives one.", Chat.Json("{}"));
        Refused("ChatOptions.Tools", new ChatOptions { Tools = new[] { tool } });
        Refused("HostedWebSearchTool", new ChatOptions { Tools = new AITool[] { new HostedWebSearchTool() } });
        Refused("ChatOptions.ToolMode", new ChatOptions { ToolMode = ChatToolMode.RequireAny });
        Refused("ChatOptions.Reasoning", new ChatOptions { Reasoning = new ReasoningOptions { Effort = ReasoningEffort.High } });
        Refused("ChatOptions.ConversationId", new ChatOptions { ConversationId = "7" });
        Refused("other-model", new ChatOptions { ModelId = "other-model" });
        Refused("DataContent", null, new ChatMessage(ChatRole.User, new AIContent[] { new DataContent(new byte[] { 1 }, "image/png") }));
        Expect.Equal(0, engine.Stats.Sessions, "sessions");

        Expect.Throws<ArgumentOutOfRangeException>(() => Chat.Text(client, Story, Chat.Most(0)), "no tokens");
        Expect.Throws<ArgumentException>(
            () => Chat.Text(client, Story, new ChatOptions { AdditionalProperties = new AdditionalPropertiesDictionary { ["min_p"] = "much" } }), "no number");
        Expect.Throws<ArgumentNullException>(() => { client.GetStreamingResponseAsync((IEnumerable<ChatMessage>)null); }, "no messages");

        ChatOptions fine = Chat.Most(5);
        fine.ResponseFormat = ChatResponseFormat.Text;
        fine.Tools = new[] { tool };
        fine.ToolMode = ChatToolMode.None;
        fine.ModelId = client.GetService<ChatClientMetadata>().DefaultModelId;
        fine.AdditionalProperties = new AdditionalPropertiesDictionary { ["of_another_provider"] = "x" };
        Expect.True(Chat.Text(client, Story, fine).Length > 0, "plain text without tools");
    }

    public static void TheModelsOwnTemplateIsUsed()
    {
        using Engine engine = Given.Engine();
        using var client = new InlayChatClient(engine);
        int[] own = engine.GetChatTokens(new[] { EngineMessage.User(Story) });
        Expect.True(own.Length != engine.GetChatTokens(new[] { EngineMessage.User(Story) }, Chat.Template).Length, "another template");
        ChatResponse response = Chat.Result(client.GetResponseAsync(new[] { Chat.User(Story) }, Chat.Most(20)));
        Expect.Equal((long?)own.Length, response.Usage.InputTokenCount, "tokens");
        Expect.Equal(Chat.Result(engine.CompleteAsync(own, new GenerateOptions { MaxTokens = 20 })).Text, response.Text, "text");

        using var wrong = new InlayChatClient(engine, new InlayChatClientOptions { ChatTemplate = "{% for %}" });
        Expect.Status(Status.Format, () => Chat.Text(wrong, Story, null), "a template with a fault");
    }

    public static void ServicesAreGiven()
    {
        using Engine engine = Given.Engine();
        using var client = new InlayChatClient(engine, new InlayChatClientOptions { ModelId = "mine" });
        Expect.True(client.GetService(typeof(Engine)) == engine, "engine");
        Expect.True(client.GetService(typeof(IChatClient)) == client && client.GetService<InlayChatClient>() == client, "client");
        Expect.True(client.GetService(typeof(Engine), "key") == null && client.GetService(typeof(string)) == null, "nothing else");
        ChatClientMetadata metadata = client.GetService<ChatClientMetadata>();
        Expect.Equal("inlay", metadata.ProviderName, "provider");
        Expect.Equal("mine", metadata.DefaultModelId, "model");
        using InlayChatClient named = Chat.Client(engine);
        Expect.Equal(engine.GetMetadata("general.name"), named.GetService<ChatClientMetadata>().DefaultModelId, "model in the file");
    }
}
