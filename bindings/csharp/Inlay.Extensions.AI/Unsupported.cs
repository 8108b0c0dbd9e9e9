using System;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI;

/// <summary>The one place that refuses what a request may ask for and the engine cannot do.</summary>
internal static class Unsupported
{
    /// <exception cref="NotSupportedException">The options ask for something that would not be obeyed.</exception>
    internal static void Check(ChatOptions options, string? modelId)
    {
        if (options.ToolMode is RequiredChatToolMode) throw Refused("a required tool call (ChatOptions.ToolMode)");
        if (options.Tools is { Count: > 0 } && options.ToolMode is not NoneChatToolMode) throw Refused("tools (ChatOptions.Tools)");
        if (options.ResponseFormat is ChatResponseFormatJson { Schema: not null })
        {
            throw Refused("output by a JSON schema (ChatOptions.ResponseFormat)");
        }
        if (options.ResponseFormat is not (null or ChatResponseFormatText)) throw Refused("JSON output (ChatOptions.ResponseFormat)");
        if (options.Reasoning is { } reasoning && (reasoning.Effort != null || reasoning.Output != null))
        {
            throw Refused("control of reasoning (ChatOptions.Reasoning)");
        }
        if (options.ConversationId != null)
        {
            throw Refused("a conversation that is named instead of given (ChatOptions.ConversationId): give all messages, the client "
                          + "finds what it has computed already");
        }
        if (options.ContinuationToken != null) throw Refused("background responses (ChatOptions.ContinuationToken)");
        Model(options.ModelId, modelId);
    }

    /// <exception cref="NotSupportedException">The content is not text.</exception>
    internal static void Check(AIContent content)
    {
        if (content is not TextContent) throw Refused("message content of type " + content.GetType().Name + ", only TextContent");
    }

    /// <exception cref="NotSupportedException">The options ask for something that would not be obeyed.</exception>
    internal static void Check(EmbeddingGenerationOptions options, string? modelId, int dimensions)
    {
        if (options.Dimensions is { } asked && asked != dimensions)
        {
            throw Refused($"embeddings of {asked} dimensions, only of the model's {dimensions}");
        }
        Model(options.ModelId, modelId);
    }

    private static void Model(string? asked, string? modelId)
    {
        if (asked != null && asked != modelId) throw Refused($"another model than the one that is loaded ('{asked}', not '{modelId}')");
    }

    private static NotSupportedException Refused(string what) => new("Inlay does not support " + what + ".");
}
