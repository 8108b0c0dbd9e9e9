using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text.Json;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI;

using ChatMessage = Microsoft.Extensions.AI.ChatMessage;
using EngineMessage = Inlay.ChatMessage;

/// <summary>A request in the engine's terms.</summary>
internal sealed class ChatRequest
{
    private ChatRequest(string conversation, GenerateOptions options)
    {
        Conversation = conversation;
        Options = options;
    }

    /// <summary>The messages as JSON.</summary>
    internal string Conversation { get; }

    /// <summary>Everything is set, since a session that was used before has other settings. MaxTokens 0: no limit.</summary>
    internal GenerateOptions Options { get; }

    /// <exception cref="NotSupportedException">The request asks for what the engine cannot do.</exception>
    internal static ChatRequest From(IEnumerable<ChatMessage> messages, ChatOptions? options, IChatClient client, string? modelId)
    {
        if (options != null) Unsupported.Check(options, modelId);
        return new ChatRequest(EngineMessage.ToJson(Messages(messages, options?.Instructions)), Generate(options, client));
    }

    private static List<EngineMessage> Messages(IEnumerable<ChatMessage> messages, string? instructions)
    {
        var all = new List<EngineMessage>();
        foreach (ChatMessage message in messages)
        {
            if (message == null) throw new ArgumentException("a message is null", nameof(messages));
            foreach (AIContent content in message.Contents) Unsupported.Check(content);
            all.Add(new EngineMessage(message.Role.Value, message.Text));
        }
        if (string.IsNullOrEmpty(instructions)) return all;
        // Many templates know one system message only, the first.
        if (all.Count > 0 && all[0].Role == ChatRole.System.Value)
        {
            all[0] = EngineMessage.System(instructions + "\n\n" + all[0].Content);
        }
        else all.Insert(0, EngineMessage.System(instructions));
        return all;
    }

    private static GenerateOptions Generate(ChatOptions? options, IChatClient client)
    {
        GenerateOptions generate = options?.RawRepresentationFactory?.Invoke(client) as GenerateOptions ?? new GenerateOptions();
        bool drawn = generate.Sampler != null;
        SamplerOptions sampler = generate.Sampler ??= new SamplerOptions();
        generate.Stop ??= Array.Empty<string>();
        generate.StopTokens ??= [];
        if (options == null) return generate;

        sampler.Temperature = options.Temperature ?? sampler.Temperature;
        sampler.TopK = options.TopK ?? sampler.TopK;
        sampler.TopP = options.TopP ?? sampler.TopP;
        sampler.FrequencyPenalty = options.FrequencyPenalty ?? sampler.FrequencyPenalty;
        sampler.PresencePenalty = options.PresencePenalty ?? sampler.PresencePenalty;
        sampler.MinP = Number(options, "min_p") ?? sampler.MinP;
        sampler.RepetitionPenalty = Number(options, "repetition_penalty") ?? sampler.RepetitionPenalty;
        if (options.Seed is { } seed) sampler.Seed = unchecked((ulong)seed);
        else if (!drawn) sampler.Seed = unchecked((ulong)Random.Shared.NextInt64());

        if (options.StopSequences != null) generate.Stop = generate.Stop.Concat(options.StopSequences).ToArray();
        if (options.MaxOutputTokens is { } most)
        {
            if (most <= 0) throw new ArgumentOutOfRangeException(nameof(options), most, "ChatOptions.MaxOutputTokens is not positive");
            generate.MaxTokens = most;
        }
        return generate;
    }

    private static float? Number(ChatOptions options, string name)
    {
        if (options.AdditionalProperties?.TryGetValue(name, out object? value) != true || value == null) return null;
        if (value is JsonElement { ValueKind: JsonValueKind.Number } json) return json.GetSingle();
        if (value is float or double or decimal or int or long) return Convert.ToSingle(value, CultureInfo.InvariantCulture);
        throw new ArgumentException($"ChatOptions.AdditionalProperties[\"{name}\"] is not a number", nameof(options));
    }
}
