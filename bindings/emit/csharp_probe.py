"""tests/bindings/csharp/LayoutProbe.cs: prints what a C# runtime makes of the raw layer, in the canonical text of emit/layout.py."""

from api_model import Api, Field, Struct
from emit import csharp_types as cs

HEAD = """\
// Prints the size and offset of every struct field and the value of every constant as the C# runtime sees them.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
using System;
using System.Reflection;
using System.Runtime.InteropServices;
using Inlay;
using Inlay.Raw;

static unsafe class LayoutProbe
{
    static void Constant(string name, long value) { Console.Write("constant {0} {1}\\n", name, value); }

    static void Enumeration(string name, Type type)
    {
        Console.Write("enum {0} size {1}\\n", name, Marshal.SizeOf(Enum.GetUnderlyingType(type)));
    }

    static int SizeOf(Type type)
    {
        if (type.IsPointer) return IntPtr.Size;
        return Marshal.SizeOf(type.IsEnum ? Enum.GetUnderlyingType(type) : type);
    }

    static void Field(Type type, string name, void* start, void* field)
    {
        FieldInfo info = type.GetField(name);
        long offset = (byte*)field - (byte*)start;
        Console.Write("field {0}.{1} offset {2} size {3}\\n", type.Name, name, offset, SizeOf(info.FieldType));
    }

    static void Struct(Type type, int size, long align)
    {
        Console.Write("struct {0} size {1} align {2}\\n", type.Name, size, align);
    }
"""


def emit(api: Api) -> str:
    out = [HEAD]
    for s in api.structs:
        out += [*struct_lines(api, s), ""]
    out += ["    static void Main()", "    {"]
    out += [f'        Constant("{c.name}", Api.{c.name});' for c in api.constants]
    for e in api.enums:
        name = cs.enum_name(e)
        out.append(f'        Enumeration("{e.name}", typeof({name}));')
        out += [f'        Constant("{e.prefix}{v.name}", (long){name}.{cs.pascal(v.name)});' for v in e.values]
    out += [f"        Print_{s.name}();" for s in api.structs]
    return "\n".join([*out, "    }", "}", ""])


def struct_lines(api: Api, s: Struct) -> list[str]:
    out = [f"    struct Behind_{s.name} {{ public byte Before; public {s.name} Value; }}", "",
           f"    static void Print_{s.name}()", "    {",
           f"        var behind = default(Behind_{s.name});",
           f"        Struct(typeof({s.name}), sizeof({s.name}), (byte*)&behind.Value - (byte*)&behind);",
           f"        {s.name}* p = &behind.Value;"]
    out += [f'        Field(typeof({s.name}), "{f.name}", p, {address(api, f)});' for f in s.fields]
    return [*out, "    }"]


def address(api: Api, f: Field) -> str:
    # An inline array of numbers already is a pointer to its first element.
    inline = f.count != 1 and not cs.is_struct_array(api, f)
    return f"{'' if inline else '&'}p->{cs.identifier(f.name)}"
