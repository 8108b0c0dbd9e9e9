using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Inlay.Extensions.AI;

/// <summary>A session that one request uses.</summary>
internal sealed class Lease
{
    private readonly int _cut;
    private volatile bool _isCut;

    /// <param name="session">The session.</param>
    /// <param name="prompt">All tokens of the conversation.</param>
    /// <param name="cut">How many of them, at the most, the session begins with.</param>
    /// <param name="most">The length that its sequence may reach.</param>
    internal Lease(Session session, int[] prompt, int cut, int most)
    {
        Session = session;
        Prompt = prompt;
        Most = most;
        _cut = cut;
    }

    internal Session Session { get; }

    internal int[] Prompt { get; }

    internal int Most { get; }

    /// <summary>Tokens of the prompt that are not run again. Of what a session was cut back to the last one is, for its logits.</summary>
    internal int Cached => Math.Max(0, _cut - 1);

    /// <summary>The tokens to run.</summary>
    internal int[] Rest => Prompt[_cut..];

    /// <summary>Tokens that were drawn, as far as they are known.</summary>
    internal List<int> Drawn { get; } = [];

    /// <summary>Takes from the session what the prompt does not begin with. It may wait for a step.</summary>
    internal void Cut()
    {
        Session.Truncate(_cut);
        _isCut = true;
    }

    /// <summary>Blocks of the KV pool that it may still take. One that is not full may be another session's as well, and is copied when
    /// it is written to.</summary>
    internal long BlocksToCome(int blockTokens)
    {
        SessionInfo info = Session.Info;
        int full = Math.Min(info.KvBlocks, (_isCut ? info.Tokens : _cut) / blockTokens);
        return (Most + blockTokens - 1) / blockTokens - full;
    }
}

/// <summary>An engine's sessions that have conversations in them, in use or idle. For any thread.</summary>
internal sealed class SessionPool : IDisposable
{
    private sealed record Idle(Session Session, int[] Tokens, int PromptLength);

    private sealed class Signal() : TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    private readonly Engine _engine;
    private readonly int _contextLength, _mostIdle, _mostWaiting;
    private readonly object _gate = new();
    private readonly List<Idle> _idle = [];             // the least recently used first; guarded by _gate, as what follows
    private readonly HashSet<Lease> _inUse = [];
    private readonly LinkedList<Signal> _waiting = [];  // the first one may try
    private Signal _returned = new();
    private bool _disposed;
    private readonly CancellationTokenSource _end = new();

    internal SessionPool(Engine engine, int? mostIdle, int mostWaiting)
    {
        _engine = engine;
        EngineInfo info = engine.Info;
        _contextLength = info.ContextLength;
        _mostIdle = mostIdle ?? Math.Max(1, info.MaxSessions - 1);
        _mostWaiting = mostWaiting;
    }

    /// <summary>Cancelled when the pool is disposed.</summary>
    internal CancellationToken End => _end.Token;

    /// <summary>Gives a session whose tokens are a beginning of the prompt, and leave one of it at least to be run. While all sessions
    /// are in use it waits for one, behind those who came before.</summary>
    /// <exception cref="InvalidOperationException">As many wait already as may.</exception>
    internal async Task<Lease> RentAsync(int[] prompt, int maxTokens, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        int most = maxTokens > 0 ? (int)Math.Min((long)prompt.Length + maxTokens, _contextLength) : _contextLength;
        LinkedListNode<Signal> place;
        bool isFirst;
        Lease? taken = null;
        lock (_gate)
        {
            if (_waiting.Count > _mostWaiting)
            {
                throw new InvalidOperationException($"all sessions are in use, and {_mostWaiting} requests wait for one already");
            }
            place = _waiting.AddLast(new Signal());
            isFirst = _waiting.First == place;
        }
        try
        {
            if (!isFirst) await place.Value.Task.WaitAsync(cancellation).ConfigureAwait(false);
            for (;;)
            {
                Task returned;
                lock (_gate)
                {
                    ObjectDisposedException.ThrowIf(_disposed, typeof(InlayChatClient));
                    taken = TryTake(prompt, most);
                    if (taken != null) Use(taken);
                    returned = _returned.Task;
                }
                if (taken != null) break;
                Session? created = await CreateUnlessReturned(returned, cancellation).ConfigureAwait(false);
                if (created == null) continue;
                lock (_gate)
                {
                    if (!_disposed) Use(taken = new Lease(created, prompt, 0, most));
                }
                if (taken != null) break;
                created.Dispose();
            }
        }
        finally
        {
            Signal? next;
            lock (_gate)
            {
                _waiting.Remove(place);
                next = _waiting.First?.Value;
            }
            next?.TrySetResult();
        }
        try { taken.Cut(); }
        catch
        {
            Return(taken, false);
            throw;
        }
        return taken;
    }

    /// <summary>Ends a request. What the session holds is kept for a later one, unless it is not known for certain.</summary>
    internal void Return(Lease lease, bool keep)
    {
        Signal returned;
        lock (_gate)
        {
            _inUse.Remove(lease);
            if (_disposed || !keep || _mostIdle == 0 || !TryKeep(lease)) lease.Session.Dispose();
            while (_idle.Count > _mostIdle) DropOldest();
            DropWhatOthersNeed();
            returned = _returned;
            _returned = new Signal();
        }
        returned.TrySetResult();
    }

    /// <summary>Frees all sessions, those in use at the end of their step.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            if (_disposed) return;
            _disposed = true;
        }
        _end.Cancel();
        Signal returned;
        lock (_gate)
        {
            while (_idle.Count > 0) DropOldest();
            foreach (Lease lease in _inUse) lease.Session.Dispose();
            returned = _returned;
        }
        returned.TrySetResult();
    }

    // Waits for a session of the engine, or until one of this pool came back: null.
    private async Task<Session?> CreateUnlessReturned(Task returned, CancellationToken cancellation)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _end.Token);
        Task<Session> creation = _engine.CreateSessionAsync(null, stop.Token);
        await Task.WhenAny(creation, returned).ConfigureAwait(false);
        await stop.CancelAsync().ConfigureAwait(false);
        try { return await creation.ConfigureAwait(false); }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested) { return null; }
    }

    private void Use(Lease lease)
    {
        _inUse.Add(lease);
        DropWhatOthersNeed();
    }

    // Null: all sessions are in use.
    private Lease? TryTake(int[] prompt, int most)
    {
        Idle? best = null;
        int shared = 0;
        foreach (Idle idle in _idle)
        {
            int same = Math.Min(prompt.AsSpan().CommonPrefixLength(idle.Tokens), prompt.Length - 1);
            if (same <= 0 || same < shared) continue;
            best = idle;
            shared = same;
        }
        if (best != null)
        {
            // A conversation that goes on has all of its last prompt. Another one with the same beginning, such as the same system
            // message, gets a copy, so that neither is lost; the oldest one makes room for it.
            if (shared < Math.Min(best.PromptLength, prompt.Length) - 1)
            {
                Session? copy = _idle.Count < _mostIdle ? TryMake(best.Session.Fork) : null;
                if (copy == null && _idle[0] != best)
                {
                    DropOldest();
                    copy = TryMake(best.Session.Fork);
                }
                if (copy != null) return new Lease(copy, prompt, shared, most);
            }
            _idle.Remove(best);
            return new Lease(best.Session, prompt, shared, most);
        }
        if (TryMake(() => _engine.CreateSession()) is { } empty) return new Lease(empty, prompt, 0, most);
        if (_idle.Count == 0) return null;
        Session used = _idle[0].Session;
        _idle.RemoveAt(0);
        return new Lease(used, prompt, 0, most);
    }

    private static Session? TryMake(Func<Session> make)
    {
        try { return make(); }
        catch (InlayException full) when (full.Status == Status.SessionLimit) { return null; }
    }

    private bool TryKeep(Lease lease)
    {
        int held;
        try { held = lease.Session.Info.Tokens; }
        catch (ObjectDisposedException) { return false; }
        catch (InlayException) { return false; }
        int known = Math.Min(held, lease.Prompt.Length + lease.Drawn.Count);
        if (known <= 0) return false;
        var tokens = new int[known];
        int ofPrompt = Math.Min(known, lease.Prompt.Length);
        lease.Prompt.AsSpan(0, ofPrompt).CopyTo(tokens);
        CollectionsMarshal.AsSpan(lease.Drawn).Slice(0, known - ofPrompt).CopyTo(tokens.AsSpan(ofPrompt));
        _idle.Add(new Idle(lease.Session, tokens, ofPrompt));
        return true;
    }

    private void DropOldest()
    {
        _idle[0].Session.Dispose();
        _idle.RemoveAt(0);
    }

    // Sessions share the engine's KV pool: idle ones are given up where those in use may need what they hold.
    private void DropWhatOthersNeed()
    {
        while (_idle.Count > 0 && MissingBlocks() > 0) DropOldest();
    }

    private long MissingBlocks()
    {
        EngineStats stats;
        try { stats = _engine.Stats; }
        catch (ObjectDisposedException) { return long.MaxValue; } // nobody will ask for what is idle
        long missing = stats.KvBlocksUsed - stats.KvBlocks;
        foreach (Lease lease in _inUse) missing += Math.Max(0, lease.BlocksToCome(stats.BlockTokens));
        return missing;
    }
}
