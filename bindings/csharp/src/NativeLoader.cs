using System;
using System.Runtime.InteropServices;

namespace Inlay
{
    /// <summary>Opens a shared library by path or name with the platform's own loader, and finds functions in it.</summary>
    internal static class NativeLoader
    {
#if NET5_0_OR_GREATER
        /// <summary>Returns zero and says why if it cannot be opened.</summary>
        internal static IntPtr Open(string name, out string reason)
        {
            reason = null;
            try { return NativeLibrary.Load(name); }
            catch (Exception problem) when (problem is DllNotFoundException || problem is BadImageFormatException)
            {
                reason = problem.Message;
                return IntPtr.Zero;
            }
        }

        internal static IntPtr Find(IntPtr library, string function)
        {
            IntPtr address;
            return NativeLibrary.TryGetExport(library, function, out address) ? address : IntPtr.Zero;
        }
#else
        private const int Now = 2; // RTLD_NOW, the same on Linux and macOS; local scope is the default

        private static readonly IPlatform Platform = IsWindows ? new Windows() : FindUnix();

        /// <summary>Returns zero and says why if it cannot be opened.</summary>
        internal static IntPtr Open(string name, out string reason) { return Platform.Open(name, out reason); }

        internal static IntPtr Find(IntPtr library, string function) { return Platform.Find(library, function); }

        private interface IPlatform
        {
            IntPtr Open(string name, out string reason);
            IntPtr Find(IntPtr library, string function);
        }

        private sealed class Windows : IPlatform
        {
            [DllImport("kernel32", CharSet = CharSet.Unicode, SetLastError = true, ExactSpelling = true)]
            private static extern IntPtr LoadLibraryW(string path);

            [DllImport("kernel32", CharSet = CharSet.Ansi, ExactSpelling = true, BestFitMapping = false)]
            private static extern IntPtr GetProcAddress(IntPtr module, string name);

            public IntPtr Open(string name, out string reason)
            {
                IntPtr library = LoadLibraryW(name);
                reason = library == IntPtr.Zero ? "Windows error " + Marshal.GetLastWin32Error() : null;
                return library;
            }

            public IntPtr Find(IntPtr library, string function) { return GetProcAddress(library, function); }
        }

        // dlopen lies in libdl.so.2 of glibc and in libdl.so of Android; elsewhere in libdl or libc.
        private static IPlatform FindUnix()
        {
            foreach (IUnix unix in new IUnix[] { new LibDl2(), new LibDl(), new LibC() })
            {
                try
                {
                    unix.Error();
                    return new Unix(unix);
                }
                catch (DllNotFoundException) { }
                catch (EntryPointNotFoundException) { }
            }
            throw new PlatformNotSupportedException("this platform has no dlopen");
        }

        private interface IUnix
        {
            IntPtr Open(byte[] path);
            IntPtr Find(IntPtr library, byte[] name);
            IntPtr Error();
        }

        private sealed class Unix : IPlatform
        {
            private readonly IUnix _functions;

            internal Unix(IUnix functions) { _functions = functions; }

            public IntPtr Open(string name, out string reason)
            {
                IntPtr library = _functions.Open(Utf8.Terminated(name));
                reason = library == IntPtr.Zero ? Utf8.FromTerminated(_functions.Error()) : null;
                return library;
            }

            public IntPtr Find(IntPtr library, string function) { return _functions.Find(library, Utf8.Terminated(function)); }
        }

        private sealed class LibDl2 : IUnix
        {
            [DllImport("libdl.so.2")] private static extern IntPtr dlopen(byte[] path, int mode);
            [DllImport("libdl.so.2")] private static extern IntPtr dlsym(IntPtr library, byte[] name);
            [DllImport("libdl.so.2")] private static extern IntPtr dlerror();
            public IntPtr Open(byte[] path) { return dlopen(path, Now); }
            public IntPtr Find(IntPtr library, byte[] name) { return dlsym(library, name); }
            public IntPtr Error() { return dlerror(); }
        }

        private sealed class LibDl : IUnix
        {
            [DllImport("libdl")] private static extern IntPtr dlopen(byte[] path, int mode);
            [DllImport("libdl")] private static extern IntPtr dlsym(IntPtr library, byte[] name);
            [DllImport("libdl")] private static extern IntPtr dlerror();
            public IntPtr Open(byte[] path) { return dlopen(path, Now); }
            public IntPtr Find(IntPtr library, byte[] name) { return dlsym(library, name); }
            public IntPtr Error() { return dlerror(); }
        }

        private sealed class LibC : IUnix
        {
            [DllImport("libc")] private static extern IntPtr dlopen(byte[] path, int mode);
            [DllImport("libc")] private static extern IntPtr dlsym(IntPtr library, byte[] name);
            [DllImport("libc")] private static extern IntPtr dlerror();
            public IntPtr Open(byte[] path) { return dlopen(path, Now); }
            public IntPtr Find(IntPtr library, byte[] name) { return dlsym(library, name); }
            public IntPtr Error() { return dlerror(); }
        }
#endif

        internal static bool IsWindows
        {
            get { return Environment.OSVersion.Platform == PlatformID.Win32NT; }
        }
    }
}
