// Small values of requests and answers.
using System;
using System.Collections.Generic;
using System.Text.Json;

namespace Microsoft.Extensions.AI
{
    public readonly struct ChatRole : IEquatable<ChatRole>
    {
        public ChatRole(string value) { Value = value; }

        public static ChatRole System { get { return new ChatRole("system"); } }

        public static ChatRole Assistant { get { return new ChatRole("assistant"); } }

        public static ChatRole User { get { return new ChatRole("user"); } }

        public static ChatRole Tool { get { return new ChatRole("tool"); } }

        public string Value { get; }

        public static bool operator ==(ChatRole left, ChatRole right) { return left.Equals(right); }

        public static bool operator !=(ChatRole left, ChatRole right) { return !left.Equals(right); }

        public bool Equals(ChatRole other) { return string.Equals(Value, other.Value, StringComparison.OrdinalIgnoreCase); }

        public override bool Equals(object? obj) { return obj is ChatRole other && Equals(other); }

        public override int GetHashCode() { return Value == null ? 0 : StringComparer.OrdinalIgnoreCase.GetHashCode(Value); }

        public override string ToString() { return Value; }
    }

    public readonly struct ChatFinishReason : IEquatable<ChatFinishReason>
    {
        private readonly string? _value;

        public ChatFinishReason(string value) { _value = value; }

        public static ChatFinishReason Stop { get { return new ChatFinishReason("stop"); } }

        public static ChatFinishReason Length { get { return new ChatFinishReason("length"); } }

        public static ChatFinishReason ToolCalls { get { return new ChatFinishReason("tool_calls"); } }

        public static ChatFinishReason ContentFilter { get { return new ChatFinishReason("content_filter"); } }

        public string Value { get { return _value ?? Stop.Value; } }

        public static bool operator ==(ChatFinishReason left, ChatFinishReason right) { return left.Equals(right); }

        public static bool operator !=(ChatFinishReason left, ChatFinishReason right) { return !left.Equals(right); }

        public bool Equals(ChatFinishReason other) { return string.Equals(Value, other.Value, StringComparison.OrdinalIgnoreCase); }

        public override bool Equals(object? obj) { return obj is ChatFinishReason other && Equals(other); }

        public override int GetHashCode() { return StringComparer.OrdinalIgnoreCase.GetHashCode(Value); }

        public override string ToString() { return Value; }
    }

    public class ChatResponseFormat
    {
        private protected ChatResponseFormat() { }

        public static ChatResponseFormatText Text { get; } = new ChatResponseFormatText();

        public static ChatResponseFormatJson Json { get; } = new ChatResponseFormatJson(null);

        public static ChatResponseFormatJson ForJsonSchema(JsonElement schema, string? schemaName = null, string? schemaDescription = null)
        {
            return new ChatResponseFormatJson(schema, schemaName, schemaDescription);
        }
    }

    public sealed class ChatResponseFormatText : ChatResponseFormat
    {
        public ChatResponseFormatText() { }
    }

    public sealed class ChatResponseFormatJson : ChatResponseFormat
    {
        public ChatResponseFormatJson(JsonElement? schema, string? schemaName = null, string? schemaDescription = null)
        {
            Schema = schema;
            SchemaName = schemaName;
            SchemaDescription = schemaDescription;
        }

        public JsonElement? Schema { get; }

        public string? SchemaName { get; }

        public string? SchemaDescription { get; }
    }

    public class ChatToolMode
    {
        private protected ChatToolMode() { }

        public static AutoChatToolMode Auto { get; } = new AutoChatToolMode();

        public static NoneChatToolMode None { get; } = new NoneChatToolMode();

        public static RequiredChatToolMode RequireAny { get; } = new RequiredChatToolMode(null);

        public static RequiredChatToolMode RequireSpecific(string functionName) { return new RequiredChatToolMode(functionName); }
    }

    public sealed class AutoChatToolMode : ChatToolMode
    {
        public AutoChatToolMode() { }
    }

    public sealed class NoneChatToolMode : ChatToolMode
    {
        public NoneChatToolMode() { }
    }

    public sealed class RequiredChatToolMode : ChatToolMode
    {
        public RequiredChatToolMode(string? requiredFunctionName) { RequiredFunctionName = requiredFunctionName; }

        public string? RequiredFunctionName { get; }
    }

    public enum ReasoningEffort
    {
        None = 0,
        Low = 1,
        Medium = 2,
        High = 3,
        ExtraHigh = 4
    }

    public enum ReasoningOutput
    {
        None = 0,
        Summary = 1,
        Full = 2
    }

    public sealed class ReasoningOptions
    {
        public ReasoningEffort? Effort { get; set; }

        public ReasoningOutput? Output { get; set; }
    }

    public class ResponseContinuationToken
    {
        protected ResponseContinuationToken() { }
    }

    public abstract class AITool
    {
        public virtual string Name { get { return GetType().Name; } }

        public virtual string Description { get { return ""; } }
    }

    public abstract class AIFunctionDeclaration : AITool
    {
        public virtual JsonElement JsonSchema { get { return default; } }

        public virtual JsonElement? ReturnJsonSchema { get { return null; } }
    }

    public static class AIFunctionFactory
    {
        private sealed class Declared : AIFunctionDeclaration
        {
            private readonly string _name, _description;
            private readonly JsonElement _schema;

            internal Declared(string name, string? description, JsonElement schema)
            {
                _name = name;
                _description = description ?? "";
                _schema = schema;
            }

            public override string Name { get { return _name; } }

            public override string Description { get { return _description; } }

            public override JsonElement JsonSchema { get { return _schema; } }
        }

        public static AIFunctionDeclaration CreateDeclaration(string name, string? description, JsonElement jsonSchema, JsonElement? returnJsonSchema = null)
        {
            return new Declared(name, description, jsonSchema);
        }
    }

    public class HostedWebSearchTool : AITool
    {
        public override string Name { get { return "web_search"; } }
    }
}
