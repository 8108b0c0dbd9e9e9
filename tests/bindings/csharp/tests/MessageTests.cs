// Parsers of messages, and constraints of messages.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Inlay;

static class MessageTests
{
    const string Format = @"{""name"": ""own"", ""reasoning"": {""begin"": ""<think>"", ""end"": ""</think>""}, ""calls"": {""written"": ""tagged"",
        ""begin"": ""<call>"", ""end"": ""</call>"", ""arguments_begin"": "":"", ""parameter_begin"": ""["", ""parameter_name_end"": ""]"",
        ""value_end"": ""[/]""}}";
    const string Tools = @"[{""name"": ""add"", ""parameters"": {""properties"": {""a"": {""type"": ""number""}, ""b"": {""type"": ""string""}}}}]";
    const string Text = "<think>Stra\u00dfe</think>It is <call>add:[a]1.5[/][b]2.5[/]</call>";

    static MessageOptions Own() { return new MessageOptions { Format = Format, Tools = Tools }; }

    static void Add(List<MessagePart> parts, List<string> kinds, List<string> texts)
    {
        foreach (MessagePart part in parts)
        {
            string kind = part.Kind + (part.IsWhole ? " whole" : "");
            if (kinds.Count > 0 && kinds[kinds.Count - 1] == kind)
            {
                texts[texts.Count - 1] += part.Text;
                continue;
            }
            kinds.Add(kind);
            texts.Add(part.Text);
            Expect.Equal(0, part.Call, "call");
        }
    }

    // The parts of a text in pieces of n characters, those of one kind put together.
    static void Parts(Engine engine, int n, List<string> kinds, List<string> texts)
    {
        using (MessageParser parser = engine.CreateMessageParser(Own()))
        {
            for (int i = 0; i < Text.Length; i += n)
            {
                parser.AppendText(Text.Substring(i, Math.Min(n, Text.Length - i)));
                Add(parser.Take(), kinds, texts);
            }
            parser.Finish();
            Add(parser.Take(), kinds, texts);
        }
    }

    public static void PartsAreTheSameHoweverTheTextIsCut()
    {
        using (Engine engine = Given.Engine())
        {
            foreach (int n in new[] { Text.Length, 1, 2, 3, 4 })
            {
                var kinds = new List<string>();
                var texts = new List<string>();
                Parts(engine, n, kinds, texts);
                Expect.Equal("Reasoning, Content, CallBegin, CallId, Arguments, CallEnd whole", string.Join(", ", kinds.ToArray()), "kinds");
                Expect.Equal(9, texts[3].Length, "id");
                texts.RemoveAt(3);
                Expect.Equal("Stra\u00dfe|It is |add|{\"a\": 1.5, \"b\": \"2.5\"}|", string.Join("|", texts.ToArray()), "texts");
            }
        }
    }

    public static void AMessageIsTheConversationsNextOne()
    {
        using (Engine engine = Given.Engine())
        {
            ParsedMessage message = engine.ParseMessage(engine.Tokenize(Text), Own());
            Expect.True(message.IsComplete && !message.IsMalformed && message.CallCount == 1, message.Json);
            foreach (string part in new[] { "\"role\": \"assistant\", \"content\": \"It is \"", "\"name\": \"add\", \"arguments\": {\"a\": 1.5, \"b\": \"2.5\"}" })
                Expect.True(message.Json.Contains(part), message.Json);
            ParsedMessage cut = engine.ParseMessage(engine.Tokenize(Text.Substring(0, Text.Length - 20)), Own());
            Expect.True(!cut.IsComplete && cut.CallCount == 1, cut.Json);
            ParsedMessage wrong = engine.ParseMessage(engine.Tokenize("<call>("), Own());
            Expect.True(wrong.IsComplete && wrong.IsMalformed, wrong.Json);
        }
    }

    public static void AParserOutlivesItsEngine()
    {
        MessageParser parser;
        using (Engine engine = Given.Engine())
        {
            MessageOptions options = Own();
            options.Prompt = engine.Tokenize("<think>");
            parser = engine.CreateMessageParser(options);
        }
        using (parser)
        {
            parser.AppendText("why");
            List<MessagePart> parts = parser.Take();
            Expect.True(parts.Count == 1 && parts[0].Kind == ChatDeltaKind.Reasoning && parts[0].Text == "why", "reasoning");
        }
        Expect.Throws<ObjectDisposedException>(() => parser.AppendText("a"), "disposed");
    }

    static void Refused(Action action, Status status, string words)
    {
        try
        {
            action();
        }
        catch (InlayException problem)
        {
            Expect.Equal(status, problem.Status, problem.Message);
            Expect.True(problem.Message.Contains(words), problem.Message);
            return;
        }
        Expect.True(false, "not refused: " + words);
    }

    public static void WrongOnesAreRefusedByName()
    {
        using (Engine engine = Given.Engine())
        {
            Refused(() => engine.CreateMessageParser(new MessageOptions { Format = "{}" }), Status.Format, "name");
            Refused(() => engine.CreateMessageParser(new MessageOptions { Tools = "[{}]" }), Status.Format, "tools");
            Refused(() => engine.CreateMessageParser(new MessageOptions { Prompt = new[] { -1 } }), Status.InvalidArgument, "Prompt[0] is -1");
            Refused(() => engine.CreateMessageParser(new MessageOptions { Flags = (ChatParserFlags)2 }), Status.InvalidArgument, "Flags");
            using (MessageParser parser = engine.CreateMessageParser())
            {
                Refused(() => parser.Append(int.MaxValue), Status.InvalidArgument, "tokens[0]");
                Refused(() => parser.GetMessage(), Status.InvalidState, "not finished");
                parser.Finish();
                Refused(() => parser.AppendText("a"), Status.InvalidState, "finished");
            }
        }
    }

    public static void FormatsAreSaid()
    {
        using (Engine engine = Given.Engine())
        {
            Expect.True(engine.GetChatFormat(Own()).Contains("\"name\": \"own\", \"reasoning\": true, \"calls\": true"), "own");
            Expect.True(engine.GetChatFormat(new MessageOptions { ChatTemplate = "{{ '<tool_call>' }}" }).Contains("\"hermes\""), "by template");
            Expect.True(engine.GetChatFormat().Contains("\"name\": \"content\""), "the model's");
        }
    }

    public static void ContentIsOfItsSchema()
    {
        const string demand = @"{""response_format"": {""type"": ""json_schema"", ""json_schema"": {""name"": ""n"", ""schema"": {""type"": ""integer"",
            ""minimum"": 10, ""maximum"": 99}}}}";
        using (Engine engine = Given.Engine())
        using (Constraint constraint = engine.CreateMessageConstraint(demand, engine.Tokenize("Once")))
        using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 50, Constraint = constraint }))
        {
            session.Prefill("Once");
            int value = int.Parse(string.Concat(session.Continue().Select(next => next.Text).ToArray()));
            Expect.True(value >= 10 && value <= 99, value.ToString());
            const string tools = @"{""tools"": [{""name"": ""a""}], ""tool_choice"": ""required""}";
            const string own = @"{""name"": ""own"", ""calls"": {""written"": ""json"", ""begin"": ""<call>"", ""end"": ""</call>"", ""name_key"": ""name"",
                ""arguments_key"": ""arguments""}}";
            Refused(() => engine.CreateMessageConstraint(tools), Status.Unsupported, "'content' has no calls");
            engine.CreateMessageConstraint(tools, format: own).Dispose();
            engine.CreateMessageConstraint(tools, chatTemplate: "{{ '<tool_call>' }}").Dispose();
            Refused(() => engine.CreateMessageConstraint(tools, format: "{}"), Status.Format, "name");
            Refused(() => engine.CreateMessageConstraint(@"{""reasoning"": {""max_tokens"": 5}}"), Status.Unsupported, "'content' has no reasoning");
            Refused(() => engine.CreateMessageConstraint("{}", new[] { -1 }), Status.InvalidArgument, "prompt[0]");
        }
    }
}
