using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.Json;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI
{
    using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

    /// <summary>Messages, tools and demands as JSON, as the engine takes them.</summary>
    internal static class Conversation
    {
        /// <summary>The variables of a chat template: messages, and tools where there are any.</summary>
        /// <exception cref="NotSupportedException">A message has content of another kind.</exception>
        internal static string Of(IReadOnlyList<ChatMessage> messages, string? instructions, IReadOnlyList<AIFunctionDeclaration> tools, bool takesText)
        {
            return Written(json =>
            {
                json.WriteStartObject();
                json.WriteStartArray("messages");
                int begin = 0;
                if (!string.IsNullOrEmpty(instructions))
                {
                    // Many templates know one system message only, the first.
                    bool joined = messages.Count > 0 && messages[0].Role == ChatRole.System;
                    json.WriteStartObject();
                    json.WriteString("role", ChatRole.System.Value);
                    json.WriteString("content", joined ? instructions + "\n\n" + messages[0].Text : instructions);
                    json.WriteEndObject();
                    if (joined) begin = 1;
                }
                var names = new Dictionary<string, string>();
                for (int i = begin; i < messages.Count; i++) Write(json, messages[i], names, takesText);
                json.WriteEndArray();
                if (tools.Count > 0) Write(json, tools);
                json.WriteEndObject();
            });
        }

        /// <summary>What is looked at before anything is computed.</summary>
        /// <exception cref="NotSupportedException">A message has content of another kind.</exception>
        internal static void Check(IReadOnlyList<ChatMessage> messages)
        {
            foreach (AIContent content in messages.SelectMany(message => message.Contents))
            {
                if (content is TextContent || content is TextReasoningContent || content is FunctionCallContent || content is FunctionResultContent) continue;
                if (!(content is UsageContent)) throw Unsupported.Content(content);
            }
        }

        /// <summary>Tools alone, as an array.</summary>
        internal static string Of(IReadOnlyList<AIFunctionDeclaration> tools) { return Written(json => WriteArray(json, tools)); }

        /// <summary>What a constraint of messages takes.</summary>
        internal static string Demand(IReadOnlyList<AIFunctionDeclaration> tools, ChatOptions options)
        {
            return Written(json =>
            {
                json.WriteStartObject();
                if (tools.Count > 0)
                {
                    Write(json, tools);
                    if (options.ToolMode is RequiredChatToolMode required && required.RequiredFunctionName != null)
                    {
                        json.WriteStartObject("tool_choice");
                        json.WriteString("type", "function");
                        json.WriteStartObject("function");
                        json.WriteString("name", required.RequiredFunctionName);
                        json.WriteEndObject();
                        json.WriteEndObject();
                    }
                    else json.WriteString("tool_choice", options.ToolMode is RequiredChatToolMode ? "required" : "auto");
                    if (options.AllowMultipleToolCalls == false) json.WriteBoolean("parallel_tool_calls", false);
                }
                if (options.ResponseFormat is ChatResponseFormatJson format) Write(json, format);
                json.WriteEndObject();
            });
        }

        private static void Write(Utf8JsonWriter json, ChatResponseFormatJson format)
        {
            json.WriteStartObject("response_format");
            json.WriteString("type", format.Schema == null ? "json_object" : "json_schema");
            if (format.Schema != null)
            {
                json.WriteStartObject("json_schema");
                json.WriteString("name", format.SchemaName ?? "answer");
                json.WritePropertyName("schema");
                format.Schema.Value.WriteTo(json);
                json.WriteEndObject();
            }
            json.WriteEndObject();
        }

        private static void Write(Utf8JsonWriter json, IReadOnlyList<AIFunctionDeclaration> tools)
        {
            json.WritePropertyName("tools");
            WriteArray(json, tools);
        }

        private static void WriteArray(Utf8JsonWriter json, IReadOnlyList<AIFunctionDeclaration> tools)
        {
            json.WriteStartArray();
            foreach (AIFunctionDeclaration tool in tools)
            {
                json.WriteStartObject();
                json.WriteString("type", "function");
                json.WriteStartObject("function");
                json.WriteString("name", tool.Name);
                json.WriteString("description", tool.Description);
                json.WritePropertyName("parameters");
                if (tool.JsonSchema.ValueKind == JsonValueKind.Object) tool.JsonSchema.WriteTo(json);
                else
                {
                    json.WriteStartObject();
                    json.WriteEndObject();
                }
                json.WriteEndObject();
                json.WriteEndObject();
            }
            json.WriteEndArray();
        }

        // Each result of a call is a message of its own.
        private static void Write(Utf8JsonWriter json, ChatMessage message, Dictionary<string, string> names, bool takesText)
        {
            var reasoning = new StringBuilder();
            var calls = new List<FunctionCallContent>();
            bool hasResults = false;
            foreach (AIContent content in message.Contents)
            {
                if (content is TextReasoningContent thought) reasoning.Append(thought.Text);
                if (content is FunctionCallContent call)
                {
                    calls.Add(call);
                    names[call.CallId] = call.Name;
                }
                if (!(content is FunctionResultContent result)) continue;
                hasResults = true;
                json.WriteStartObject();
                json.WriteString("role", ChatRole.Tool.Value);
                json.WriteString("tool_call_id", result.CallId);
                if (names.TryGetValue(result.CallId, out string? name)) json.WriteString("name", name);
                json.WriteString("content", result.Result is string text ? text : Written(inner => WriteValue(inner, result.Result)));
                json.WriteEndObject();
            }
            if (hasResults && message.Text.Length == 0 && calls.Count == 0) return;
            json.WriteStartObject();
            json.WriteString("role", message.Role.Value);
            json.WriteString("content", message.Text);
            if (reasoning.Length > 0) json.WriteString("reasoning_content", reasoning.ToString());
            if (calls.Count > 0)
            {
                json.WriteStartArray("tool_calls");
                foreach (FunctionCallContent call in calls) Write(json, call, takesText);
                json.WriteEndArray();
            }
            json.WriteEndObject();
        }

        private static void Write(Utf8JsonWriter json, FunctionCallContent call, bool takesText)
        {
            json.WriteStartObject();
            json.WriteString("id", call.CallId);
            json.WriteString("type", "function");
            json.WriteStartObject("function");
            json.WriteString("name", call.Name);
            if (takesText) json.WriteString("arguments", Written(inner => WriteArguments(inner, call)));
            else
            {
                json.WritePropertyName("arguments");
                WriteArguments(json, call);
            }
            json.WriteEndObject();
            json.WriteEndObject();
        }

        private static void WriteArguments(Utf8JsonWriter json, FunctionCallContent call)
        {
            json.WriteStartObject();
            if (call.Arguments != null)
            {
                foreach (KeyValuePair<string, object?> argument in call.Arguments)
                {
                    json.WritePropertyName(argument.Key);
                    WriteValue(json, argument.Value);
                }
            }
            json.WriteEndObject();
        }

        private static void WriteValue(Utf8JsonWriter json, object? value)
        {
            if (value is JsonElement element) element.WriteTo(json);
            else if (value is JsonDocument document) document.WriteTo(json);
            else if (value == null) json.WriteNullValue();
            else if (value is string text) json.WriteStringValue(text);
            else if (value is bool flag) json.WriteBooleanValue(flag);
            else if (value is double number) json.WriteNumberValue(number);
            else if (value is int || value is long || value is short || value is byte) json.WriteNumberValue(Convert.ToInt64(value, CultureInfo.InvariantCulture));
#if NET8_0_OR_GREATER
            else JsonSerializer.Serialize(json, value, AIJsonUtilities.DefaultOptions.GetTypeInfo(value.GetType()));
#else
            else JsonSerializer.Serialize(json, value, value.GetType());
#endif
        }

        private static string Written(Action<Utf8JsonWriter> write)
        {
            using (var stream = new MemoryStream())
            {
                using (var json = new Utf8JsonWriter(stream)) write(json);
                return Encoding.UTF8.GetString(stream.GetBuffer(), 0, (int)stream.Length);
            }
        }
    }
}
