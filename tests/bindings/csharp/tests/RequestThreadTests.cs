// Requests of many threads, and engines and queues that end while they are used.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using Inlay;

static class RequestThreadTests
{
    static Thread Started(Action body)
    {
        var thread = new Thread(() => body()) { IsBackground = true }; // where a check fails before it ends, the program ends nevertheless
        thread.Start();
        return thread;
    }

    public static void AnEngineEndsItsRequestsAndWaits()
    {
        Engine engine = Given.Engine();
        engine.SetThread(new ThreadOptions());
        RequestQueue queue = engine.CreateQueue(new RequestQueueOptions { MaxUnreadTokens = 3 }), idle = engine.CreateQueue(); // so it has no end
        ulong id = queue.Submit(RequestTests.Endless());
        Exception problem = null;
        bool waits = false;
        Thread other = Started(() =>
        {
            Volatile.Write(ref waits, true);
            try { idle.Wait(); }
            catch (Exception thrown) { problem = thrown; }
        });
        while (!Volatile.Read(ref waits)) Thread.Sleep(1);
        Thread.Sleep(20);
        engine.Dispose();
        Expect.True(other.Join(RequestTests.Limit), "the wait ends");
        var refused = problem as InlayException;
        Expect.True(refused != null && refused.Status == Status.InvalidState, "the wait: " + problem);
        var answers = new RequestTests.Answers();
        var events = new RequestEvents(2, 4, 16);
        while (answers.Ended == 0) Expect.True(RequestTests.Poll(queue, events, answers) > 0, "the end is there");
        Expect.Equal(FinishReason.Cancelled, answers[id].Reason, "reason");
        Expect.Status(Status.InvalidState, () => queue.Poll(events), "there is no more");
        Expect.Equal(0, events.Count, "events of a poll that failed");
        Expect.Status(Status.InvalidState, () => queue.Submit(RequestTests.Endless()), "another one");
        queue.Cancel(id);
        queue.Dispose();
        idle.Dispose();
    }

    public static void AQueueIsDisposedWhileOthersUseIt()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(4)))
        {
            engine.SetThread(new ThreadOptions());
            for (int round = 0; round < 20; round++)
            {
                RequestQueue queue = engine.CreateQueue();
                for (int i = 0; i < 3; i++) queue.Submit(RequestTests.Endless());
                int n_refused = 0;
                string problem = "";
                Action<Action> until = call =>
                {
                    try { for (;;) call(); }
                    catch (ObjectDisposedException) { Interlocked.Increment(ref n_refused); }
                    catch (Exception thrown) { problem = thrown.ToString(); }
                };
                Action submits = () =>
                {
                    try { queue.Cancel(queue.Submit(RequestTests.Endless())); }
                    catch (InlayException full) when (full.Status == Status.QueueFull) { }
                };
                var events = new RequestEvents();
                var threads = new[]
                {
                    Started(() => until(() => queue.Wait())), Started(() => until(() => queue.Wait(TimeSpan.FromSeconds(1000)))),
                    Started(() => until(() => queue.Poll(events))), Started(() => until(submits))
                };
                Thread.Sleep(round % 5);
                queue.Dispose();
                queue.Dispose();
                foreach (Thread thread in threads) Expect.True(thread.Join(RequestTests.Limit), "it ends");
                Expect.Equal("", problem, "another exception");
                Expect.Equal(4, n_refused, "ObjectDisposedExceptions");
            }
            engine.SetThread(null);
            Expect.Equal(0, engine.Run().Requests, "requests that are left");
            Expect.Equal(0, engine.Stats.Sessions, "sessions that are left");
        }
    }

    public static void NothingWorksAfterwards()
    {
        Engine engine = Given.Engine();
        RequestQueue queue = engine.CreateQueue();
        WaitKind kind;
        queue.Dispose();
        foreach (Action use in new Action[]
                 {
                     () => queue.Submit(RequestTests.Endless()), () => queue.Cancel(1), () => queue.Poll(new RequestEvents()), () => queue.Wait(),
                     () => queue.Wait(TimeSpan.Zero), () => queue.GetWaitHandle(out kind)
                 })
        {
            Expect.Throws<ObjectDisposedException>(use, "the queue");
        }
        engine.Dispose();
        foreach (Action use in new Action[] { () => engine.CreateQueue(), () => engine.Run(), () => engine.SetThread(null) })
        {
            Expect.Throws<ObjectDisposedException>(use, "the engine");
        }
        queue.Dispose();
        engine.Dispose();
    }

    static RequestQueue OfForgottenEngine(out ulong id)
    {
        Engine engine = Given.Engine();
        engine.SetThread(new ThreadOptions());
        RequestQueue queue = engine.CreateQueue();
        id = queue.Submit(RequestTests.Endless());
        return queue;
    }

    // An engine that is not referred to otherwise lives as long as a queue that somebody waits for.
    public static void AQueueKeepsItsEngine()
    {
        ulong id = 0;
        RequestQueue queue = null;
        Started(() => queue = OfForgottenEngine(out id)).Join(); // whose stack holds nothing afterwards
        Given.CollectGarbage();
        var answers = new RequestTests.Answers();
        RequestTests.Collect(queue, answers, 1);
        Expect.Equal(FinishReason.MaxTokens, answers[id].Reason, "reason");
        queue.Dispose();
        queue.Engine.Dispose();
    }

    public static void DroppedQueuesAreFreed()
    {
        using (Engine engine = Given.Engine())
        {
            RequestQueue kept = engine.CreateQueue();
            kept.Submit(RequestTests.Endless());
            int left = int.MaxValue;
            for (int round = 0; round < 3 && left > 1 + Given.Stale; round++)
            {
                // The collector looks at the stack conservatively: what another thread's stack held is certainly gone.
                Started(() =>
                {
                    for (int i = 0; i < 50; i++) engine.CreateQueue().Submit(RequestTests.Endless());
                    engine.Run(null, null, RunFlags.OneStep);
                }).Join();
                Given.CollectGarbage();
                left = engine.Run(null, null, RunFlags.OneStep).Requests;
            }
            Expect.True(left >= 1 && left <= 1 + Given.Stale, "requests that are left: " + left);
            kept.Dispose();
            Expect.True(engine.Run().Requests < left, "and without the last one");
        }
    }

    // More callers than there is room for, each with a queue of its own: all end whole.
    public static void ManyThreadsHaveQueuesOfTheirOwn()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(3)))
        {
            int[] want = Given.Reply(engine, 25);
            engine.SetThread(new ThreadOptions());
            int n_whole = 0;
            string problem = "";
            Thread[] threads = Enumerable.Range(0, 12).Select(t => Started(() =>
            {
                try
                {
                    using (RequestQueue queue = engine.CreateQueue())
                    {
                        for (int i = 0; i < 4; i++) queue.Submit(new Request(Given.Prompt) { Options = RequestTests.UpTo(25) });
                        var answers = new RequestTests.Answers();
                        RequestTests.Collect(queue, answers, 4);
                        Interlocked.Add(ref n_whole, answers.Values.Count(answer => answer.Tokens.SequenceEqual(want)));
                    }
                }
                catch (Exception thrown) { problem = thrown.ToString(); }
            })).ToArray();
            foreach (Thread thread in threads) Expect.True(thread.Join(RequestTests.Limit), "it ends");
            Expect.Equal("", problem, "problem");
            Expect.Equal(48, n_whole, "answers that are whole");
        }
    }

    // Some submit and others wait and poll, all at one queue; events of a request that two threads polled are put in their order.
    public static void ManyThreadsShareAQueue()
    {
        const int n_threads = 4, n_each = 12;
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(4)))
        using (RequestQueue queue = engine.CreateQueue())
        {
            int[] want = Given.Reply(engine, 15);
            engine.SetThread(new ThreadOptions());
            var found = new SortedDictionary<ulong, KeyValuePair<ulong, int[]>>();
            int n_ends = 0;
            string problem = "";
            Action collects = () =>
            {
                try
                {
                    var events = new RequestEvents(2, 5, 64);
                    while (Volatile.Read(ref n_ends) < n_threads * n_each)
                    {
                        if (!queue.Wait(TimeSpan.FromMilliseconds(20))) continue;
                        queue.Poll(events);
                        foreach (RequestEvent next in events)
                        {
                            int[] tokens = Enumerable.Range(0, next.TokenCount).Select(i => next.GetToken(i).Token).ToArray();
                            lock (found) found.Add(next.Number, new KeyValuePair<ulong, int[]>(next.Request, tokens));
                            if (next.IsEnd) Interlocked.Increment(ref n_ends);
                        }
                    }
                }
                catch (Exception thrown) { problem = thrown.ToString(); }
            };
            Action submits = () => { for (int i = 0; i < n_each; i++) queue.Submit(new Request(Given.Prompt) { Options = RequestTests.UpTo(15) }); };
            Thread[] threads = Enumerable.Range(0, 2 * n_threads).Select(t => Started(t % 2 == 0 ? submits : collects)).ToArray();
            foreach (Thread thread in threads) Expect.True(thread.Join(RequestTests.Limit), "it ends");
            Expect.Equal("", problem, "problem");
            Expect.Equal((ulong)found.Count, found.Keys.Max(), "sequence numbers without a gap");
            foreach (var own in found.Values.GroupBy(pair => pair.Key, pair => pair.Value))
                Expect.Sequence(want, own.SelectMany(tokens => tokens).ToArray(), "tokens");
        }
    }

    public static void TwoThreadsInRunAreOneTooMany()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(4)))
        using (RequestQueue queue = engine.CreateQueue())
        {
            int n_busy = 0, n_wrong = 0;
            bool ends = false;
            Thread[] others = Enumerable.Range(0, 3).Select(t => Started(() =>
            {
                while (!Volatile.Read(ref ends))
                {
                    try { engine.Run(TimeSpan.Zero); }
                    catch (InlayException problem)
                    {
                        if (problem.Status == Status.Busy) Interlocked.Increment(ref n_busy);
                        else Interlocked.Increment(ref n_wrong);
                    }
                }
            })).ToArray();
            var watch = Stopwatch.StartNew();
            var events = new RequestEvents();
            while (Volatile.Read(ref n_busy) == 0 && watch.ElapsedMilliseconds < RequestTests.Limit)
            {
                queue.Submit(RequestTests.Endless());
                try { engine.Run(); }
                catch (InlayException problem) when (problem.Status == Status.Busy) { Interlocked.Increment(ref n_busy); }
                while (queue.Poll(events) > 0) { }
            }
            Volatile.Write(ref ends, true);
            foreach (Thread thread in others) Expect.True(thread.Join(RequestTests.Limit), "it ends");
            Expect.Equal(0, n_wrong, "other failures");
            Expect.True(n_busy > 0, "none was refused");
        }
    }

    public static void OneThreadAtATimePollsIntoEvents()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            var events = new RequestEvents();
            int n_refused = 0, n_wrong = 0;
            Thread[] threads = Enumerable.Range(0, 4).Select(t => Started(() =>
            {
                for (int i = 0; i < 50000 && Volatile.Read(ref n_refused) == 0; i++)
                {
                    try { queue.Poll(events); }
                    catch (InvalidOperationException) { Interlocked.Increment(ref n_refused); }
                    catch (Exception) { Interlocked.Increment(ref n_wrong); }
                }
            })).ToArray();
            foreach (Thread thread in threads) Expect.True(thread.Join(RequestTests.Limit), "it ends");
            Expect.Equal(0, n_wrong, "other exceptions");
            Expect.Equal(0, queue.Poll(events), "one alone");
        }
    }

    public static void SessionsGoOnBesideThem()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(3)))
        using (RequestQueue queue = engine.CreateQueue())
        {
            int[] want = Given.Reply(engine, 30);
            engine.SetThread(new ThreadOptions());
            for (int i = 0; i < 12; i++) queue.Submit(new Request(Given.Prompt) { Options = RequestTests.UpTo(30) });
            for (int i = 0; i < 4; i++) Expect.Sequence(want, Given.Reply(engine, 30), "a session");
            var answers = new RequestTests.Answers();
            RequestTests.Collect(queue, answers, 12);
            foreach (RequestTests.Answer answer in answers.Values) Expect.Sequence(want, answer.Tokens.ToArray(), "a request");
        }
    }
}
