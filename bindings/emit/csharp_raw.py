"""bindings/csharp/src/Raw.cs: enums, structs as they lie in memory, and every function through a pointer of the loaded library.

Structs and functions keep their C names; enums, which the upper layer shares, have C# ones.
"""

from api_model import Api, Callback, Enum, Field, Function, Handle, Struct
from emit import csharp_types as cs

HEAD = """\
// The C interface as C# sees it. Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
using System;
using System.Runtime.InteropServices;
"""


def emit(api: Api) -> str:
    out = [HEAD, "namespace Inlay", "{"]
    for enum in api.enums:
        out += enum_lines(enum)
    out[-1:] = ["}", "", "namespace Inlay.Raw", "{"]
    for callback in api.callbacks:
        out += callback_lines(api, callback)
    for struct in api.structs:
        out += struct_lines(api, struct)
    for handle in api.handles:
        out += handle_lines(handle)
    return "\n".join([*out, *api_class(api), "}", ""])


def enum_lines(enum: Enum) -> list[str]:
    out = cs.xml("summary", enum.doc, "    ")
    out += ["    [Flags]"] if enum.flags else []
    out += [f"    public enum {cs.enum_name(enum)} : {'uint' if enum.flags else 'int'}", "    {"]
    if enum.flags and all(v.name != "NONE" for v in enum.values):
        out += [*cs.xml("summary", "None of them.", " " * 8), "        None = 0,"]
    for v in enum.values:
        out += [*cs.xml("summary", v.doc, " " * 8), f"        {cs.pascal(v.name)} = {v.value},"]
    return [*out, "    }", ""]


def callback_lines(api: Api, callback: Callback) -> list[str]:
    params = ", ".join(f"{cs.param_type(api, p)} {cs.identifier(p.name)}" for p in callback.params)
    out = cs.xml("summary", callback.doc, "    ")
    for p in callback.params:
        out += cs.xml("param", p.doc, "    ", f' name="{p.name}"')
    return [*out, "    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]",
            f"    public unsafe delegate {cs.RETURNS[callback.returns]} {callback.name}({params});", ""]


def array_name(struct: Struct, f: Field) -> str:
    return f"{struct.name}_{f.name}_array"


def struct_lines(api: Api, struct: Struct) -> list[str]:
    out = []
    for f in (f for f in struct.fields if cs.is_struct_array(api, f)):
        # C# has inline arrays of numbers only: one element and the size of all give the same bytes.
        out += [*cs.xml("summary", f"The {f.count} elements of {struct.name}.{f.name}, one behind the other.", "    "),
                f"    [StructLayout(LayoutKind.Sequential, Size = {f.size})]", f"    public struct {array_name(struct, f)}", "    {",
                "        /// <summary>The first element.</summary>", f"        public {cs.base(api, f.type)} first;", "    }", ""]
    out += [*cs.xml("summary", struct.doc, "    "), "    [StructLayout(LayoutKind.Sequential)]",
            f"    public unsafe struct {struct.name}", "    {"]
    for f in struct.fields:
        notes = f.notes()
        out += cs.xml("summary", f.doc + (f" [{notes}]" if notes else ""), " " * 8)
        out.append(f"        public {field_declaration(api, struct, f)};")
    return [*out, "    }", ""]


def field_declaration(api: Api, struct: Struct, f: Field) -> str:
    name = cs.identifier(f.name)
    if cs.is_struct_array(api, f):
        return f"{array_name(struct, f)} {name}"
    if f.count != 1:
        return f"fixed {cs.base(api, f.type)} {name}[{'Api.' + f.count_name if f.count_name else f.count}]"
    return f"{cs.field_type(api, f)} {name}"


def handle_lines(handle: Handle) -> list[str]:
    name = cs.handle_name(handle)
    parent = f" It keeps its {handle.parent} alive." if handle.parent else ""
    return [*cs.xml("summary", f"{handle.doc}{parent} Freed with {handle.free}, when nobody uses it any more.", "    "),
            f"    public sealed class {name} : SafeHandle", "    {", "        private readonly Api _api;", "",
            *(["        internal Action? Freed;", ""] if handle.parent else []),
            f"        internal {name}(Api api) : base(IntPtr.Zero, true) {{ _api = api; }}", "",
            "        /// <inheritdoc/>", "        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }", "",
            "        internal void Set(IntPtr value) { SetHandle(value); }", "",
            "        /// <inheritdoc/>", "        protected override bool ReleaseHandle()", "        {",
            f"            _api.{handle.free}(handle);", *(["            if (Freed != null) Freed();"] if handle.parent else []), "            return true;", "        }", "    }", ""]


def parameters(api: Api, function: Function) -> list[tuple[str, str]]:
    out = [(cs.param_type(api, p), cs.identifier(p.name)) for p in function.params]
    return out + ([("inlay_error*", "err")] if function.fallible() else [])


def minor(function: Function) -> int:
    return int(function.since.split(".")[1])


def api_class(api: Api) -> list[str]:
    out = ["    /// <summary>The functions of a loaded library, under their C names. <see cref=\"Inlay.Library\"/> makes it.</summary>",
           "    public sealed unsafe class Api", "    {",
           "        /// <summary>The ABI that this file was generated from.</summary>",
           f"        public const int AbiMajor = {api.major};", "        /// <inheritdoc cref=\"AbiMajor\"/>",
           f"        public const int AbiMinor = {api.minor};"]
    for c in api.constants:
        out += [*cs.xml("summary", c.doc, " " * 8), f"        public const int {c.name} = {c.value};"]
    out += ["", "#if NET5_0_OR_GREATER"]
    out += [f"        private readonly {pointer_type(api, f)} _{f.name};" for f in api.functions]
    out += ["", *constructor([f"_{f.name} = ({pointer_type(api, f)})find(\"{f.name}\", {minor(f)});" for f in api.functions])]
    out += ["#else", "        private static class Signature", "        {"]
    for f in api.functions:
        params = ", ".join(f"{kind} {name}" for kind, name in parameters(api, f))
        out += ["            [UnmanagedFunctionPointer(CallingConvention.Cdecl)]",
                f"            internal delegate {cs.RETURNS[f.returns]} {f.name}({params});"]
    out += ["        }", "", *[f"        private readonly Signature.{f.name} _{f.name};" for f in api.functions]]
    out += ["", *constructor([f"_{f.name} = Bind<Signature.{f.name}>(find(\"{f.name}\", {minor(f)}));" for f in api.functions])]
    out += ["", "        private static T Bind<T>(IntPtr function) where T : class", "        {",
            "            return function == IntPtr.Zero ? null : Marshal.GetDelegateForFunctionPointer<T>(function);",
            "        }", "#endif"]
    for f in api.functions:
        out += ["", *function_lines(api, f)]
    return [*out, "    }"]


def pointer_type(api: Api, function: Function) -> str:
    types = [kind for kind, _ in parameters(api, function)] + [cs.RETURNS[function.returns]]
    return f"delegate* unmanaged[Cdecl]<{', '.join(types)}>"


def constructor(assignments: list[str]) -> list[str]:
    return ["        // `find` takes a name and the minor version since which there is a function of this name.",
            "        internal Api(Func<string, int, IntPtr> find)", "        {",
            *[f"            {line}" for line in assignments], "        }"]


def function_lines(api: Api, f: Function) -> list[str]:
    out = cs.xml("summary", f.doc, " " * 8)
    for p in f.params:
        unit = f" [{p.unit}]" if p.unit else ""
        nullable = " May be null." if p.nullable else ""
        out += cs.xml("param", p.doc + unit + nullable, " " * 8, f' name="{p.name}"')
    if f.fallible():
        out += cs.xml("param", "What went wrong. May be null.", " " * 8, ' name="err"')
    out += cs.xml("remarks", remarks(f), " " * 8)
    names = ", ".join(name for _, name in parameters(api, f))
    params = ", ".join(f"{kind} {name}" for kind, name in parameters(api, f))
    result = "" if f.returns == "void" else "return "
    out += [f"        public {cs.RETURNS[f.returns]} {f.name}({params})", "        {"]
    if minor(f) > 0:
        if not f.fallible() and f.returns != "void":
            raise ValueError(f"{f.name}: a function whose value is no status cannot be absent from an older library")
        refusal = f' Older.Refuse("{f.name}", "{f.since}", err)' if f.fallible() else ""
        out.append(f"            if (_{f.name} == null) return{refusal};")
    return [*out, f"            {result}_{f.name}({names});", "        }"]


def remarks(f: Function) -> str:
    blocks = f.blocks + ("; takes device memory" if f.device_memory else "")
    labels = [("Thread", f.thread), ("Blocks", blocks), ("Ownership", f.ownership)]
    if f.fallible():
        labels += [("On error", f.on_error), ("Errors", ", ".join(f.errors) or "only the common ones")]
    labels.append(("Since", f.since))
    return " ".join(f"{label}: {text.rstrip('.')}." for label, text in labels)
