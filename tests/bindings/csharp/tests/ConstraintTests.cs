// Constraints: what sessions and requests write under them, how they end, and which are refused.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

static class ConstraintTests
{
    const string Prompt = "Once upon a time";
    const string Schema = @"{""type"": ""object"", ""properties"": {""name"": {""type"": ""string"", ""maxLength"": 8},
        ""age"": {""type"": ""integer"", ""minimum"": 0, ""maximum"": 150}, ""mood"": {""enum"": [""calm"", ""angry""]}},
        ""required"": [""name"", ""age"", ""mood""], ""additionalProperties"": false}";
    static readonly string[] Answers = { "yes", "no", "perhaps not" };

    // Compact JSON of the schema.
    static readonly Regex Right = new Regex(@"\A\{""name"":""(?:[^""\\\x00-\x1f]|\\[""\\/bfnrt]){0,8}"",""age"":(0|[1-9][0-9]{0,2}),""mood"":""(?:calm|angry)""\}\z");

    static bool IsRight(string text)
    {
        Match found = Right.Match(text);
        return found.Success && int.Parse(found.Groups[1].Value) <= 150;
    }

    static SessionOptions Hot(ulong seed, Constraint constraint)
    {
        return new SessionOptions { MaxTokens = 100, Sampler = new SamplerOptions { Temperature = 1, Seed = seed }, Constraint = constraint };
    }

    static string Rest(Session session, out FinishReason reason)
    {
        string text = "";
        reason = FinishReason.None;
        foreach (Generated next in session.Continue())
        {
            text += next.Text;
            reason = next.FinishReason;
        }
        return text;
    }

    static string Text(Engine engine, SessionOptions options, out FinishReason reason)
    {
        using (Session session = engine.CreateSession(options))
        {
            session.Prefill(Prompt);
            return Rest(session, out reason);
        }
    }

    static string Text(Engine engine, SessionOptions options)
    {
        FinishReason reason;
        return Text(engine, options, out reason);
    }

    public static void TheTestKnowsTheSchema()
    {
        Expect.True(IsRight("{\"name\":\"a\\\"b\",\"age\":0,\"mood\":\"calm\"}"), "a right one");
        foreach (string wrong in new[]
                 {
                     "", "{\"name\":\"a\",\"age\":0,\"mood\":\"calm\"}\n", "{\"name\":\"a\",\"age\":151,\"mood\":\"calm\"}",
                     "{\"name\":\"a\",\"age\":07,\"mood\":\"calm\"}", "{\"name\":\"123456789\",\"age\":7,\"mood\":\"calm\"}"
                 })
        {
            Expect.True(!IsRight(wrong), wrong);
        }
    }

    public static void ChoicesAreWrittenWhole()
    {
        using (Engine engine = Given.Engine())
        using (Constraint constraint = engine.CreateConstraint(Answers))
        {
            var seen = new HashSet<string>();
            for (ulong seed = 1; seed <= 30; seed++)
            {
                FinishReason reason;
                string text = Text(engine, Hot(seed, constraint), out reason);
                Expect.Equal(FinishReason.EndOfGeneration, reason, "reason");
                Expect.True(Answers.Contains(text), text);
                seen.Add(text);
            }
            Expect.True(seen.Count > 1, "the model still chooses");
            Expect.True(!Answers.Contains(Text(engine, Hot(1, null))), "alone it writes none of them");
        }
    }

    public static void JsonIsOfItsSchema()
    {
        using (Engine engine = Given.Engine())
        using (Constraint constraint = engine.CreateConstraint(ConstraintKind.JsonSchema, Schema, ConstraintFlags.Compact))
        {
            for (ulong seed = 1; seed <= 20; seed++)
            {
                string text = Text(engine, Hot(seed, constraint));
                Expect.True(IsRight(text), text);
                Expect.True(!IsRight(Text(engine, Hot(seed, null))), "alone the model writes no JSON");
            }
            Expect.Equal(0, constraint.GetRemarks().Length, "remarks");
        }
    }

    static string Written(Engine engine, ConstraintKind kind, string text)
    {
        using (Constraint constraint = engine.CreateConstraint(kind, text))
            return Text(engine, new SessionOptions { MaxTokens = 100, Constraint = constraint });
    }

    public static void EachKindWritesWhatItSays()
    {
        using (Engine engine = Given.Engine())
        {
            string room = Written(engine, ConstraintKind.Gbnf, "root ::= \"room \" [1-9] \"!\"");
            Expect.True(Regex.IsMatch(room, @"\Aroom [1-9]!\z"), room);
            string date = Written(engine, ConstraintKind.Regex, "20[0-9]{2}-[01][0-9]");
            Expect.True(Regex.IsMatch(date, @"\A20[0-9]{2}-[01][0-9]\z"), date);
            Expect.Equal("", Written(engine, ConstraintKind.Regex, ""), "an empty expression");
            using (Session session = engine.CreateSession())
            using (Constraint json = engine.CreateConstraint(ConstraintKind.AnyJson))
            {
                session.Prefill(Prompt);
                Expect.Equal(ConstraintState.None, session.Info.ConstraintState, "no constraint");
                foreach (string begun in new[] { "", "[1, {\"a\": " })
                {
                    session.SetConstraint(json, begun);
                    Expect.Equal(ConstraintState.Incomplete, session.Info.ConstraintState, begun);
                }
                Expect.Equal("", session.GetForcedText(), "there is a choice");
                session.SetConstraint(json, "[tr");
                Expect.Equal("ue", session.GetForcedText(), "there is none");
                session.SetConstraint(json, "[true]");
                Expect.Equal(ConstraintState.Complete, session.Info.ConstraintState, "a value");
                Expect.Status(Status.InvalidArgument, () => session.SetConstraint(json, "[tru]"), "no JSON");
            }
        }
    }

    static void Allows(Session session, ConstraintFlags flags, params bool[] want)
    {
        string[] texts = { "[1,2]", "[1, 2]", "[\"\\n\"]", "[\"\\u00e9\"]" };
        using (Constraint constraint = session.Engine.CreateConstraint(ConstraintKind.AnyJson, null, flags))
        {
            for (int i = 0; i < texts.Length; i++)
            {
                if (want[i]) session.SetConstraint(constraint, texts[i]);
                else Expect.Status(Status.InvalidArgument, () => session.SetConstraint(constraint, texts[i]), flags + ": " + texts[i]);
            }
        }
    }

    public static void FlagsSayHowJsonIsWritten()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        {
            session.Prefill(Prompt);
            Allows(session, ConstraintFlags.None, true, true, true, false);
            Allows(session, ConstraintFlags.Compact, true, false, true, false);
            Allows(session, ConstraintFlags.Escapes, true, true, true, true);
            const string schema = "{\"type\": \"string\", \"format\": \"no-such\", \"contains\": {}, \"unevaluatedItems\": false}";
            Expect.Contains("unevaluatedItems", Expect.Status(Status.Unsupported, () => engine.CreateConstraint(ConstraintKind.JsonSchema, schema), "strict").Message);
            using (Constraint constraint = engine.CreateConstraint(ConstraintKind.JsonSchema, schema, ConstraintFlags.Lenient))
            {
                string[] remarks = constraint.GetRemarks();
                Expect.Equal(2, remarks.Length, "remarks");
                foreach (string word in new[] { "no-such", "unevaluatedItems" })
                    Expect.Equal(1, remarks.Count(remark => remark.Contains(word)), string.Join("; ", remarks));
            }
        }
    }

    // Accepted tokens count as drawn ones; where they leave the constraint nothing can follow.
    public static void ATextThatIsNotAllowedEnds()
    {
        using (Engine engine = Given.Engine())
        using (Constraint constraint = engine.CreateConstraint(new[] { "yes", "yet" }))
        using (Session session = engine.CreateSession(new SessionOptions { Constraint = constraint }))
        {
            session.Prefill(Prompt);
            int n_prompt = session.Info.Tokens;
            session.Accept(engine.Tokenize("ye", TokenizeFlags.NoBosEos));
            FinishReason reason;
            string text = Rest(session, out reason);
            Expect.True(text == "yes" || text == "yet", text);
            session.Truncate(n_prompt);
            session.Accept(engine.Tokenize("quite", TokenizeFlags.NoBosEos));
            Expect.Equal(ConstraintState.Dead, session.Info.ConstraintState, "state");
            StepEvent step = session.DecodeStep();
            Expect.Equal(FinishReason.DeadEnd, step.FinishReason, "reason");
            Expect.Equal(-1, step.Token, "token");
        }
    }

    public static void ABiasThatBansAllThatMayComeEndsIt()
    {
        using (Engine engine = Given.Engine())
        using (Constraint constraint = engine.CreateConstraint(new[] { "q" }))
        {
            var bias = new Dictionary<int, float>();
            for (int token = 0; token < engine.Info.VocabularySize; token++)
                if (engine.GetTokenInfo(token).Piece.FirstOrDefault() == (byte)'q') bias.Add(token, float.NegativeInfinity);
            FinishReason reason;
            var options = new SessionOptions { Sampler = new SamplerOptions { Bias = bias }, Constraint = constraint };
            Expect.Equal("", Text(engine, options, out reason), "text");
            Expect.Equal(FinishReason.DeadEnd, reason, "reason");
        }
    }

    public static void ItIsSetBehindWhatWasWritten()
    {
        const string begin = "{\"name\":\"";
        using (Engine engine = Given.Engine())
        using (Constraint constraint = engine.CreateConstraint(ConstraintKind.JsonSchema, Schema, ConstraintFlags.Compact))
        using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 100 }))
        {
            session.Prefill(Prompt + begin);
            Expect.Contains("does not allow what was written",
                            Expect.Status(Status.InvalidArgument, () => session.SetConstraint(constraint, "["), "other text").Message);
            Expect.Equal(ConstraintState.None, session.Info.ConstraintState, "refused: as before");
            session.SetConstraint(constraint, begin);
            using (Session fork = session.Fork())
            {
                FinishReason reason;
                string text = begin + Rest(session, out reason);
                Expect.True(IsRight(text), text);
                Expect.Equal(text, begin + Rest(fork, out reason), "a fork takes it along");
            }
            Expect.Contains("written is given without a constraint",
                            Expect.Status(Status.InvalidArgument, () => session.SetConstraint(null, "x"), "none").Message);
            session.SetConstraint(null);
            Expect.Equal(ConstraintState.None, session.Info.ConstraintState, "none");
            Expect.Throws<ArgumentNullException>(() => session.SetConstraint(constraint, null), "no text");
            Expect.Throws<ArgumentException>(() => session.SetConstraint(constraint, "\ud800"), "half a surrogate pair");
        }
    }

    public static void AGenerationMaySetIt()
    {
        using (Engine engine = Given.Engine())
        using (Constraint constraint = engine.CreateConstraint(Answers))
        {
            var options = new GenerateOptions { MaxTokens = 100, Constraint = constraint };
            using (Session session = engine.CreateSession())
            {
                foreach (GenerateOptions own in new[] { options, null })
                {
                    string text = string.Concat(session.Generate(Prompt, own).Select(next => next.Text));
                    Expect.True(Answers.Contains(text), text);
                }
            }
            Completion whole = engine.CompleteAsync(Prompt, options).Result;
            Expect.True(Answers.Contains(whole.Text), whole.Text);
        }
    }

    public static void SessionsRequestsAndThreadsShareOne()
    {
        LoadOptions given = Given.Options;
        given.MaxSessions = 8;
        using (Engine engine = Engine.Load(Given.Model, given))
        using (RequestQueue queue = engine.CreateQueue())
        {
            var seeds = new ulong[] { 1, 2, 3, 4, 5, 6 };
            Constraint constraint = engine.CreateConstraint(ConstraintKind.JsonSchema, Schema, ConstraintFlags.Compact);
            ulong memory = constraint.MemoryBytes;
            string[] alone = seeds.Select(seed => Text(engine, Hot(seed, constraint))).ToArray();
            var together = new string[seeds.Length];
            Parallel.For(0, seeds.Length, i => { together[i] = Text(engine, Hot(seeds[i], constraint)); });
            Expect.True(constraint.MemoryBytes >= memory && memory > 0 && constraint.MemoryBytes < 64 << 20, "memory: " + constraint.MemoryBytes);
            ulong[] ids = seeds.Select(seed => queue.Submit(new Request(Prompt) { Options = Hot(seed, constraint) })).ToArray();
            constraint.Dispose();
            RequestTests.Answers answers = RequestTests.All(queue);
            for (int i = 0; i < seeds.Length; i++)
            {
                Expect.True(IsRight(alone[i]), alone[i]);
                Expect.Equal(alone[i], together[i], "on a thread beside others");
                Expect.Equal(alone[i], answers[ids[i]].Text.ToString(), "as a request");
            }
        }
    }

    public static void WhatHasItKeepsIt()
    {
        Engine engine = Given.Engine();
        Constraint constraint = engine.CreateConstraint(Answers);
        using (Session session = engine.CreateSession(new SessionOptions { Constraint = constraint }))
        {
            session.Prefill(Prompt);
            engine.Dispose();
            Expect.True(constraint.MemoryBytes > 0, "memory, without its engine");
            session.SetConstraint(constraint, "perhaps ");
            constraint.Dispose();
            string text = "";
            FinishReason reason = FinishReason.None;
            while (reason == FinishReason.None)
            {
                StepEvent step = session.DecodeStep();
                text += step.Text;
                reason = step.FinishReason;
            }
            Expect.Equal("not", text, "the rest");
        }
    }

    public static void UseAfterDispose()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        using (Session session = engine.CreateSession())
        {
            Constraint constraint = engine.CreateConstraint(Answers);
            var options = new SessionOptions { Constraint = constraint };
            for (int i = 0; i < 3; i++) constraint.Dispose();
            foreach (Action use in new Action[]
                     {
                         () => constraint.MemoryBytes.ToString(), () => constraint.GetRemarks(), () => session.SetConstraint(constraint),
                         () => engine.CreateSession(options), () => queue.Submit(new Request(Prompt) { Options = options }),
                         () => session.Generate(Prompt, new GenerateOptions { Constraint = constraint }).ToList()
                     })
            {
                Expect.Throws<ObjectDisposedException>(use, "the constraint");
            }
            Expect.Equal(0, engine.Run().Requests, "requests");
            engine.Dispose();
            Expect.Throws<ObjectDisposedException>(() => engine.CreateConstraint(Answers), "the engine");
        }
    }

    // Options that are refused for another reason let go of it.
    public static void ItIsFreedWhenTheLastCallEnds()
    {
        using (Engine engine = Given.Engine())
        {
            Constraint constraint = engine.CreateConstraint(Answers);
            var options = new SessionOptions { Constraint = constraint, Sampler = new SamplerOptions { DryBreakers = new[] { "\ud800" } } };
            Expect.Throws<ArgumentException>(() => engine.CreateSession(options), "half a surrogate pair");
            using (var hold = new SessionUse(constraint))
            {
                constraint.Dispose();
                Expect.True(!hold.IsFreed(), "while a call has it");
            }
            Expect.True(constraint.Handle.IsClosed, "closed");
        }
    }

    // A call that has the handle.
    sealed class SessionUse : IDisposable
    {
        readonly Constraint _constraint;

        internal SessionUse(Constraint constraint)
        {
            bool held = false;
            constraint.Handle.DangerousAddRef(ref held);
            _constraint = constraint;
        }

        internal unsafe bool IsFreed()
        {
            var info = new Inlay.Raw.inlay_constraint_info { struct_size = (uint)sizeof(Inlay.Raw.inlay_constraint_info) };
            return Library.Api.inlay_constraint_get_info(_constraint.Handle.DangerousGetHandle(), &info, null) != Status.Ok;
        }

        public void Dispose() { _constraint.Handle.DangerousRelease(); }
    }

    public static void ThoseOfAnotherEngineAreRefused()
    {
        using (Engine engine = Given.Engine(), other = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        using (Session session = engine.CreateSession())
        using (Constraint foreign = other.CreateConstraint(ConstraintKind.AnyJson))
        {
            session.Prefill(Prompt);
            var options = new SessionOptions { Constraint = foreign };
            foreach (Action use in new Action[]
                     {
                         () => engine.CreateSession(options), () => queue.Submit(new Request(Prompt) { Options = options }),
                         () => session.SetConstraint(foreign)
                     })
            {
                Expect.Contains("the constraint was made for another engine", Expect.Status(Status.InvalidArgument, use, "of another engine").Message);
            }
            other.CreateSession(options).Dispose();
        }
    }

    static void Refused(Engine engine, Status status, string part, ConstraintKind kind, string text = null, ConstraintFlags flags = ConstraintFlags.None)
    {
        Expect.Contains(part, Expect.Status(status, () => engine.CreateConstraint(kind, text, flags), kind + " " + text).Message);
    }

    public static void WhatIsWrongIsSaidByName()
    {
        using (Engine engine = Given.Engine())
        {
            Refused(engine, Status.InvalidArgument, "text is NULL", ConstraintKind.Regex);
            Refused(engine, Status.InvalidArgument, "text is of another kind", ConstraintKind.AnyJson, "x");
            Refused(engine, Status.InvalidArgument, "choices.Count is 0", ConstraintKind.Choices);
            Refused(engine, Status.InvalidArgument, "kind is 77", (ConstraintKind)77, "x");
            Refused(engine, Status.InvalidArgument, "flags", ConstraintKind.AnyJson, null, (ConstraintFlags)64);
            Refused(engine, Status.Format, "", ConstraintKind.JsonSchema, "{");
            Refused(engine, Status.Format, "", ConstraintKind.JsonSchema, "");
            Refused(engine, Status.Format, "type", ConstraintKind.JsonSchema, "{\"type\": \"wrong\"}");
            Refused(engine, Status.Format, "other", ConstraintKind.Gbnf, "root ::= other");
            Refused(engine, Status.Format, "", ConstraintKind.Regex, "(a");
            Refused(engine, Status.Unsupported, "", ConstraintKind.Regex, "(a)\\1");
            foreach (string[] choices in new[] { new string[0], Enumerable.Repeat("x", 65537).ToArray(), new[] { "x", "" } })
            {
                string part = choices.Length == 2 ? "choice 1 is empty" : "choices.Count is " + choices.Length;
                string message = Expect.Status(Status.InvalidArgument, () => engine.CreateConstraint(choices), part).Message;
                Expect.True(message.Contains(part) && !message.Contains("params."), message);
            }
            Expect.Throws<ArgumentNullException>(() => engine.CreateConstraint(null), "no choices");
            Expect.Throws<ArgumentNullException>(() => engine.CreateConstraint(new[] { "x", null }), "no choice");
            Expect.Throws<ArgumentException>(() => engine.CreateConstraint(ConstraintKind.Regex, "\ud800"), "half a surrogate pair");
            using (Constraint json = engine.CreateConstraint(ConstraintKind.AnyJson))
            {
                SessionOptions endless = Given.Endless;
                endless.Constraint = json;
                Expect.Status(Status.InvalidArgument, () => engine.CreateSession(endless), "without an end");
            }
        }
    }

    // Each refused one has freed what it had.
    public static void ManyAreMadeAndDropped()
    {
        using (Engine engine = Given.Engine())
        {
            for (int i = 0; i < 300; i++) engine.CreateConstraint(new[] { "yes", i.ToString() });
            Given.CollectGarbage();
            using (Constraint last = engine.CreateConstraint(Answers)) Expect.True(Answers.Contains(Text(engine, Hot(1, last))), "the last one");
        }
    }
}
