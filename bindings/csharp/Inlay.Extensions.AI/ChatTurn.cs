using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI;

/// <summary>One answer under way: a session of the pool that generates.</summary>
internal sealed class ChatTurn : IAsyncDisposable
{
    private const string ClientDisposed = "the chat client was disposed";

    private readonly SessionPool _pool;
    private readonly Lease _lease;
    private readonly CancellationToken _cancellation;
    private readonly CancellationTokenSource _stop;
    private readonly IAsyncEnumerator<Generated> _events;
    private bool _failed;

    private ChatTurn(SessionPool pool, Lease lease, GenerateOptions options, CancellationToken cancellation)
    {
        _pool = pool;
        _lease = lease;
        _cancellation = cancellation;
        _stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation, pool.End);
        _events = lease.Session.GenerateAsync(lease.Rest, options, _stop.Token).GetAsyncEnumerator(CancellationToken.None);
    }

    /// <summary>Names the answer.</summary>
    internal string Id { get; } = Guid.NewGuid().ToString("N");

    /// <summary>When it was begun.</summary>
    internal DateTimeOffset CreatedAt { get; } = DateTimeOffset.UtcNow;

    /// <summary>Writes the prompt, gets a session, and has everything ready for the first token.</summary>
    internal static async Task<ChatTurn> BeginAsync(Engine engine, SessionPool pool, ChatRequest request, string? template,
                                                    CancellationToken cancellation)
    {
        try
        {
            // A long conversation takes a while, which is not the caller's thread's.
            int[] prompt = await Task.Run(() => engine.GetChatTokens(request.Conversation, template), cancellation).ConfigureAwait(false);
            Lease lease = await pool.RentAsync(prompt, request.Options.MaxTokens, cancellation).ConfigureAwait(false);
            try
            {
                if (request.Options.MaxTokens == 0) lease.Session.SetMaxTokens(0); // options cannot take a limit away
                return new ChatTurn(pool, lease, request.Options, cancellation);
            }
            catch
            {
                pool.Return(lease, false);
                throw;
            }
        }
        catch (OperationCanceledException ended) when (cancellation.IsCancellationRequested && ended.CancellationToken != cancellation)
        {
            throw new OperationCanceledException(ended.Message, ended, cancellation);
        }
        catch (ObjectDisposedException ended) when (pool.End.IsCancellationRequested)
        {
            throw new OperationCanceledException(ClientDisposed, ended);
        }
    }

    /// <summary>The next event, null after the last one.</summary>
    internal async ValueTask<Generated?> NextAsync()
    {
        try
        {
            if (!await _events.MoveNextAsync().ConfigureAwait(false)) return null;
        }
        catch (Exception problem)
        {
            if (problem is not OperationCanceledException) _failed = true;
            if (problem is OperationCanceledException && _cancellation.IsCancellationRequested)
            {
                throw new OperationCanceledException(problem.Message, problem, _cancellation);
            }
            if (_pool.End.IsCancellationRequested) throw new OperationCanceledException(ClientDisposed, problem);
            throw;
        }
        Generated next = _events.Current;
        if (next.Token >= 0) _lease.Drawn.Add(next.Token);
        return next;
    }

    /// <summary>What the answer has cost so far.</summary>
    internal UsageDetails Usage(Generated last)
    {
        return new UsageDetails
        {
            InputTokenCount = _lease.Prompt.Length,
            CachedInputTokenCount = _lease.Cached,
            OutputTokenCount = last.GeneratedTokens,
            TotalTokenCount = _lease.Prompt.Length + last.GeneratedTokens
        };
    }

    /// <summary>Null: it has not ended.</summary>
    internal static ChatFinishReason? Reason(Generated generated)
    {
        return generated.FinishReason switch
        {
            FinishReason.None => null,
            FinishReason.MaxTokens or FinishReason.ContextFull => ChatFinishReason.Length,
            FinishReason.EndOfGeneration or FinishReason.StopString or FinishReason.StopToken => ChatFinishReason.Stop,
            _ => throw new OperationCanceledException("the generation was ended")
        };
    }

    /// <summary>Ends the generation, and gives the session back.</summary>
    public async ValueTask DisposeAsync()
    {
        try { await _events.DisposeAsync().ConfigureAwait(false); }
        finally
        {
            _pool.Return(_lease, !_failed);
            _stop.Dispose();
        }
    }
}
