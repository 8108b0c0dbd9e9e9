using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Inlay.Extensions.AI;

/// <summary>A session that one request uses.</summary>
internal sealed class Lease
{
    internal Lease(Session session, int[] prompt, int cached)
    {
        Session = session;
        Prompt = prompt;
        Cached = cached;
    }

    internal Session Session { get; }

    /// <summary>All tokens of the conversation.</summary>
    internal int[] Prompt { get; }

    /// <summary>How many of them the session holds already.</summary>
    internal int Cached { get; }

    /// <summary>Tokens that were drawn, as far as they are known.</summary>
    internal List<int> Drawn { get; } = [];

    /// <summary>The length that the sequence may reach.</summary>
    internal int Most { get; init; }
}

/// <summary>An engine's sessions that have conversations in them, in use or idle. For any thread.</summary>
internal sealed class SessionPool : IDisposable
{
    private sealed record Idle(Session Session, int[] Tokens, int PromptLength);

    private sealed class Signal() : TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    private readonly Engine _engine;
    private readonly EngineInfo _info;
    private readonly int _mostIdle, _mostWaiting;
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
        _info = engine.Info;
        _mostIdle = mostIdle ?? Math.Max(1, _info.MaxSessions - 1);
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
        int most = maxTokens > 0 ? (int)Math.Min((long)prompt.Length + maxTokens, _info.ContextLength) : _info.ContextLength;
        LinkedListNode<Signal> place;
        bool isFirst;
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
                    if (TryTake(prompt, most) is { } lease) return Use(lease);
                    returned = _returned.Task;
                }
                Session? created = await CreateUnlessReturned(returned, cancellation).ConfigureAwait(false);
                if (created == null) continue;
                lock (_gate)
                {
                    if (!_disposed) return Use(new Lease(created, prompt, 0) { Most = most });
                }
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

    private Lease Use(Lease lease)
    {
        _inUse.Add(lease);
        DropWhatOthersNeed();
        return lease;
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
                if (copy != null) return Cut(copy, prompt, shared, most);
            }
            _idle.Remove(best);
            return Cut(best.Session, prompt, shared, most);
        }
        if (TryMake(() => _engine.CreateSession()) is { } empty) return new Lease(empty, prompt, 0) { Most = most };
        if (_idle.Count == 0) return null;
        Session used = _idle[0].Session;
        _idle.RemoveAt(0);
        return Cut(used, prompt, 0, most);
    }

    private static Session? TryMake(Func<Session> make)
    {
        try { return make(); }
        catch (InlayException full) when (full.Status == Status.SessionLimit) { return null; }
    }

    private static Lease Cut(Session session, int[] prompt, int length, int most)
    {
        try { session.Truncate(length); }
        catch
        {
            session.Dispose();
            throw;
        }
        return new Lease(session, prompt, length) { Most = most };
    }

    private bool TryKeep(Lease lease)
    {
        int held;
        try { held = lease.Session.Info.Tokens; }
        catch (ObjectDisposedException) { return false; }
        catch (InlayException) { return false; }
        // The last token that was drawn has not been run yet.
        int known = Math.Min(held, lease.Prompt.Length + Math.Max(0, lease.Drawn.Count - 1));
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
        foreach (Lease lease in _inUse)
        {
            long blocks = (lease.Most + stats.BlockTokens - 1) / stats.BlockTokens;
            missing += Math.Max(0, blocks - lease.Session.Info.KvBlocks);
        }
        return missing;
    }
}
