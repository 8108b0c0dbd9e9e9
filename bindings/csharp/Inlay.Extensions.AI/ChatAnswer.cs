using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI
{
    /// <summary>One answer under way: a request, and what takes its message apart.</summary>
    internal sealed class ChatAnswer : IDisposable
    {
        /// <summary>Who may end an answer: the caller by its token, and the client.</summary>
        internal readonly struct Ending
        {
            internal Ending(CancellationToken token, CancellationToken client)
            {
                Token = token;
                Client = client;
            }

            internal readonly CancellationToken Token, Client;

            /// <summary>An exception as the caller is to have it: what the client's end has ended was cancelled.</summary>
            internal Exception Thrown(Exception problem)
            {
                bool isCallers = problem is OperationCanceledException && Token.IsCancellationRequested;
                if (!isCallers && Client.IsCancellationRequested) return new OperationCanceledException("the chat client was disposed", problem);
                return problem;
            }
        }

        private readonly PendingRequest _pending;
        private readonly MessageParser? _parser; // null: the text is the content
        private readonly StopSearch? _stops;     // null: the engine looks for them, or there are none
        private readonly int[] _stopTokens;
        private readonly Ending _ending;
        private readonly StringBuilder _arguments = new StringBuilder(); // of the call that is open, as what follows
        private string _name = "", _callId = "";
        private int _calls;
        private bool _isOver;

        internal ChatAnswer(PendingRequest pending, MessageParser? parser, StopSearch? stops, int[]? stopTokens, Ending ending)
        {
            _pending = pending;
            _parser = parser;
            _stops = stops;
            _stopTokens = stopTokens ?? Array.Empty<int>();
            _ending = ending;
        }

        /// <summary>Names the answer.</summary>
        internal string Id { get; } = Guid.NewGuid().ToString("N");

        /// <summary>When it was begun.</summary>
        internal DateTimeOffset CreatedAt { get; } = DateTimeOffset.UtcNow;

        /// <summary>Not null once the end has been read.</summary>
        internal ChatFinishReason? Reason { get; private set; }

        /// <summary>What it has cost, likewise.</summary>
        internal UsageDetails? Usage { get; private set; }

        /// <summary>What <see cref="NextAsync"/> has read last: a RequestPiece, and at the end a Completion.</summary>
        internal object? Raw { get; private set; }

        /// <summary>The next contents, none of them empty; at the end there may be none. Null: it was given already.</summary>
        internal async Task<IList<AIContent>?> NextAsync()
        {
            var contents = new List<AIContent>();
            try
            {
                while (!_isOver)
                {
                    RequestPiece? piece = await _pending.ReadPieceAsync().ConfigureAwait(false);
                    if (piece == null)
                    {
                        End(contents, await _pending.Completion.ConfigureAwait(false));
                        return contents;
                    }
                    Raw = piece;
                    Read(contents, piece);
                    if (contents.Count > 0) return contents;
                }
            }
            catch (Exception problem)
            {
                Exception thrown = _ending.Thrown(problem);
                if (thrown == problem) throw;
                throw thrown;
            }
            return null;
        }

        private void Read(List<AIContent> contents, RequestPiece piece)
        {
            if (_parser == null)
            {
                if (piece.Text.Length > 0) contents.Add(new TextContent(piece.Text));
                return;
            }
            if (_stops != null && _stops.IsFound) return;
            _parser.Append(piece.Tokens.Select(token => token.Token).Where(token => Array.IndexOf(_stopTokens, token) < 0).ToArray());
            Take(contents, _parser);
            if (_stops != null && _stops.IsFound) _pending.Cancel();
        }

        private void Take(List<AIContent> contents, MessageParser parser)
        {
            foreach (MessagePart part in parser.Take())
            {
                if (_stops != null && _stops.IsFound) return;
                switch (part.Kind)
                {
                    case ChatDeltaKind.Reasoning:
                        contents.Add(new TextReasoningContent(part.Text));
                        break;
                    case ChatDeltaKind.Content:
                        Add(contents, _stops == null ? part.Text : _stops.Next(part.Text));
                        break;
                    case ChatDeltaKind.CallBegin:
                        _name = part.Text;
                        _arguments.Clear();
                        break;
                    case ChatDeltaKind.CallId:
                        _callId = part.Text;
                        break;
                    case ChatDeltaKind.Arguments:
                        _arguments.Append(part.Text);
                        break;
                    case ChatDeltaKind.CallEnd:
                        contents.Add(Call(part.IsWhole));
                        _calls++;
                        break;
                    default:
                        break; // a kind that is not known is to be passed over
                }
            }
        }

        private static void Add(List<AIContent> contents, string text)
        {
            if (text.Length > 0) contents.Add(new TextContent(text));
        }

        // Of a call that was cut, or whose arguments are no object, the exception says so, as Microsoft.Extensions.AI's own clients do.
        private FunctionCallContent Call(bool isWhole)
        {
            var call = new FunctionCallContent(_callId, _name);
            if (!isWhole) call.Exception = new FormatException("the call was cut: " + _arguments);
            else
            {
                using (JsonDocument json = JsonDocument.Parse(_arguments.ToString()))
                {
                    if (json.RootElement.ValueKind == JsonValueKind.Object)
                    {
                        call.Arguments = json.RootElement.EnumerateObject().GroupBy(argument => argument.Name)
                            .ToDictionary(same => same.Key, same => (object?)same.Last().Value.Clone());
                    }
                    else call.Exception = new FormatException("the call's arguments are no object: " + _arguments);
                }
            }
            return call;
        }

        private void End(List<AIContent> contents, Completion whole)
        {
            _isOver = true;
            Raw = whole;
            bool isStopped = _stops != null && _stops.IsFound;
            if (_parser != null && !isStopped)
            {
                _parser.Finish();
                Take(contents, _parser);
                isStopped = _stops != null && _stops.IsFound;
                if (_stops != null) Add(contents, _stops.Rest());
            }
            Reason = isStopped ? ChatFinishReason.Stop : ReasonOf(whole.FinishReason);
            if (Reason == ChatFinishReason.Stop && !isStopped && _calls > 0) Reason = ChatFinishReason.ToolCalls;
            Usage = new UsageDetails
            {
                InputTokenCount = whole.PromptTokens,
                CachedInputTokenCount = whole.CachedTokens,
                OutputTokenCount = whole.Tokens.Count,
                TotalTokenCount = whole.PromptTokens + whole.Tokens.Count
            };
        }

        // A text that is not whole under its constraint was cut, too.
        private static ChatFinishReason ReasonOf(FinishReason reason)
        {
            switch (reason)
            {
                case FinishReason.MaxTokens:
                case FinishReason.ContextFull:
                case FinishReason.DeadEnd:
                    return ChatFinishReason.Length;
                case FinishReason.EndOfGeneration:
                case FinishReason.StopString:
                case FinishReason.StopToken:
                case FinishReason.ConstraintEnd:
                    return ChatFinishReason.Stop;
                default:
                    throw new OperationCanceledException("the request was ended");
            }
        }

        /// <summary>Ends the request, where it has not ended.</summary>
        public void Dispose()
        {
            if (!_isOver) _pending.Cancel();
            if (_parser != null) _parser.Dispose();
        }
    }
}
