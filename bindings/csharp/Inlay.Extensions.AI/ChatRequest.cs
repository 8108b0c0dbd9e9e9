using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text.Json;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI
{
    using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

    /// <summary>A request in the engine's terms, and what its answer is read by.</summary>
    internal sealed class ChatRequest
    {
        private readonly List<ChatMessage> _messages;
        private readonly ChatOptions _options;
        private readonly List<AIFunctionDeclaration> _tools = new List<AIFunctionDeclaration>();
        private readonly GenerateOptions _generate;

        /// <summary>Looks at all that needs no model.</summary>
        /// <exception cref="NotSupportedException">The request asks for what the engine cannot do.</exception>
        internal ChatRequest(IEnumerable<ChatMessage> messages, ChatOptions? options, IChatClient client, string? modelId)
        {
            _options = options ?? new ChatOptions();
            Unsupported.Check(_options, modelId);
            _messages = messages.ToList();
            if (_messages.Contains(null!)) throw new ArgumentException("a message is null", nameof(messages));
            Conversation.Check(_messages);
            if (_options.Tools != null && !(_options.ToolMode is NoneChatToolMode))
            {
                foreach (AITool tool in _options.Tools) _tools.Add(tool as AIFunctionDeclaration ?? throw Unsupported.Tool(tool));
            }
            _generate = Generate(_options, client);
        }

        private bool IsJson { get { return _options.ResponseFormat is ChatResponseFormatJson; } }

        /// <summary>Submits it, on a thread that may wait: the prompt is written, and a constraint compiled.</summary>
        internal ChatAnswer Submit(Engine engine, RequestDispatcher dispatcher, ChatFormat format, string? template, ChatAnswer.Ending ending)
        {
            Unsupported.Check(format, _tools.Count > 0);
            if (_generate.Constraint != null && (_tools.Count > 0 || IsJson)) throw Unsupported.TwoConstraints();
            bool hasParts = format.HasReasoning || _tools.Count > 0;
            int[] prompt = engine.GetChatTokens(Conversation.Of(_messages, _options.Instructions, _tools, format.TakesText), template);
            var session = new SessionOptions
            {
                Sampler = _generate.Sampler, StopTokens = _generate.StopTokens, MaxTokens = _generate.MaxTokens, Constraint = _generate.Constraint
            };
            IList<string> stops = _generate.Stop ?? Array.Empty<string>();
            if (!hasParts) session.Stop = stops;
            MessageParser? parser = null;
            StopSearch? search = hasParts && stops.Count > 0 ? new StopSearch(stops) : null;
            using (Constraint? made = Constrained(engine, prompt, hasParts, template))
            {
                if (made != null) session.Constraint = made;
                try
                {
                    if (hasParts)
                    {
                        parser = engine.CreateMessageParser(new MessageOptions
                        {
                            ChatTemplate = template, Prompt = prompt, Tools = _tools.Count > 0 ? Conversation.Of(_tools) : null
                        });
                    }
                    PendingRequest pending = dispatcher.Submit(new Request(prompt) { Options = session }, ending.Token);
                    return new ChatAnswer(pending, parser, search, session.StopTokens, ending);
                }
                catch
                {
                    if (parser != null) parser.Dispose();
                    throw;
                }
            }
        }

        // Null: anything may be written, or what the program's own options say.
        private Constraint? Constrained(Engine engine, int[] prompt, bool hasParts, string? template)
        {
            if (!IsJson && _tools.Count == 0) return null;
            if (hasParts) return engine.CreateMessageConstraint(Conversation.Demand(_tools, _options), prompt, ConstraintFlags.None, null, template);
            JsonElement? schema = ((ChatResponseFormatJson)_options.ResponseFormat!).Schema;
            return engine.CreateConstraint(ConstraintKind.JsonSchema, schema == null ? "{\"type\": \"object\"}" : schema.Value.GetRawText());
        }

        private static GenerateOptions Generate(ChatOptions options, IChatClient client)
        {
            GenerateOptions generate = options.RawRepresentationFactory?.Invoke(client) as GenerateOptions ?? new GenerateOptions();
            bool drawn = generate.Sampler != null;
            SamplerOptions sampler = generate.Sampler ??= new SamplerOptions();
            sampler.Temperature = options.Temperature ?? sampler.Temperature;
            sampler.TopK = options.TopK ?? sampler.TopK;
            sampler.TopP = options.TopP ?? sampler.TopP;
            sampler.FrequencyPenalty = options.FrequencyPenalty ?? sampler.FrequencyPenalty;
            sampler.PresencePenalty = options.PresencePenalty ?? sampler.PresencePenalty;
            sampler.MinP = Number(options, "min_p") ?? sampler.MinP;
            sampler.RepetitionPenalty = Number(options, "repetition_penalty") ?? sampler.RepetitionPenalty;
            if (options.Seed != null) sampler.Seed = unchecked((ulong)options.Seed.Value);
            else if (!drawn) sampler.Seed = BitConverter.ToUInt64(Guid.NewGuid().ToByteArray(), 8);

            if (options.StopSequences != null) generate.Stop = (generate.Stop ?? Array.Empty<string>()).Concat(options.StopSequences).ToArray();
            if (options.MaxOutputTokens != null)
            {
                int most = options.MaxOutputTokens.Value;
                if (most <= 0) throw new ArgumentOutOfRangeException(nameof(options), most, "ChatOptions.MaxOutputTokens is not positive");
                generate.MaxTokens = most;
            }
            return generate;
        }

        private static float? Number(ChatOptions options, string name)
        {
            if (options.AdditionalProperties == null || !options.AdditionalProperties.TryGetValue(name, out object? value) || value == null) return null;
            if (value is JsonElement json && json.ValueKind == JsonValueKind.Number) return json.GetSingle();
            if (value is float || value is double || value is decimal || value is int || value is long) return Convert.ToSingle(value, CultureInfo.InvariantCulture);
            throw new ArgumentException("ChatOptions.AdditionalProperties[\"" + name + "\"] is not a number", nameof(options));
        }
    }
}
