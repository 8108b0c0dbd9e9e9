// Runs the tests of the binding: every public static method without parameters of a class whose name ends in Tests.
// usage: Tests [FILTER]     runs those whose Class.Method contains FILTER
// Environment: INLAY_LIBRARY, INLAY_TEST_MODEL, INLAY_TEST_DEVICE (cpu, cuda or reference; default cpu).
using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using Inlay;

sealed class CheckFailed : Exception
{
    internal CheckFailed(string message) : base(message) { }
}

sealed class Skipped : Exception
{
    internal Skipped(string reason) : base(reason) { }
}

/// <summary>Only run when the filter names the class.</summary>
[AttributeUsage(AttributeTargets.Class)]
sealed class OnRequestAttribute : Attribute { }

static class Expect
{
    internal static void True(bool holds, string what)
    {
        if (!holds) throw new CheckFailed(what);
    }

    internal static void Equal<T>(T want, T got, string what)
    {
        if (!Equals(want, got)) throw new CheckFailed(what + ": expected " + want + ", got " + got);
    }

    internal static void Sequence(int[] want, int[] got, string what)
    {
        if (!want.SequenceEqual(got)) throw new CheckFailed(what + ": expected " + string.Join(" ", want) + ", got " + string.Join(" ", got));
    }

    internal static void Contains(string part, string whole)
    {
        if (!whole.Contains(part)) throw new CheckFailed("no '" + part + "' in: " + whole);
    }

    internal static T Throws<T>(Action action, string what) where T : Exception
    {
        try { action(); }
        catch (T expected) { return expected; }
        catch (Exception other) { throw new CheckFailed(what + ": expected " + typeof(T).Name + ", got " + other); }
        throw new CheckFailed(what + ": expected " + typeof(T).Name + ", nothing was thrown");
    }

    internal static InlayException Status(Status status, Action action, string what)
    {
        InlayException problem = Throws<InlayException>(action, what);
        Equal(status, problem.Status, what + ": " + problem.Message);
        Contains(status.ToString(), problem.Message);
        return problem;
    }
}

// One stop text, which a generation reads when its turn has come, before its prompt: then this tells.
sealed class TellingStop : IList<string>
{
    readonly Action _tell;

    internal TellingStop(Action tell) { _tell = tell; }

    public int Count
    {
        get
        {
            _tell();
            return 1;
        }
    }

    public string this[int index] { get { return "that no text has"; } set { throw new NotSupportedException(); } }
    public IEnumerator<string> GetEnumerator() { return ((IEnumerable<string>)new[] { this[0] }).GetEnumerator(); }
    IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }
    public bool IsReadOnly { get { return true; } }
    public int IndexOf(string text) { return text == this[0] ? 0 : -1; }
    public bool Contains(string text) { return IndexOf(text) == 0; }
    public void CopyTo(string[] into, int at) { into[at] = this[0]; }
    public void Add(string text) { throw new NotSupportedException(); }
    public void Clear() { throw new NotSupportedException(); }
    public void Insert(int at, string text) { throw new NotSupportedException(); }
    public bool Remove(string text) { throw new NotSupportedException(); }
    public void RemoveAt(int at) { throw new NotSupportedException(); }
}

static class Given
{
    internal static readonly string Model = Environment.GetEnvironmentVariable("INLAY_TEST_MODEL");

    internal static readonly DeviceKind Device =
        (DeviceKind)Enum.Parse(typeof(DeviceKind), Environment.GetEnvironmentVariable("INLAY_TEST_DEVICE") ?? "cpu", true);

    internal static readonly int[] Prompt = { 2043, 100, 200, 300, 400, 500 };

    internal static LoadOptions Options { get { return new LoadOptions { Device = Device, ContextLength = 256, Threads = 2 }; } }

    internal static Engine Engine() { return Inlay.Engine.Load(Model, Options); }

    internal static SessionOptions Endless { get { return new SessionOptions { Flags = SessionFlags.IgnoreEndOfGeneration }; } }

    internal static SessionOptions Hot(ulong seed, ulong stream = 0)
    {
        SessionOptions options = Endless;
        options.Sampler = new SamplerOptions { Temperature = 1.5f, Seed = seed };
        options.Stream = stream;
        return options;
    }

    internal static int[] Draw(Session session, int n)
    {
        var tokens = new int[n];
        for (int i = 0; i < n; i++) tokens[i] = session.DecodeStep().Token;
        return tokens;
    }

    /// <summary>What a session says greedily after the prompt.</summary>
    internal static int[] Reply(Engine engine, int n)
    {
        using (Session session = engine.CreateSession(Endless))
        {
            session.Prefill(Prompt);
            return Draw(session, n);
        }
    }

    /// <summary>How many dead objects may be kept: Mono's collector reads stacks conservatively, and a stale word can look like a reference.</summary>
    internal static readonly int Stale = Type.GetType("Mono.Runtime") == null ? 0 : 2;

    /// <summary>Overwrites what earlier calls left on the stack below the caller's frame, where later calls will have theirs.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static unsafe int ScrubStack()
    {
        const int size = 128 << 10;
        byte* words = stackalloc byte[size];
        int sum = 0;
        for (int i = 0; i < size; i++) words[i] = 0;
        for (int i = 0; i < size; i += 512) sum += words[i];
        return sum;
    }

    /// <summary>Lets finalizers free what is not referred to any more.</summary>
    internal static void CollectGarbage()
    {
        ScrubStack();
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    /// <summary>What `made` makes and drops is collected within some seconds. Where stacks are read conservatively a stale word on a thread
    /// that sleeps can keep one object as long as it likes: so there it is tried with up to five.</summary>
    internal static void IsCollected(Func<WeakReference> made, string what, int seconds = 10)
    {
        for (int attempts = Stale == 0 ? 1 : 5; attempts > 0; attempts--)
        {
            WeakReference one = made();
            var watch = Stopwatch.StartNew();
            while (one.IsAlive && watch.ElapsedMilliseconds < seconds * 1000)
            {
                CollectGarbage();
                System.Threading.Thread.Sleep(1);
            }
            if (!one.IsAlive) return;
        }
        Expect.True(false, what);
    }

    /// <summary>What `bytes_of` gives is 0. Where another thread's collection comes between, Mono's count is wrong by the part of the nursery
    /// that this thread had: then it is measured again.</summary>
    internal static void AllocatesNothing(Func<long> bytes_of, string what)
    {
        long bytes = 0;
        for (int i = 0; i < 10; i++)
        {
            int collections = GC.CollectionCount(0);
            bytes = bytes_of();
            if (bytes == 0 || collections == GC.CollectionCount(0)) break;
        }
        Expect.Equal(0L, bytes, what);
    }
}

static class Runner
{
    static int n_passed, n_failed, n_skipped;

    static void Run(MethodInfo test, string name)
    {
        Given.ScrubStack();
        var watch = Stopwatch.StartNew();
        try
        {
            ((Action)Delegate.CreateDelegate(typeof(Action), test))();
            n_passed++;
            Console.WriteLine("ok      {0} ({1} ms)", name, watch.ElapsedMilliseconds);
        }
        catch (Skipped skipped)
        {
            n_skipped++;
            Console.WriteLine("skipped {0}: {1}", name, skipped.Message);
        }
        catch (Exception problem)
        {
            n_failed++;
            Console.WriteLine("FAILED  {0}: {1}", name, problem is CheckFailed ? problem.Message : problem.ToString());
        }
    }

    static int Main(string[] args)
    {
        string filter = args.Length > 0 ? args[0] : "";
        foreach (Type type in Assembly.GetExecutingAssembly().GetTypes().Where(t => t.Name.EndsWith("Tests")).OrderBy(t => t.Name))
        {
            bool on_request = type.GetCustomAttributes(typeof(OnRequestAttribute), false).Length > 0;
            if (on_request && !filter.StartsWith(type.Name)) continue;
            foreach (MethodInfo test in type.GetMethods(BindingFlags.Public | BindingFlags.Static))
            {
                string name = type.Name + "." + test.Name;
                if (name.Contains(filter)) Run(test, name);
            }
        }
        Console.WriteLine("{0} passed, {1} failed, {2} skipped", n_passed, n_failed, n_skipped);
        Given.CollectGarbage();
        System.Threading.Thread.Sleep(200); // Mono 6.8 fails an assertion of its own (exception.c:109) where threads come or throw while it ends
        return n_failed == 0 && n_passed > 0 ? 0 : 1;
    }
}

/// <summary>Shows that the runner and its checks notice what is wrong: exactly these many must fail.</summary>
[OnRequest]
static class WrongTests
{
    public static void True() { Expect.True(false, "a false statement"); }
    public static void Equal() { Expect.Equal(1, 2, "different numbers"); }
    public static void Sequence() { Expect.Sequence(new[] { 1, 2 }, new[] { 1, 3 }, "different tokens"); }
    public static void Contains() { Expect.Contains("a", "bcd"); }
    public static void ThrowsNothing() { Expect.Throws<InlayException>(() => { }, "nothing"); }
    public static void ThrowsOther() { Expect.Throws<InlayException>(() => { throw new FormatException(); }, "another exception"); }
    public static void Status() { Expect.Status(Inlay.Status.Io, () => Engine.Load("no/such/model"), "another status"); }
    public static void Crash() { throw new InvalidOperationException("unexpected"); }
}
