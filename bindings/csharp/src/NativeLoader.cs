using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Inlay
{
    /// <summary>Opens a shared library by path or name with the platform's own loader, and finds functions in it.</summary>
    internal static class NativeLoader
    {
        private const int Now = 2; // RTLD_NOW, the same on Linux and macOS; local scope is the default

        private static readonly IPlatform Platform = IsWindows ? new Windows() : FindUnix();

#if NET5_0_OR_GREATER
        // Looked for as the runtime looks for libraries of this assembly: the host's resolver is asked, then the folders of
        // the program's packages, of a single file's unpacked content, and of the assembly.
        [DllImport("inlay", EntryPoint = "inlay_version_string")]
        private static extern IntPtr VersionText();

        // On Windows the runtime adds no "lib" to a name, and inlay.dll is this assembly itself.
        [DllImport("libinlay", EntryPoint = "inlay_version_string")]
        private static extern IntPtr VersionTextOnWindows();

        /// <summary>Returns zero and says why if the runtime does not find the library.</summary>
        internal static IntPtr OpenAsPackage(out string? path, out string? reason)
        {
            path = null;
            reason = "the runtime finds no library '" + (IsWindows ? "libinlay" : "inlay") + "' for this assembly";
            try { path = Platform.FileOf(IsWindows ? VersionTextOnWindows() : VersionText()); }
            catch (DllNotFoundException) { }
            catch (EntryPointNotFoundException problem) { reason = problem.Message; }
            catch (BadImageFormatException problem) { reason = problem.Message; }
            return path == null ? IntPtr.Zero : Open(path, out reason);
        }
#endif

        /// <summary>Returns zero and says why if it cannot be opened.</summary>
        internal static IntPtr Open(string name, out string? reason)
        {
#if NET5_0_OR_GREATER
            IntPtr library;
            reason = null;
            if (!Path.IsPathRooted(name) && NativeLibrary.TryLoad(name, typeof(NativeLoader).Assembly, null, out library)) return library;
#endif
            return Platform.Open(name, out reason);
        }

        internal static IntPtr Find(IntPtr library, string function) { return Platform.Find(library, function); }

        /// <summary>The file that holds this address, or null if the platform does not say.</summary>
        internal static string? FileOf(IntPtr address) { return Platform.FileOf(address); }

        private interface IPlatform
        {
            IntPtr Open(string name, out string? reason);
            IntPtr Find(IntPtr library, string function);
            string? FileOf(IntPtr address);
        }

        private sealed class Windows : IPlatform
        {
            [DllImport("kernel32", CharSet = CharSet.Unicode, SetLastError = true, ExactSpelling = true)]
            private static extern IntPtr LoadLibraryW(string path);

            [DllImport("kernel32", CharSet = CharSet.Ansi, ExactSpelling = true, BestFitMapping = false)]
            private static extern IntPtr GetProcAddress(IntPtr module, string name);

            public IntPtr Open(string name, out string? reason)
            {
                IntPtr library = LoadLibraryW(name);
                reason = library == IntPtr.Zero ? "Windows error " + Marshal.GetLastWin32Error() : null;
                return library;
            }

            [DllImport("kernel32", SetLastError = true, ExactSpelling = true)]
            private static extern int GetModuleHandleExW(int flags, IntPtr address, out IntPtr module);

            [DllImport("kernel32", CharSet = CharSet.Unicode, SetLastError = true, ExactSpelling = true)]
            private static extern int GetModuleFileNameW(IntPtr module, [Out] char[] path, int size);

            private const int FromAddress = 4, UnchangedCount = 2;

            public IntPtr Find(IntPtr library, string function) { return GetProcAddress(library, function); }

            public string? FileOf(IntPtr address)
            {
                IntPtr module;
                var path = new char[32768];
                if (GetModuleHandleExW(FromAddress | UnchangedCount, address, out module) == 0) return null;
                int n = GetModuleFileNameW(module, path, path.Length);
                return n > 0 && n < path.Length ? new string(path, 0, n) : null;
            }
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
            int Locate(IntPtr address, out Location location);
        }

        // Dl_info
        [StructLayout(LayoutKind.Sequential)]
        private struct Location
        {
            internal IntPtr File, Base, Symbol, SymbolAddress;
        }

        private sealed class Unix : IPlatform
        {
            private readonly IUnix _functions;

            internal Unix(IUnix functions) { _functions = functions; }

            public IntPtr Open(string name, out string? reason)
            {
                IntPtr library = _functions.Open(Utf8.Terminated(name));
                reason = library == IntPtr.Zero ? Utf8.FromTerminated(_functions.Error()) : null;
                return library;
            }

            public IntPtr Find(IntPtr library, string function) { return _functions.Find(library, Utf8.Terminated(function)); }

            public string? FileOf(IntPtr address)
            {
                Location location;
                try
                {
                    if (_functions.Locate(address, out location) == 0 || location.File == IntPtr.Zero) return null;
                }
                catch (EntryPointNotFoundException) { return null; }
                string file = Utf8.FromTerminated(location.File);
                return Path.IsPathRooted(file) ? file : null;
            }
        }

        private sealed class LibDl2 : IUnix
        {
            [DllImport("libdl.so.2")] private static extern IntPtr dlopen(byte[] path, int mode);
            [DllImport("libdl.so.2")] private static extern IntPtr dlsym(IntPtr library, byte[] name);
            [DllImport("libdl.so.2")] private static extern IntPtr dlerror();
            [DllImport("libdl.so.2")] private static extern int dladdr(IntPtr address, out Location location);
            public IntPtr Open(byte[] path) { return dlopen(path, Now); }
            public IntPtr Find(IntPtr library, byte[] name) { return dlsym(library, name); }
            public IntPtr Error() { return dlerror(); }
            public int Locate(IntPtr address, out Location location) { return dladdr(address, out location); }
        }

        private sealed class LibDl : IUnix
        {
            [DllImport("libdl")] private static extern IntPtr dlopen(byte[] path, int mode);
            [DllImport("libdl")] private static extern IntPtr dlsym(IntPtr library, byte[] name);
            [DllImport("libdl")] private static extern IntPtr dlerror();
            [DllImport("libdl")] private static extern int dladdr(IntPtr address, out Location location);
            public IntPtr Open(byte[] path) { return dlopen(path, Now); }
            public IntPtr Find(IntPtr library, byte[] name) { return dlsym(library, name); }
            public IntPtr Error() { return dlerror(); }
            public int Locate(IntPtr address, out Location location) { return dladdr(address, out location); }
        }

        private sealed class LibC : IUnix
        {
            [DllImport("libc")] private static extern IntPtr dlopen(byte[] path, int mode);
            [DllImport("libc")] private static extern IntPtr dlsym(IntPtr library, byte[] name);
            [DllImport("libc")] private static extern IntPtr dlerror();
            [DllImport("libc")] private static extern int dladdr(IntPtr address, out Location location);
            public IntPtr Open(byte[] path) { return dlopen(path, Now); }
            public IntPtr Find(IntPtr library, byte[] name) { return dlsym(library, name); }
            public IntPtr Error() { return dlerror(); }
            public int Locate(IntPtr address, out Location location) { return dladdr(address, out location); }
        }
        internal static bool IsWindows
        {
            get { return Environment.OSVersion.Platform == PlatformID.Win32NT; }
        }
    }
}
