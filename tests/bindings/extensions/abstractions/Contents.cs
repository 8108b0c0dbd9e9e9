// What messages consist of.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;

namespace Microsoft.Extensions.AI
{
    public class AdditionalPropertiesDictionary<TValue> : IEnumerable<KeyValuePair<string, TValue>>
    {
        private readonly Dictionary<string, TValue> _values = new Dictionary<string, TValue>(StringComparer.OrdinalIgnoreCase);

        public int Count { get { return _values.Count; } }

        public TValue this[string key]
        {
            get { return _values[key]; }
            set { _values[key] = value; }
        }

        public void Add(string key, TValue value) { _values.Add(key, value); }

        public bool TryGetValue<T>(string key, [MaybeNullWhen(false)] out T value)
        {
            bool found = _values.TryGetValue(key, out TValue any) && any is T;
            value = found ? (T)(object)any! : default!;
            return found;
        }

        public bool TryGetValue(string key, [MaybeNullWhen(false)] out TValue value) { return _values.TryGetValue(key, out value!); }

        public IEnumerator<KeyValuePair<string, TValue>> GetEnumerator() { return _values.GetEnumerator(); }

        IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }
    }

    public sealed class AdditionalPropertiesDictionary : AdditionalPropertiesDictionary<object?>
    {
    }

    public class AIContent
    {
        public object? RawRepresentation { get; set; }

        public AdditionalPropertiesDictionary? AdditionalProperties { get; set; }
    }

    public sealed class TextContent : AIContent
    {
        private string _text = "";

        public TextContent(string? text) { Text = text; }

        [AllowNull]
        public string Text
        {
            get { return _text; }
            set { _text = value ?? ""; }
        }

        public override string ToString() { return Text; }
    }

    public sealed class TextReasoningContent : AIContent
    {
        private string _text = "";

        public TextReasoningContent(string? text) { Text = text; }

        [AllowNull]
        public string Text
        {
            get { return _text; }
            set { _text = value ?? ""; }
        }

        public string? ProtectedData { get; set; }

        public override string ToString() { return Text; }
    }

    public class DataContent : AIContent
    {
        public DataContent(ReadOnlyMemory<byte> data, string mediaType)
        {
            Data = data;
            MediaType = mediaType;
        }

        public ReadOnlyMemory<byte> Data { get; }

        public string MediaType { get; }
    }

    public class ToolCallContent : AIContent
    {
        public ToolCallContent(string callId) { CallId = callId; }

        public string CallId { get; }
    }

    public class FunctionCallContent : ToolCallContent
    {
        public FunctionCallContent(string callId, string name, IDictionary<string, object?>? arguments = null) : base(callId)
        {
            Name = name;
            Arguments = arguments;
        }

        public string Name { get; }

        public IDictionary<string, object?>? Arguments { get; set; }

        public Exception? Exception { get; set; }
    }

    public class ToolResultContent : AIContent
    {
        public ToolResultContent(string callId) { CallId = callId; }

        public string CallId { get; }
    }

    public class FunctionResultContent : ToolResultContent
    {
        public FunctionResultContent(string callId, object? result) : base(callId) { Result = result; }

        public object? Result { get; set; }

        public Exception? Exception { get; set; }
    }

    public class UsageDetails
    {
        public long? InputTokenCount { get; set; }

        public long? OutputTokenCount { get; set; }

        public long? TotalTokenCount { get; set; }

        public long? CachedInputTokenCount { get; set; }

        public long? ReasoningTokenCount { get; set; }
    }

    public class UsageContent : AIContent
    {
        public UsageContent(UsageDetails details) { Details = details; }

        public UsageDetails Details { get; set; }
    }
}
