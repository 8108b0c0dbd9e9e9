using System;
using System.Collections.Generic;
using System.Threading;
#if NET8_0_OR_GREATER
using System.Runtime.CompilerServices;
using System.Threading.Tasks;
#endif

namespace Inlay
{
    public sealed unsafe partial class Engine
    {
        /// <summary>Begins a conversation in a session of its own.</summary>
        /// <param name="options">How the session generates. MaxTokens is the longest answer, for which room is kept; where it is 0, or
        /// more than half of the context, it is half of the context.</param>
        /// <param name="messages">What was said before; null for nothing. The system's messages at the beginning always stay; a turn
        /// is all from a user's message to the next one.</param>
        /// <exception cref="InlayException">Status SessionLimit: all sessions are in use. Others, as of CreateSession.</exception>
        public Chat CreateChat(SessionOptions? options = null, IEnumerable<ChatMessage>? messages = null)
        {
            var said = new List<ChatMessage>();
            if (messages != null) said.AddRange(messages);
            if (said.Contains(null!)) throw new ArgumentException("a message is null", nameof(messages));
            options = options ?? new SessionOptions();
            Session session = CreateSession(options);
            try { return new Chat(session, options.MaxTokens, said); }
            catch
            {
                session.Dispose(); // nobody else has it
                throw;
            }
        }
    }

    /// <summary>A conversation: its messages, and a session that holds their tokens, so that an answer runs only what is new. The
    /// model's chat template writes the messages, and the oldest turns are dropped where the context has no more room. Made by
    /// <see cref="Engine.CreateChat"/>.</summary>
    /// <remarks>One thread at a time may use it, but for <see cref="Session"/>'s Cancel and Info, and <see cref="Dispose"/>. It has one
    /// answer at a time.</remarks>
    public sealed class Chat : IDisposable
    {
        /// <summary>A line, and what becomes of it.</summary>
        private sealed class Turn
        {
            internal Turn(string line, List<ChatMessage> kept, int dropped, int reused)
            {
                Line = line;
                Kept = kept;
                Dropped = dropped;
                Reused = reused;
            }

            internal readonly string Line;
            internal readonly List<ChatMessage> Kept; // the messages before it
            internal readonly int Dropped, Reused;
            internal bool HasEvents, IsAnswered;
        }

        private readonly int _maxTokens, _systemMessages;
        private List<ChatMessage> _messages;
        private List<int> _held = new List<int>(); // what the session's tokens begin with
        private int _answering;

        internal Chat(Session session, int maxTokens, List<ChatMessage> messages)
        {
            Session = session;
            int half = session.Info.ContextLength / 2;
            _maxTokens = maxTokens == 0 ? half : Math.Min(maxTokens, half);
            session.SetMaxTokens(_maxTokens);
            _messages = messages;
            while (_systemMessages < messages.Count && messages[_systemMessages].Role == "system") _systemMessages++;
        }

        /// <summary>The chat's own session, which the chat alone may prefill, step and cut.</summary>
        public Session Session { get; private set; }

        /// <summary>What was said and not dropped, the oldest first, as a copy.</summary>
        public IReadOnlyList<ChatMessage> Messages { get { return _messages.ToArray(); } }

        /// <summary>How many turns have left the messages because the context was full, since the chat was made or
        /// cleared.</summary>
        public int DroppedTurns { get; private set; }

        /// <summary>How many tokens of the latest answered conversation the session held already. With the events' PromptTokens, which
        /// were run, they are the whole conversation.</summary>
        public int ReusedTokens { get; private set; }

        /// <summary>Runs what the session does not hold yet of the conversation with the user's line, and draws the answer.</summary>
        /// <remarks>
        /// Everything happens while the result is enumerated. The line joins the messages with the first text of its answer, which
        /// grows with each event: a part of an answer stays however it was cut, and a line without one is as if it had not been said.
        /// Where the conversation and the longest answer do not fit into the context together, the oldest turns are dropped until half
        /// of the room is free: <see cref="DroppedTurns"/> tells from the first event on. An answer ends in the ways of
        /// <see cref="Inlay.Session.Generate(int[], GenerateOptions, CancellationToken)"/>. If the prompt fails, the messages are as
        /// they were.
        /// </remarks>
        /// <exception cref="InlayException">Status ContextFull: the line is too long even alone; Required and Available are the tokens
        /// of the conversation and the room for them.</exception>
        /// <exception cref="InvalidOperationException">The answer before is still enumerated.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled, or the session's Cancel met the prompt.</exception>
        public IEnumerable<Generated> Ask(string line, CancellationToken cancellation = default(CancellationToken))
        {
            if (line == null) throw new ArgumentNullException(nameof(line));
            return Answer(line, cancellation);
        }

        private IEnumerable<Generated> Answer(string line, CancellationToken cancellation)
        {
            Enter();
            try
            {
                Turn turn = Begin(line);
                foreach (Generated next in Session.Generate(NewTokens(turn), null, cancellation))
                {
                    Hear(turn, next);
                    yield return next;
                }
            }
            finally { Leave(); }
        }

#if NET8_0_OR_GREATER
        /// <summary>The same for `await foreach`. All callers of the engine at a time share each decode step; no thread is
        /// blocked.</summary>
        /// <remarks>Leaving the loop early ends the answer, of which the part stays that the loop has had.</remarks>
        /// <exception cref="InlayException">Status ContextFull: the line is too long even alone.</exception>
        /// <exception cref="InvalidOperationException">The answer before is still enumerated.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled, the session's Cancel met the prompt, or the engine
        /// was disposed.</exception>
        public IAsyncEnumerable<Generated> AskAsync(string line, CancellationToken cancellation = default)
        {
            if (line == null) throw new ArgumentNullException(nameof(line));
            return AnswerAsync(line, cancellation);
        }

        private async IAsyncEnumerable<Generated> AnswerAsync(string line, [EnumeratorCancellation] CancellationToken cancellation)
        {
            Enter();
            try
            {
                Turn turn = Begin(line);
                await foreach (Generated next in Session.GenerateAsync(NewTokens(turn), null, cancellation).ConfigureAwait(false))
                {
                    cancellation.ThrowIfCancellationRequested(); // What was drawn meanwhile, nobody has seen.
                    Hear(turn, next);
                    yield return next;
                }
            }
            finally { Leave(); }
        }
#endif

        /// <summary>Forgets all but the system's messages at the beginning.</summary>
        /// <exception cref="InvalidOperationException">An answer is still enumerated.</exception>
        public void Clear()
        {
            Enter();
            _messages = _messages.GetRange(0, _systemMessages);
            DroppedTurns = 0;
            Leave();
        }

        /// <summary>Disposes the session, which ends an answer under way.</summary>
        public void Dispose() { Session.Dispose(); }

        private void Enter()
        {
            if (Interlocked.Exchange(ref _answering, 1) != 0) throw new InvalidOperationException("the chat still answers the line before");
        }

        private void Leave() { Volatile.Write(ref _answering, 0); }

        /// <summary>Cuts the session back to what it has in common with the conversation that ends with the line.</summary>
        private Turn Begin(string line)
        {
            SessionInfo info = Session.Info;
            int room = info.ContextLength - _maxTokens, dropped = 0;
            List<ChatMessage> kept = _messages;
            int[] prompt = TokensOf(kept, line);
            // Dropping goes on until half of the room is free: it changes all that follows, which runs again, and this should be rare.
            int wanted = prompt.Length > room ? room / 2 : room;
            while (prompt.Length > wanted && kept.Count > _systemMessages)
            {
                int next = _systemMessages + 1;
                while (next < kept.Count && kept[next].Role != "user") next++;
                if (dropped++ == 0) kept = new List<ChatMessage>(kept);
                kept.RemoveRange(_systemMessages, next - _systemMessages);
                prompt = TokensOf(kept, line);
            }
            if (prompt.Length > room)
            {
                throw new InlayException(Status.ContextFull, "the line is too long: it has no room with the longest answer",
                                         (ulong)prompt.Length, (ulong)room);
            }
            int n_most = Math.Min(Math.Min(_held.Count, info.Tokens), prompt.Length - 1), n = 0; // a prompt has a token at least
            while (n < n_most && _held[n] == prompt[n]) n++;
            Session.Truncate(n);
            _held = new List<int>(prompt); // where a part of it is run, the session's length tells
            return new Turn(line, kept, dropped, n);
        }

        private int[] TokensOf(List<ChatMessage> messages, string line)
        {
            return Session.Engine.GetChatTokens(new List<ChatMessage>(messages) { ChatMessage.User(line) });
        }

        /// <summary>The tokens of the conversation that the session does not hold.</summary>
        private int[] NewTokens(Turn turn) { return _held.GetRange(turn.Reused, _held.Count - turn.Reused).ToArray(); }

        /// <summary>Takes what was drawn.</summary>
        private void Hear(Turn turn, Generated generated)
        {
            if (!turn.HasEvents)
            {
                turn.HasEvents = true;
                _messages = turn.Kept;
                DroppedTurns += turn.Dropped;
                ReusedTokens = turn.Reused;
            }
            if (generated.Token >= 0) _held.Add(generated.Token);
            if (generated.Text.Length == 0) return;
            if (!turn.IsAnswered)
            {
                turn.IsAnswered = true;
                _messages.Add(ChatMessage.User(turn.Line));
                _messages.Add(ChatMessage.Assistant(""));
            }
            int last = _messages.Count - 1;
            _messages[last] = ChatMessage.Assistant(_messages[last].Content + generated.Text);
        }
    }
}
