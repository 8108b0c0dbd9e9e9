// Messages of the library say C#'s names for what the program set.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading;
using Inlay;
using Inlay.Raw;

static class FieldNameTests
{
    static readonly Type Table = typeof(Engine).Assembly.GetType("Inlay.FieldNames");

    static readonly MethodInfo Embed = typeof(Engine).GetMethod("Embed", new[] { typeof(IList<string>), typeof(Pooling), typeof(EmbedFlags), typeof(CancellationToken) });

    static readonly MethodInfo ChatTokens = typeof(Engine).GetMethod("GetChatTokens", new[] { typeof(string), typeof(string), typeof(ChatFlags) });

    static readonly MethodInfo[] CreateConstraint = typeof(Engine).GetMethods().Where(m => m.Name == "CreateConstraint" || m.Name == "CreateMessageConstraint").ToArray();

    /// <summary>For each parameter struct: its table, its name in messages, and where its fields are in C#.</summary>
    static readonly Dictionary<Type, object[]> Structs = new Dictionary<Type, object[]>
    {
        { typeof(inlay_load_params), new object[] { "Load", "params", typeof(LoadOptions) } },
        { typeof(inlay_session_params), new object[] { "Session", "params", typeof(SessionOptions) } },
        { typeof(inlay_sampler_params), new object[] { "Sampler", "sampler", typeof(SamplerOptions) } },
        { typeof(inlay_profile_params), new object[] { "Profile", "params", typeof(ProfileOptions) } },
        { typeof(inlay_convert_params), new object[] { "Convert", "params", typeof(Engine).GetMethod("Convert") } },
        { typeof(inlay_chat_params), new object[] { "Chat", "params", ChatTokens } },
        { typeof(inlay_embed_params), new object[] { "Embed", "params", Embed } },
        { typeof(inlay_score_params), new object[] { "Score", "params", typeof(ScoreOptions) } },
        { typeof(inlay_queue_params), new object[] { "Queue", "params", typeof(RequestQueueOptions) } },
        { typeof(inlay_request), new object[] { "Request", "request", typeof(Request) } },
        { typeof(inlay_run_params), new object[] { "Run", "params", typeof(Engine).GetMethod("Run") } },
        { typeof(inlay_thread_params), new object[] { "Thread", "params", typeof(ThreadOptions) } },
        { typeof(inlay_constraint_params), new object[] { "Constraint", "params", CreateConstraint } },
        { typeof(inlay_chat_parser_params), new object[] { "Message", "params", typeof(MessageOptions) } }
    };

    static string InCSharp(string table, string message)
    {
        object names = Table.GetField(table, BindingFlags.NonPublic | BindingFlags.Static).GetValue(null);
        return (string)Table.GetMethod("InCSharp", BindingFlags.NonPublic | BindingFlags.Instance).Invoke(names, new object[] { message });
    }

    static bool Has(object owner, string name)
    {
        var type = owner as Type;
        var methods = owner as MethodInfo[];
        if (methods != null) return methods.Any(method => Has(method, name));
        if (type == null) return ((MethodInfo)owner).GetParameters().Any(p => p.Name == name);
        return type.GetProperty(name) != null || type.GetConstructors().Any(c => c.GetParameters().Any(p => p.Name == name));
    }

    /// <summary>Size, reserve, the kind of a request, the callbacks' own pointers, and a queue's callback are the binding's
    /// matter.</summary>
    static bool IsForThePrograms(string field)
    {
        return !new[] { "struct_size", "reserved", "kind", "log_user", "progress_user", "wake", "wake_user" }.Contains(field);
    }

    static bool IsGiven(Type type)
    {
        return type.Namespace == "Inlay.Raw" && (type.Name.EndsWith("_params") || type == typeof(inlay_request));
    }

    public static void EveryFieldHasAName()
    {
        int n_fields = 0;
        foreach (Type type in typeof(Api).Assembly.GetTypes().Where(IsGiven))
        {
            Expect.True(Structs.ContainsKey(type), "nothing says where the fields of " + type.Name + " are in C#");
            object[] known = Structs[type];
            foreach (string field in type.GetFields().Select(f => f.Name).Where(IsForThePrograms))
            {
                string prefix = known[1] + ".", name = InCSharp((string)known[0], prefix + field + " is wrong");
                Expect.True(!name.StartsWith(prefix), type.Name + "." + field + " has no name in C#");
                name = name.Substring(0, name.Length - " is wrong".Length);
                Expect.True(Has(known[2], name.Split('.')[0]), type.Name + "." + field + ": C# has no " + name);
                n_fields++;
            }
        }
        Expect.True(n_fields >= 40, "fields looked at: " + n_fields);
    }

    // The structs of a request, each by its own name there.
    public static void StructsInsideOfOthersAreNamed()
    {
        Expect.Equal("Stop has no bytes in text 0", InCSharp("Request", "request.session_params.stops has no bytes in text 0"), "options");
        Expect.Equal("ChatTemplate.Length is 9", InCSharp("Request", "request.chat.template_len is 9"), "chat");
        Expect.Equal("Options is NULL", InCSharp("Request", "request.session_params is NULL"), "the struct itself");
        Expect.Equal("request.session_params.x is 1", InCSharp("Session", "request.session_params.x is 1"), "no field");
    }

    public static void OnlyWholeWordsInTheirPlaceAreFields()
    {
        Expect.Equal("MaxTokens is -1, expected 0 to 5", InCSharp("Session", "params.max_tokens is -1, expected 0 to 5"), "range");
        Expect.Equal("StopTokens[0] is 9", InCSharp("Session", "params.stop_tokens[0] is 9"), "index");
        Expect.Equal("Flags: unknown bits 0x8", InCSharp("Load", "params.flags: unknown bits 0x8"), "flags");
        Expect.Equal("Tokens + Past is 5, expected 1 to 4", InCSharp("Profile", "n_tokens + n_past is 5, expected 1 to 4"), "sum");
        Expect.Equal("a/b: x, and the load's PreTokenizer can name", InCSharp("Load", "a/b: x, and the load's pre_tokenizer can name"), "help");
        foreach (string other in new[] { "a/params.max_tokens is no file", "params.max_tokens_2 is 3", "device memory ran out",
                                         "tokenizer.json has no pre_tokenizer", "", "stream" })
        {
            Expect.Equal(other, InCSharp("Session", InCSharp("Load", other)), "a text with no field");
        }
    }

    static void Says(string want, Action call, params string[] never)
    {
        string message = Expect.Status(Status.InvalidArgument, call, want).Message;
        Expect.True(message.StartsWith(want), "expected '" + want + "' first in: " + message);
        foreach (string part in never) Expect.True(!message.Contains(part), "'" + part + "' in: " + message);
    }

    static void SamplerSays(string want, SamplerOptions sampler)
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        {
            Says(want, () => session.SetSampler(sampler), "sampler.", "_");
            Says(want, () => engine.CreateSession(new SessionOptions { Sampler = sampler }), "sampler.", "_");
        }
    }

    public static void LoadOptionsAreNamed()
    {
        foreach (Action<LoadOptions> change in new Action<LoadOptions>[] { o => o.ContextLength = -1, o => o.ContextLength = 1 << 30 })
        {
            LoadOptions options = Given.Options;
            change(options);
            Says("ContextLength is ", () => Engine.Load(Given.Model, options), "params.", "n_context");
            Says("ContextLength is ", () => Engine.PlanMemory(Given.Model, options), "params.", "n_context");
        }
        Says("PrefixCacheHostBytes is 1", () => Engine.PlanMemory(Given.Model, new LoadOptions { PrefixCacheHostBytes = 1 }), "params.", "prefix_cache");
        Says("Threads is -3", () => { int n; Engine.Explain(Given.Model, out n, new LoadOptions { Threads = -3 }); }, "params.");
        Says("PreTokenizer is ", () => Engine.Load(Given.Model, new LoadOptions { PreTokenizer = "top_k" }), "params.", "pre_tokenizer is");
        Says("threads is -1", () => Engine.Convert(Given.Model, "never.gguf", ConvertType.F16, -1), "params.", "n_threads");
    }

    public static void SessionOptionsAreNamed()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        {
            Says("MaxTokens is -1", () => engine.CreateSession(new SessionOptions { MaxTokens = -1 }), "params.", "max_tokens");
            Says("StopTokens.Length is 1025", () => engine.CreateSession(new SessionOptions { StopTokens = new int[1025] }), "params.");
            Says("Flags: ", () => engine.CreateSession(new SessionOptions { Flags = (SessionFlags)64 }), "params.");
            Says("stops.Count is 100", () => session.SetStop(Enumerable.Repeat("a", 100).ToList()), "n_stops");
            Says("tokens.Length is 1025", () => session.SetStopTokens(new int[1025]), "n_tokens");
            Says("maxTokens is -1", () => session.SetMaxTokens(-1), "max_tokens");
            Says("Past is -1", () => engine.ProfileStep(new ProfileOptions { Past = -1 }), "n_past");
            Says("flags: unknown bits", () => engine.GetChatTokens("[]", "x", (ChatFlags)0x100), "params.");
            Says("flags: unknown bits", () => engine.GetChatText("[]", "x", (ChatFlags)0x100), "params.");
            Says("pooling is 77", () => engine.Embed(new[] { Given.Prompt }, (Pooling)77), "params.");
            foreach (int n in new[] { -1, 21, int.MaxValue })
                Says("Logprobs is " + n, () => engine.Score(new[] { Given.Prompt }, new ScoreOptions { Logprobs = n }), "params.", "n_log");
            Says("Given is -1", () => engine.Score(new[] { Given.Prompt }, new ScoreOptions { Given = -1 }), "params.", "n_given");
        }
    }

    public static void RequestsAreNamed()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            Says("MaxRequests is -1", () => engine.CreateQueue(new RequestQueueOptions { MaxRequests = -1 }), "params.", "max_requests");
            Says("MaxUnreadTokens is -1", () => engine.CreateQueue(new RequestQueueOptions { MaxUnreadTokens = -1 }), "params.", "max_unread_tokens");
            Says("Priority is 8", () => queue.Submit(new Request("x") { Priority = 8 }), "request.", "priority");
            var limited = new SessionOptions { MaxTokens = -1 };
            Says("MaxTokens is -1", () => queue.Submit(new Request("x") { Options = limited }), "params.", "max_tokens");
            var talk = new[] { ChatMessage.User("x") };
            Says("Chat: unknown bits", () => queue.Submit(new Request(talk) { Chat = (ChatFlags)0x100 }), "request.", "flags");
            var drawn = new SessionOptions { Sampler = new SamplerOptions { TopK = -1 } };
            Says("TopK is -1", () => queue.Submit(new Request("x") { Options = drawn }), "sampler.", "top_k");
            Says("flags: unknown bits", () => engine.Run(null, null, (RunFlags)0x100), "params.");
            TimeSpan one = TimeSpan.FromMilliseconds(1);
            Says("of Busy and Period one is 0", () => engine.SetThread(new ThreadOptions { Busy = one }), "params.", "busy_us");
            Says("Busy is more than Period", () => engine.SetThread(new ThreadOptions { Busy = one + one, Period = one }), "params.", "_us");
        }
    }

    public static void SamplerOptionsAreNamed()
    {
        SamplerSays("TopK is -1", new SamplerOptions { TopK = -1 });
        SamplerSays("TypicalP is 2", new SamplerOptions { TypicalP = 2 });
        SamplerSays("TopNSigma is -1", new SamplerOptions { TopNSigma = -1 });
        SamplerSays("DynamicTemperatureRange is -1", new SamplerOptions { DynamicTemperatureRange = -1 });
        SamplerSays("DynamicTemperatureExponent is -1", new SamplerOptions { DynamicTemperatureExponent = -1 });
        SamplerSays("XtcProbability is 2", new SamplerOptions { XtcProbability = 2 });
        SamplerSays("XtcThreshold is 2", new SamplerOptions { XtcThreshold = 2 });
        SamplerSays("MirostatTau is -1", new SamplerOptions { MirostatTau = -1 });
        SamplerSays("MirostatEta is -1", new SamplerOptions { MirostatEta = -1 });
        SamplerSays("AdaptiveTarget is 2", new SamplerOptions { AdaptiveTarget = 2 });
        SamplerSays("AdaptiveDecay is 1", new SamplerOptions { AdaptiveDecay = 1 });
        SamplerSays("MirostatTau is 5", new SamplerOptions { MirostatTau = 5, AdaptiveTarget = 0.5f });
        SamplerSays("DryMultiplier is -1", new SamplerOptions { DryMultiplier = -1 });
        SamplerSays("DryBase is 0.5", new SamplerOptions { DryBase = 0.5f });
        SamplerSays("DryAllowedLength is -1", new SamplerOptions { DryAllowedLength = -1 });
        SamplerSays("DryWindow is -2", new SamplerOptions { DryWindow = -2 });
        SamplerSays("DryBreakers.Count is 65", new SamplerOptions { DryBreakers = new string[65].Select(none => "x").ToArray() });
        SamplerSays("DryBreakers has 129 bytes in text 1", new SamplerOptions { DryBreakers = new[] { "x", new string('x', 129) } });
        SamplerSays("DryBreakers has no bytes in text 1", new SamplerOptions { DryBreakers = new[] { "x", "" } });
        SamplerSays("Flags turn breakers off, but DryBreakers.Count is 1", new SamplerOptions { DryBreakers = new[] { "x" }, Flags = SamplerFlags.NoDryBreakers });
        SamplerSays("Temperature is ", new SamplerOptions { Temperature = float.NaN });
        SamplerSays("Logprobs is 99", new SamplerOptions { Logprobs = 99 });
        SamplerSays("Bias of token 5 is ", new SamplerOptions { Bias = new Dictionary<int, float> { { 5, float.NaN } } });
        SamplerSays("Bias.Count is ", new SamplerOptions { Bias = Enumerable.Range(0, 5000).ToDictionary(i => i, i => 1f) });
    }
}
