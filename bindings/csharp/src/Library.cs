using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>The native library: where it comes from, its version, and the devices that it finds.</summary>
    /// <remarks>
    /// It is opened at the first use and stays open. In this order: the path given to <see cref="Load"/>; the path in the
    /// environment variable INLAY_LIBRARY; on .NET, where the runtime looks for libraries of this assembly, such as the
    /// program's packages, and the host's resolver; the platform's names, beside the program first and then wherever the
    /// system looks.
    /// A path that was given is the only one tried.
    /// </remarks>
    public static unsafe class Library
    {
        /// <summary>The environment variable that names the library file.</summary>
        public const string PathVariable = "INLAY_LIBRARY";

        private static readonly object Gate = new object();
        private static volatile Api? _api;
        private static string? _path;

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate uint VersionFunction();

        /// <summary>Opens the library. Needed only to give its path, or to meet a failure early.</summary>
        /// <param name="path">The file; null to look for it as usual.</param>
        /// <exception cref="DllNotFoundException">Nothing could be opened. The message lists what was tried and why it
        /// failed.</exception>
        /// <exception cref="InlayException">Status Unsupported: it is another library, or its ABI is too old or too
        /// new.</exception>
        /// <exception cref="InvalidOperationException">The library was already opened from another path.</exception>
        public static void Load(string? path = null)
        {
            lock (Gate)
            {
                if (_api == null)
                {
                    _api = Open(path, out _path);
                }
                else if (path != null && path != _path)
                {
                    throw new InvalidOperationException("the library is already open: " + _path);
                }
            }
        }

        /// <summary>All functions under their C names, for what the classes do not offer. Opens the library if need
        /// be.</summary>
        public static Api Api
        {
            get
            {
                if (_api == null) Load();
                return _api!;
            }
        }

        /// <summary>The path that was given, or the file that was found; its name where the platform does not say.</summary>
        public static string Path
        {
            get
            {
                Load();
                return _path!;
            }
        }

        /// <summary>The library's version, such as 0.1.0.</summary>
        public static string Version { get { return Utf8.FromTerminated(Api.inlay_version_string()); } }

        /// <summary>The ABI that the library offers: major x 65536 + minor.</summary>
        public static uint AbiVersion { get { return Api.inlay_abi_version(); } }

        /// <summary>A status as the C header writes it, without the prefix: KV_FULL.</summary>
        public static string StatusName(Status status) { return Utf8.FromTerminated(Api.inlay_status_name(status)); }

        /// <summary>The devices that can run a model; the first is the processor.</summary>
        public static IList<DeviceInfo> Devices
        {
            get
            {
                Api api = Api;
                var devices = new DeviceInfo[api.inlay_device_count()];
                for (int i = 0; i < devices.Length; i++)
                {
                    var raw = new inlay_device_info { struct_size = (uint)sizeof(inlay_device_info) };
                    inlay_error error;
                    Check.Ok(api.inlay_device_get(i, &raw, &error), ref error);
                    devices[i] = new DeviceInfo(ref raw);
                }
                return devices;
            }
        }

        private static List<string> Candidates()
        {
            var candidates = new List<string>();
            foreach (string name in PlatformNames) candidates.Add(System.IO.Path.Combine(AppDomain.CurrentDomain.BaseDirectory, name));
            candidates.AddRange(PlatformNames);
            return candidates;
        }

        private static string[] PlatformNames
        {
            get
            {
                if (NativeLoader.IsWindows) return new[] { "libinlay.dll" };
                bool is_mac = Directory.Exists("/System/Library");
                return is_mac ? new[] { "libinlay.1.dylib", "libinlay.dylib" } : new[] { "libinlay.so.1", "libinlay.so" };
            }
        }

        /// <summary>Opens the file that is given, or the first that is found; it must then be a library that serves this
        /// binding.</summary>
        private static Api Open(string? given, out string opened)
        {
            if (given == null) given = Environment.GetEnvironmentVariable(PathVariable);
            var tried = new StringBuilder();
            IntPtr library;
            if (!string.IsNullOrEmpty(given))
            {
                opened = given;
                library = OpenFile(given, tried);
                if (library != IntPtr.Zero) return Bind(given, library);
            }
            else
            {
#if NET5_0_OR_GREATER
                string? reason, package;
                library = NativeLoader.OpenAsPackage(out package, out reason);
                if (library != IntPtr.Zero) return Bind(opened = package!, library);
                tried.Append("\n  ").Append(reason);
#endif
                foreach (string name in Candidates())
                {
                    library = OpenFile(name, tried);
                    if (library == IntPtr.Zero) continue;
                    opened = NativeLoader.FileOf(NativeLoader.Find(library, "inlay_abi_version")) ?? name;
                    return Bind(opened, library);
                }
            }
            throw new DllNotFoundException("the Inlay library was not found; set " + PathVariable
                                           + " or call Library.Load with its path. Tried:" + tried);
        }

        /// <summary>Returns zero and adds a line that says why if it cannot be opened.</summary>
        private static IntPtr OpenFile(string path, StringBuilder tried)
        {
            string? reason;
            IntPtr library = NativeLoader.Open(path, out reason);
            if (library == IntPtr.Zero) tried.Append("\n  ").Append(reason!.Contains(path) ? reason : path + ": " + reason);
            return library;
        }

        private static Api Bind(string path, IntPtr library)
        {
            IntPtr version = NativeLoader.Find(library, "inlay_abi_version");
            if (version == IntPtr.Zero) throw new InlayException(Status.Unsupported, path + " is not an Inlay library");
            uint abi = Marshal.GetDelegateForFunctionPointer<VersionFunction>(version)();
            int major = (int)(abi >> 16), minor = (int)(abi & 0xffff);
            if (major != Api.AbiMajor)
            {
                throw new InlayException(Status.Unsupported, path + " offers ABI " + major + "." + minor
                                                                 + ", this program needs " + Api.AbiMajor + ".x");
            }
            return new Api((name, since) =>
            {
                IntPtr function = NativeLoader.Find(library, name);
                if (function == IntPtr.Zero && since <= minor)
                {
                    throw new InlayException(Status.Unsupported, path + " lacks the function " + name);
                }
                return function;
            });
        }
    }
}
