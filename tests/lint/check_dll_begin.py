#!/usr/bin/env python3
"""What a library for Windows runs under the loader's lock, where another library must not be waited for: no more than the tables below say.

usage: check_dll_begin.py NM OBJDUMP LIBRARY      LIBRARY: with its symbols, as it was linked

It reads the list of constructors, the callbacks of threads in the section .CRT, and DllMain. Of a constructor of ours, what it calls is checked,
too; of the others, what they are. Prints what is not in a table; exit code 1 if there is anything.
"""
import re
import subprocess
import sys

# Beginnings and ends of run-times, each with what it does.
CONSTRUCTORS = {
    "_mi_process_init": "mimalloc: asks the system for sizes and for random numbers, takes a slot for the ends of threads",
    "register_frame_ctor": "GCC: a function for the end",
    "_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv": "the C++ library: memory for exceptions when there is no other",
    "_GLOBAL__sub_I__ZSt20__throw_system_errori": "the C++ library: the ends of two categories of errors",
}
CALLBACKS = {"pre_c_init": "MinGW: an empty table of functions for the end", "__dyn_tls_init": "MinGW: variables of threads", "__dyn_tls_dtor": "MinGW: their ends",
             "__dyn_tls_pthread": "winpthreads: gives back what it keeps for a thread that ends"}
# What constructors of ours may call.
CALLS = {"_ZN5inlay3cpu9supportedENS0_3IsaE": "asks the processor", "_ZN5inlay3cpu7kernelsENS0_3IsaE": "takes a constant table",
         "GetModuleHandleExW": "src/capi/pinned_windows.cpp"}


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Library:
    def __init__(self, nm, objdump, path):
        self.objdump, self.path = objdump, path
        self.names, self.addresses = {}, {}
        for address, name in re.findall(r"^([0-9a-f]+) \w (\S+)$", output_of(nm, path), re.MULTILINE):
            name = name.removeprefix(".text.startup.")
            if not name.startswith((".text", ".weak")):
                self.names.setdefault(int(address, 16), name)
                self.addresses[name] = int(address, 16)
        for name in ("__CTOR_LIST__", "__DTOR_LIST__", "DllMain"):
            if name not in self.addresses:
                sys.exit(f"{path}: no symbol {name}: is it a DLL that MinGW has linked, with its symbols?")

    def words(self, begin, n_bytes):
        lines = re.findall(r"^ [0-9a-f]{6,} ((?:[0-9a-f]+ ){1,4})", output_of(self.objdump, "-s", f"--start-address={begin}",
                                                                              f"--stop-address={begin + n_bytes}", self.path), re.MULTILINE)
        data = bytes.fromhex("".join(lines))
        return [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data) - 7, 8)]

    def constructors(self):
        begin, end = self.addresses["__CTOR_LIST__"], self.addresses["__DTOR_LIST__"]
        return [word for word in self.words(begin, end - begin) if word not in (0, 2**64 - 1)]

    def callbacks(self):
        section = re.search(r"^ +\d+ \.CRT +([0-9a-f]+) +([0-9a-f]+) ", output_of(self.objdump, "-h", self.path), re.MULTILINE)
        return [word for word in self.words(int(section[2], 16), int(section[1], 16)) if word != 0]

    def calls(self, address):
        """What the function there calls; a call that names nothing is its instruction."""
        following = min(other for other in self.names if other > address)
        code = output_of(self.objdump, "-d", "--no-show-raw-insn", f"--start-address={address}", f"--stop-address={following}", self.path)
        own = self.names.get(address, "")
        for instruction in re.findall(r"\t((?:call|jmp)\b.*)", code):
            target = re.search(r"<(?:__imp_)?([^>+]+)(?:\+0x[0-9a-f]+)?>", instruction)
            if not (target and own in (target[1], target[1].removeprefix(".text.startup."))) or instruction.startswith("call"):
                yield target[1] if target else instruction


def faults(library):
    for address in library.constructors():
        name = library.names.get(address, hex(address))
        if name in CONSTRUCTORS:
            continue
        for call in library.calls(address):
            if call not in CALLS:
                yield f"the constructor {name} calls {call}"
    for address in library.callbacks():
        name = library.names.get(address, hex(address))
        if name not in CALLBACKS:
            yield f"{name} runs when the library or a thread begins or ends"
    for call in library.calls(library.addresses["DllMain"]):
        yield f"DllMain calls {call}"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    library = Library(*sys.argv[1:])
    wrong = list(faults(library))
    print(f"{len(library.constructors())} constructors, {len(library.callbacks())} callbacks, DllMain:",
          *(library.names.get(address, hex(address)) for address in library.constructors() + library.callbacks()))
    for line in wrong:
        print(f"under the loader's lock {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
