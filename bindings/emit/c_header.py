"""include/capi/inlay.h: plain C11 and C++, self-contained."""

from api_model import Api, ApiError, Enum, Function, HEADER_DOC_LINES, Struct
from emit import c_types

PREFACE = """\
// Inlay: run a language model inside your program.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
//
// The simple case takes four calls and a session: inlay_load, inlay_prefill, inlay_decode_step, inlay_free.
//
// Holds for every function:
// - Calls that can fail return an inlay_status and describe the failure in `err`, which may be NULL. Any of them may return
//   INLAY_INVALID_ARGUMENT, INLAY_OUT_OF_MEMORY or INLAY_INTERNAL besides the errors that it names.
// - Thread: `any` may be called from any thread at any time; exclusive(x) while no other call uses x, apart from those of class
//   `any`. A second call on a session returns INLAY_BUSY and changes nothing; in a step of several sessions the event of that one
//   says so. Freeing waits for no call: one that is under way goes on to its end, but for
//   long texts: where the engine is freed while they become tokens, the call ends with INLAY_CANCELLED. No state belongs to a thread.
// - fork(): in the child, calls on handles that the parent made return INLAY_INVALID_STATE, and freeing them does nothing. It may
//   load its own, on the CPU, and call everything on that, whatever the parent's other threads were in at the fork. No child of a
//   process that used CUDA can. In a child of vfork() nothing may be called.
// - The process may end (exit, a return from main) while other threads are in calls: what they use stays until the process is gone.
// - Signal handlers may call inlay_session_cancel, and nothing else.
// - Structs: zero everything, then set struct_size. Zero is the default of every field. A shorter struct of an older header is
//   fine; of a newer one the fields that the library does not know must be zero in, and come back as zero.
// - Strings in: UTF-8 with a length, SIZE_MAX if a zero ends it. Strings out: the caller's buffer; a NULL buffer of size 0 asks for
//   the needed size. Lengths never count the zero.
// - Only handles have to be freed, in any order. What a call is given is not used after it returned, unless it says so.
// - Later minors may return numbers that this header does not have. An unknown status is a failure, an unknown finish reason an
//   end; an event or a part of a message of an unknown kind is to be skipped, an unknown state says nothing, a handle of an unknown
//   kind cannot be waited for. Unknown bits of flags and unknown members of JSON that the library writes are to be ignored.
// - Times in microseconds of params and requests are at most 2^60, 36,000 years; 0 is none.
// - Only calls marked so take device memory. Others may give some back and take it again, within the budget that was set at load.
// - Results do not depend on the thread's floating-point settings (rounding, denormals, traps). A call gives them back as they
//   were, with their sticky flags; callbacks run with them.
// - A thread inside of a call must not be cancelled (pthread_cancel), and no callback may end its thread or jump out: pthread_exit
//   or a cancellation inside of a callback ends the process; after longjmp the handle and the settings are undefined.
// - A call takes at most 96 KiB of its thread's stack; inlay_prefill, inlay_decode_step and inlay_decode_slice take 48. What
//   callbacks and a GPU's driver take comes on top.
// - Threads of the library are named inlay-..., have a stack of 1 MiB, take no signal that is meant for the host, and start with the
//   scheduling class and priority, the niceness and the affinity of the thread that made the call: for those that compute, the load.
//   They wait a moment for work without sleeping; under a real-time class they may keep lower threads from the processor meanwhile.
// - Files: a model's folder is opened once, and all of its files found in that one, wherever its path leads meanwhile. A file that is
//   written to while it is read is an INLAY_IO; it is told by its size and its time of last write, as finely as the file system has
//   them. A file that is written appears in its place when it is whole, with the time of its writing.
"""


def emit(api: Api) -> str:
    out = [PREFACE, "#ifndef INLAY_H", "#define INLAY_H", "", "#include <stddef.h>", "#include <stdint.h>", "",
           "#if UINTPTR_MAX < UINT64_MAX", '#error "Inlay supports 64-bit targets only"', "#endif", "",
           "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
           "#define INLAY_ABI_MAJOR " + str(api.major), "#define INLAY_ABI_MINOR " + str(api.minor), ""]
    for constant in api.constants:
        out += [*c_types.wrap(constant.doc, "// "), f"#define {constant.name} {constant.value}"]
    for enum in api.enums:
        out += ["", *enum_lines(enum)]
    for handle in api.handles:
        out += ["", *c_types.wrap(handle.doc, "// "), f"typedef struct {handle.name} {handle.name};"]
    for callback in api.callbacks:
        out += ["", *c_types.wrap(callback.doc, "// "), c_types.declaration(c_types.callback_typedef(api, callback))]
    for struct in api.structs:
        out += ["", *struct_lines(struct)]
    for group, functions in api.by_subject().items():
        out += ["", f"// ---- {group} " + "-" * (112 - len(group))]
        for function in functions:
            out += ["", *doc_lines(api, function), c_types.declaration(c_types.prototype(api, function) + ";")]
    out += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(out)


def enum_lines(enum: Enum) -> list[str]:
    out = [*c_types.wrap(enum.doc, "// "), f"typedef {'uint32_t' if enum.flags else 'int32_t'} {enum.name};"]
    for value in enum.values:
        number = f"{value.value}u" if enum.flags else f"({value.value})" if value.value < 0 else str(value.value)
        define = f"#define {enum.prefix}{value.name} {number}"
        line = f"{define}  // {value.doc}"
        out += [line] if len(line) <= 120 else [*c_types.wrap(value.doc, "// "), define]
    return out


def struct_lines(struct: Struct) -> list[str]:
    out = [*c_types.wrap(struct.doc, "// "), f"typedef struct {struct.name} {{"]
    for f in struct.fields:
        notes = f.notes()
        out += c_types.wrap(f.doc + (f" [{notes}]" if notes else ""), "  // ")
        out.append("  " + c_types.field_declaration(f))
    return [*out, f"}} {struct.name};"]


def doc_lines(api: Api, function: Function) -> list[str]:
    blocks = function.blocks + ("; takes device memory" if function.device_memory else "")
    labels = [("Thread", function.thread), ("Blocks", blocks), ("Ownership", function.ownership)]
    if function.fallible():
        labels += [("On error", function.on_error), ("Errors", ", ".join(function.errors) or "only the common ones")]
    else:
        labels += [("On error", "cannot fail"), ("Errors", "none")]
    labels.append(("Since", function.since))
    out = c_types.wrap(function.doc, "// ")
    for label, text in labels:
        out += c_types.wrap(f"{label}: {text.rstrip('.')}.", "// ")
    if len(out) > HEADER_DOC_LINES:
        raise ApiError(f"function {function.name}: {len(out)} lines of documentation, {HEADER_DOC_LINES} are allowed")
    return out
