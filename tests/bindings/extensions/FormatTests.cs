// JSON, calls of tools, and reasoning.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using Inlay;
using Inlay.Extensions.AI;
using Microsoft.Extensions.AI;
using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

static class FormatTests
{
    // Each message, its reasoning and calls; what tools there are; and an answer that begins, here with reasoning.
    const string Calls = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}<tool_call>{\"name\": \"{{ c.function.name }}\", "
        + "\"arguments\": {{ c.function.arguments | tojson }}}</tool_call>{% endfor %};{% endfor %}{% if tools %}{% for t in tools %}{{ t.function.name }}: "
        + "{{ t.function.description }};{% endfor %}{% endif %}<assistant>";
    const string Reasoning = "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}"
        + "{{ m.content }}\n{% endfor %}<assistant>{{ start }}";
    const string Open = Reasoning + "<think>";

    const string Schema = "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"type\": \"object\", \"description\": \"A character\", \"properties\": "
        + "{\"mood\": {\"type\": \"string\", \"enum\": [\"calm\", \"angry\"]}, \"coins\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 99}}, "
        + "\"required\": [\"mood\", \"coins\"], \"additionalProperties\": false}";

    static readonly AITool Add = AIFunctionFactory.CreateDeclaration(
        "add", "Adds coins.", Chat.Json("{\"type\": \"object\", \"properties\": {\"to\": {\"type\": \"string\", \"enum\": [\"fox\", \"hen\"]}, "
                                        + "\"coins\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 9}}, \"required\": [\"to\", \"coins\"], \"additionalProperties\": false}"));
    static readonly AITool Wait = AIFunctionFactory.CreateDeclaration("wait", "Does nothing.", Chat.Json("{\"type\": \"object\", \"properties\": {}}"));

    static ChatMessage[] Asked(string text = "Give the fox a coin.") { return new[] { Chat.User(text) }; }

    static ChatOptions With(ChatToolMode mode, params AITool[] tools)
    {
        return new ChatOptions { MaxOutputTokens = 300, Tools = tools, ToolMode = mode };
    }

    static void IsCharacter(string text)
    {
        JsonElement json = Chat.Json(text);
        Expect.True(new[] { "calm", "angry" }.Contains(json.GetProperty("mood").GetString()), text);
        Expect.True(json.GetProperty("coins").GetInt32() <= 99, text);
        Expect.Equal(2, json.EnumerateObject().Count(), "properties");
    }

    public static void JsonIsOfItsSchema()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        for (int seed = 0; seed < 5; seed++)
        {
            var options = new ChatOptions { MaxOutputTokens = 200, Temperature = 1.5f, Seed = seed, ResponseFormat = ChatResponseFormat.ForJsonSchema(Chat.Json(Schema)) };
            ChatResponse whole = Chat.Result(client.GetResponseAsync(Asked(), options));
            IsCharacter(whole.Text);
            Expect.Equal((ChatFinishReason?)ChatFinishReason.Stop, whole.FinishReason, "reason");
            List<ChatResponseUpdate> updates = Chat.Result(Chat.Updates(client, Asked(), options));
            Expect.Equal(whole.Text, updates.ToChatResponse().Text, "streamed");
            options.MaxOutputTokens = 2;
            Expect.Equal((ChatFinishReason?)ChatFinishReason.Length, Chat.Result(client.GetResponseAsync(Asked(), options)).FinishReason, "a text that is cut");
        }
        var any = new ChatOptions { MaxOutputTokens = 40, Temperature = 1, Seed = 3, ResponseFormat = ChatResponseFormat.Json };
        ChatResponse json = Chat.Result(client.GetResponseAsync(Asked(), any));
        Expect.Equal("{", json.Text.TrimStart().Substring(0, 1), "an object");
        if (json.FinishReason == ChatFinishReason.Stop) Chat.Json(json.Text);
        var wrong = new ChatOptions { ResponseFormat = ChatResponseFormat.ForJsonSchema(Chat.Json("{\"type\": \"sentence\"}")) };
        Expect.Contains("sentence", Expect.Status(Status.Format, () => Chat.Result(client.GetResponseAsync(Asked(), wrong)), "no such type").Message);
        wrong = new ChatOptions
        {
            ResponseFormat = ChatResponseFormat.Json,
            RawRepresentationFactory = _ => new GenerateOptions { Constraint = engine.CreateConstraint(new[] { "yes", "no" }) }
        };
        Expect.Throws<NotSupportedException>(() => Chat.Result(client.GetResponseAsync(Asked(), wrong)), "two constraints");
        wrong.ResponseFormat = null;
        Expect.True(new[] { "yes", "no" }.Contains(Chat.Result(client.GetResponseAsync(Asked(), wrong)).Text), "one of the program's own");
    }

    static void IsCall(FunctionCallContent call)
    {
        Expect.True(call.Exception == null, "a whole call: " + call.Exception);
        Expect.Equal("add", call.Name, "name");
        Expect.True(call.CallId.Length > 0, "id");
        Expect.Equal(2, call.Arguments.Count, "arguments");
        string to = ((JsonElement)call.Arguments["to"]).GetString();
        Expect.True(to == "fox" || to == "hen", to);
        Expect.True(((JsonElement)call.Arguments["coins"]).GetInt32() < 10, "coins");
    }

    public static void ToolsAreCalledWhereTheyMustBe()
    {
        using var model = new OtherTemplate(Calls);
        using Engine engine = model.Load();
        using var client = new InlayChatClient(engine);
        ChatOptions options = With(ChatToolMode.RequireAny, Add);
        options.AllowMultipleToolCalls = false;
        for (int seed = 0; seed < 4; seed++)
        {
            options.Temperature = 1;
            options.Seed = seed;
            ChatResponse whole = Chat.Result(client.GetResponseAsync(Asked(), options));
            Expect.Equal((ChatFinishReason?)ChatFinishReason.ToolCalls, whole.FinishReason, "reason");
            Expect.Equal(1, whole.Messages[0].Contents.Count, "contents");
            IsCall((FunctionCallContent)whole.Messages[0].Contents[0]);
            ChatResponse streamed = Chat.Result(Chat.Updates(client, Asked(), options)).ToChatResponse();
            Expect.Equal(whole.FinishReason, streamed.FinishReason, "streamed reason");
            var call = (FunctionCallContent)streamed.Messages[0].Contents.Single();
            IsCall(call);
            var first = (FunctionCallContent)whole.Messages[0].Contents[0];
            Expect.Equal(first.Arguments["to"].ToString() + first.Arguments["coins"], call.Arguments["to"].ToString() + call.Arguments["coins"], "the same call");
        }
        ChatResponse named = Chat.Result(client.GetResponseAsync(Asked(), With(ChatToolMode.RequireSpecific("wait"), Add, Wait)));
        Expect.True(named.Messages[0].Contents.OfType<FunctionCallContent>().All(call => call.Name == "wait"), "the tool that is named");
        options.MaxOutputTokens = 8;
        ChatResponse cut = Chat.Result(client.GetResponseAsync(Asked(), options));
        Expect.Equal((ChatFinishReason?)ChatFinishReason.Length, cut.FinishReason, "reason of a call that is cut");
        foreach (FunctionCallContent call in cut.Messages[0].Contents.OfType<FunctionCallContent>()) Expect.True(call.Exception is FormatException, "what it says");
    }

    public static void CallsAndResultsReachTheTemplate()
    {
        using var model = new OtherTemplate(Calls);
        using Engine engine = model.Load();
        using var client = new InlayChatClient(engine);
        var messages = new List<ChatMessage>(Asked())
        {
            new ChatMessage(ChatRole.Assistant, new AIContent[]
            {
                new TextContent("Yes."),
                new FunctionCallContent("call00001", "add", new Dictionary<string, object> { ["to"] = "fox", ["coins"] = Chat.Json("3"), ["more"] = 1.5 })
            }),
            new ChatMessage(ChatRole.Tool, new AIContent[] { new FunctionResultContent("call00001", "done"), new FunctionResultContent("call00001", 7) }),
            Chat.User("Thanks.")
        };
        string written = "<user>Give the fox a coin.;<assistant>Yes.<tool_call>{\"name\": \"add\", \"arguments\": {\"to\": \"fox\", \"coins\": 3, \"more\": 1.5}}"
            + "</tool_call>;<tool>done;<tool>7;<user>Thanks.;";
        string tools = "add: Adds coins.;";
        foreach (bool has_tools in new[] { false, true })
        {
            ChatOptions options = With(has_tools ? (ChatToolMode)ChatToolMode.Auto : ChatToolMode.None, Add);
            ChatResponse response = Chat.Result(client.GetResponseAsync(messages, options));
            string json = "{\"messages\": [{\"role\": \"user\", \"content\": \"Give the fox a coin.\"}, {\"role\": \"assistant\", \"content\": \"Yes.\", \"tool_calls\": [{\"id\": "
                + "\"call00001\", \"type\": \"function\", \"function\": {\"name\": \"add\", \"arguments\": {\"to\": \"fox\", \"coins\": 3, \"more\": 1.5}}}]}, {\"role\": \"tool\", "
                + "\"content\": \"done\"}, {\"role\": \"tool\", \"content\": \"7\"}, {\"role\": \"user\", \"content\": \"Thanks.\"}]"
                + (has_tools ? ", \"tools\": [{\"function\": {\"name\": \"add\", \"description\": \"Adds coins.\"}}]}" : "}");
            Expect.Equal(written + (has_tools ? tools : "") + "<assistant>", engine.GetChatText(json), "the text");
            Expect.Equal((long?)engine.GetChatTokens(json).Length, response.Usage.InputTokenCount, "tokens of the prompt");
            if (!has_tools)
            {
                string alone = Chat.Result(engine.CompleteAsync(engine.GetChatTokens(json), new GenerateOptions { MaxTokens = 300 })).Text;
                Expect.Equal(alone, response.Text, "the answer to it");
            }
        }
    }

    // Without a demand the model calls a tool or does not, as under the engine's own constraint for that.
    public static void CallsThatMayBeAreConstrained()
    {
        using var model = new OtherTemplate(Calls);
        using Engine engine = model.Load();
        using var client = new InlayChatClient(engine);
        const string tools = "[{\"type\": \"function\", \"function\": {\"name\": \"wait\", \"description\": \"Does nothing.\", \"parameters\": "
            + "{\"type\": \"object\", \"properties\": {}}}}]";
        int[] prompt = engine.GetChatTokens("{\"messages\": [{\"role\": \"user\", \"content\": \"Give the fox a coin.\"}], \"tools\": " + tools + "}");
        using Constraint constraint = engine.CreateMessageConstraint("{\"tools\": " + tools + "}", prompt);
        for (int seed = 0; seed < 4; seed++)
        {
            ChatOptions options = With(seed < 2 ? (ChatToolMode)ChatToolMode.Auto : null, Wait);
            options.Temperature = 1;
            options.Seed = seed;
            ChatResponse response = Chat.Result(client.GetResponseAsync(Asked(), options));
            var same = new GenerateOptions { MaxTokens = 300, Constraint = constraint, Sampler = new SamplerOptions { Temperature = 1, Seed = (ulong)seed } };
            Completion direct = Chat.Result(engine.CompleteAsync(prompt, same));
            string content = Chat.Json(engine.ParseMessage(direct.Tokens.ToArray()).Json).GetProperty("content").GetString();
            Expect.Equal(content, response.Text, "content");
            Expect.Equal((long?)prompt.Length, response.Usage.InputTokenCount, "tokens of the prompt");
            Expect.Equal((long?)direct.Tokens.Count, response.Usage.OutputTokenCount, "tokens");
        }
    }

    public static void ReasoningIsTold()
    {
        using var model = new OtherTemplate(Open);
        using Engine engine = model.Load();
        using var client = new InlayChatClient(engine);
        ChatResponse response = Chat.Result(client.GetResponseAsync(Asked("A tale?"), Chat.Most(20)));
        var thought = (TextReasoningContent)response.Messages[0].Contents.Single();
        string alone = Chat.Result(engine.CompleteAsync(engine.GetChatTokens("[{\"role\": \"user\", \"content\": \"A tale?\"}]"), new GenerateOptions { MaxTokens = 20 })).Text;
        Expect.Equal(alone.Trim('\n'), thought.Text.Trim('\n'), "reasoning");
        Expect.Equal("", response.Text, "no answer yet");
        ChatResponse streamed = Chat.Result(Chat.Updates(client, Asked("A tale?"), Chat.Most(20))).ToChatResponse();
        Expect.Equal(thought.Text, ((TextReasoningContent)streamed.Messages[0].Contents.Single()).Text, "streamed");

        ChatOptions stopped = Chat.Most(20);
        stopped.StopSequences = new[] { thought.Text.Substring(8, 2) };
        ChatResponse whole = Chat.Result(client.GetResponseAsync(Asked("A tale?"), stopped));
        Expect.Equal(thought.Text, ((TextReasoningContent)whole.Messages[0].Contents.Single()).Text, "stop sequences are of the answer");

        var messages = new List<ChatMessage>(Asked()) { new ChatMessage(ChatRole.Assistant, new AIContent[] { new TextReasoningContent("Hm."), new TextContent("No.") }), Chat.User("Why?") };
        string json = "[{\"role\": \"user\", \"content\": \"Give the fox a coin.\"}, {\"role\": \"assistant\", \"content\": \"No.\", \"reasoning_content\": \"Hm.\"}, "
            + "{\"role\": \"user\", \"content\": \"Why?\"}]";
        Expect.Contains("<think>Hm.</think>No.", engine.GetChatText(json));
        Expect.Equal((long?)engine.GetChatTokens(json).Length, Chat.Result(client.GetResponseAsync(messages, Chat.Most(2))).Usage.InputTokenCount, "tokens");
    }

    // Where messages have parts, stop sequences are looked for in the content alone, in pieces of any size.
    public static void StopSequencesEndTheContent()
    {
        using var model = new OtherTemplate(Reasoning);
        using Engine engine = model.Load();
        using var client = new InlayChatClient(engine);
        ChatResponse whole = Chat.Result(client.GetResponseAsync(Asked("A tale?"), Chat.Most(60)));
        string text = whole.Text;
        Expect.True(text.Length > 40, text);
        for (int begin = 10; begin < 30; begin += 4)
        {
            string stop = text.Substring(begin, 7);
            ChatOptions options = Chat.Most(60);
            options.StopSequences = new[] { stop + " is not in it", stop };
            ChatResponse stopped = Chat.Result(client.GetResponseAsync(Asked("A tale?"), options));
            string want = text.Substring(0, text.IndexOf(stop, StringComparison.Ordinal));
            Expect.Equal(want, stopped.Text, "text before '" + stop + "'");
            Expect.Equal((ChatFinishReason?)ChatFinishReason.Stop, stopped.FinishReason, "reason");
            List<ChatResponseUpdate> updates = Chat.Result(Chat.Updates(client, Asked("A tale?"), options));
            Expect.Equal(want, updates.ToChatResponse().Text, "streamed");
            Expect.Equal((ChatFinishReason?)ChatFinishReason.Stop, updates.Last().FinishReason, "streamed reason");
        }
        int[] drawn = ((Completion)whole.RawRepresentation).Tokens.ToArray();
        var token = new ChatOptions { MaxOutputTokens = 60, RawRepresentationFactory = _ => new GenerateOptions { StopTokens = new[] { drawn[12] } } };
        ChatResponse ended = Chat.Result(client.GetResponseAsync(Asked("A tale?"), token));
        int at = Array.IndexOf(drawn, drawn[12]);
        Expect.Equal((long?)(at + 1), ended.Usage.OutputTokenCount, "tokens up to a stop token");
        Expect.Equal(engine.Detokenize(drawn.Take(at).ToArray()).Trim(), ended.Text.Trim(), "text before it");
        ChatOptions none = Chat.Most(60);
        none.StopSequences = new[] { text.Substring(text.Length - 3) + "!?" };
        Expect.Equal(text, Chat.Result(client.GetResponseAsync(Asked("A tale?"), none)).Text, "what might have begun one");
        Chat.SlowDown(engine);
        none = Chat.Most(400);
        none.StopSequences = new[] { text.Substring(10, 3) };
        Expect.True(Chat.Result(client.GetResponseAsync(Asked("A tale?"), none)).Usage.OutputTokenCount < whole.Usage.OutputTokenCount,
                    "nothing is drawn for nobody");
    }

    // JSON behind reasoning, and beside tools that are not called.
    public static void JsonGoesWithReasoningAndTools()
    {
        foreach (string template in new[] { Reasoning, Calls })
        {
            using var model = new OtherTemplate(template);
            using Engine engine = model.Load();
            using var client = new InlayChatClient(engine);
            int n_whole = 0;
            for (int seed = 0; seed < 8; seed++)
            {
                var options = new ChatOptions { MaxOutputTokens = 300, Temperature = 1, Seed = seed, ResponseFormat = ChatResponseFormat.ForJsonSchema(Chat.Json(Schema)) };
                if (template == Calls) options.Tools = new[] { Wait };
                ChatResponse response = Chat.Result(client.GetResponseAsync(Asked(), options));
                if (response.FinishReason == ChatFinishReason.Stop) IsCharacter(response.Text.Trim());
                else Expect.True(response.FinishReason == ChatFinishReason.ToolCalls || response.FinishReason == ChatFinishReason.Length, "" + response.FinishReason);
                n_whole += response.FinishReason == ChatFinishReason.Stop ? 1 : 0;
                options.ResponseFormat = ChatResponseFormat.Json;
                string text = Chat.Result(client.GetResponseAsync(Asked(), options)).Text;
                Expect.True(text.Length == 0 || text.TrimStart()[0] == '{', text);
            }
            Expect.True(n_whole > 0, "none is whole");
        }
    }

    // The format is that of the client's own template, whatever the model's writes.
    public static void ATemplateOfTheClientHasDemands()
    {
        using var model = new OtherTemplate(Calls);
        using Engine calls = model.Load(), plain = Given.Engine();
        ChatOptions options = With(ChatToolMode.RequireAny, Add);
        options.AllowMultipleToolCalls = false;
        foreach (Engine engine in new[] { calls, plain })
        {
            using var client = new InlayChatClient(engine, new InlayChatClientOptions { ChatTemplate = Calls + "Well, " });
            IsCall((FunctionCallContent)Chat.Result(client.GetResponseAsync(Asked(), options)).Messages[0].Contents.Single());
        }
    }
}
