// Which of the requests that wait comes first.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using Inlay;

static class RequestOrderTests
{
    // One session's room: who has more comes first, then who has the earlier deadline.
    public static void PriorityAndDeadlineOrder()
    {
        for (int tries = 0; !OrderIsRight(); tries++) Expect.True(tries < 20, "the machine is too slow to see an order");
    }

    // False where it took so long that those who wait had risen by a level.
    static bool OrderIsRight()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(1)))
        using (RequestQueue queue = engine.CreateQueue())
        {
            var watch = Stopwatch.StartNew();
            Func<int, int?, ulong> submit = (priority, seconds) => queue.Submit(new Request(Given.Prompt)
            {
                Options = RequestTests.UpTo(2), Priority = priority, Deadline = seconds == null ? (TimeSpan?)null : TimeSpan.FromSeconds(seconds.Value)
            });
            ulong plain = submit(0, null), late = submit(0, 1000), soon = submit(0, 10), high = submit(7, null);
            var order = new List<ulong>();
            var events = new RequestEvents();
            while (order.Count < 4)
            {
                engine.Run(null, null, RunFlags.OneStep);
                queue.Poll(events);
                foreach (RequestEvent next in events) if (next.IsEnd) order.Add(next.Request);
            }
            if (watch.ElapsedMilliseconds >= 200) return false;
            Expect.Equal(string.Join(" ", high, soon, late, plain), string.Join(" ", order), "order");
            return true;
        }
    }
}
