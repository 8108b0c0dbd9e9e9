"""Hosts that share a GPU with an engine, each in a process of its own: environments, several processes, ends in the middle of a step, a device
that is reset or fails, memory that others take and give.

usage: host_processes.py LIBRARY MODEL PROGRAM      PROGRAM: cuda_host_captures
"""
import _ctypes
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hf"))
from inlay_library import Engine, InlayError, Library, Session  # noqa: E402  the folder is known only now

LIBRARY, MODEL, PROGRAM = sys.argv[1:4]
PROMPT = [3 + 7 * i % 200 for i in range(24)]
# A kernel that fails as an assertion of the host does, for the driver to compile.
FAILING_KERNEL = b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry fails() { trap; }\n\0"
ENVIRONMENTS = [{"CUDA_LAUNCH_BLOCKING": "1"}, {"CUDA_MODULE_LOADING": "EAGER"}, {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, {"CUDA_VISIBLE_DEVICES": "0"},
                {"CUDA_CACHE_DISABLE": "1"}, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, {"NVIDIA_TF32_OVERRIDE": "0"}, {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}]


class Driver:
    """The CUDA driver as a host uses it, on the first device's primary context."""

    def __init__(self):
        self.c = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.enter()

    def enter(self):
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        code = getattr(self.c, name)(*arguments)
        if code != 0:
            raise OSError(f"{name}: error {code}")

    def free_bytes(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def fail(self):
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), FAILING_KERNEL)
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, b"fails")
        self.call("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)
        return self.c.cuCtxSynchronize()


def tokens(engine, n=16):
    with Session(engine) as session:
        session.prefill(PROMPT)
        return [session.draw() for _ in range(n)]


def load(library):
    return Engine(library, MODEL, "cuda", 256)


# ---- what a child process does; an exception is its failure

def child_rounds():
    """The library is opened, used and closed again and again: device memory does not grow."""
    driver, free, drawn = Driver(), [], set()
    for _ in range(20):
        library = Library(LIBRARY)
        with load(library) as engine:
            drawn.add(tuple(tokens(engine)))
        _ctypes.dlclose(library.c._handle)
        free.append(driver.free_bytes())
    assert len(drawn) == 1, drawn
    assert free[-1] >= free[2] - (16 << 20), free


def child_exit():
    """The process ends while a thread decodes."""
    engine = load(Library(LIBRARY))
    begun = threading.Event()

    def work():
        while True:
            tokens(engine, 100)
            begun.set()

    threading.Thread(target=work, daemon=True).start()
    begun.wait()
    time.sleep(0.05)
    ctypes.CDLL(None).exit(5)


def lose_device(break_device):
    """The host's device goes: the engine says so, and can be freed."""
    driver, library = Driver(), Library(LIBRARY)
    engine = load(library)
    session = Session(engine)
    session.prefill(PROMPT)
    session.draw()
    break_device(driver)
    try:
        session.draw()
        raise AssertionError("a step on a lost device was no error")
    except InlayError:
        assert library.error.status == library.constant["INLAY_DEVICE_LOST"], library.error.status
    library.c.inlay_session_free(session.handle)
    library.c.inlay_free(engine.handle)
    return driver, library


def child_reset():
    """The host resets its device: what it has there afterwards is its own, and a new engine works."""
    memory, held = ctypes.c_uint64(), []
    with load(Library(LIBRARY)) as engine:
        right = tokens(engine)

    def reset(driver):
        driver.call("cuDevicePrimaryCtxReset_v2", 0)
        driver.enter()
        for n in [1 << 12, 1 << 16, 1 << 20, 1 << 24] * 16:  # at addresses that the engine has had
            driver.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(n))
            driver.call("cuMemsetD8_v2", memory, ctypes.c_ubyte(7), ctypes.c_size_t(n))
            held.append((n, memory.value))

    driver, library = lose_device(reset)
    with load(library) as engine:
        assert tokens(engine) == right
    driver.enter()
    for n, address in held:
        byte = ctypes.c_ubyte()
        driver.call("cuMemcpyDtoH_v2", ctypes.byref(byte), ctypes.c_uint64(address + n - 1), ctypes.c_size_t(1))
        assert byte.value == 7
        driver.call("cuMemFree_v2", ctypes.c_uint64(address))


def child_fault():
    def fail(driver):
        assert driver.fail() != 0, "the kernel did not fail"

    lose_device(fail)


def child_memory():
    """Another allocator takes and gives most of the memory while models are loaded."""
    driver, library = Driver(), Library(LIBRARY)
    with load(library) as engine:
        right = tokens(engine)
    most, stop = driver.free_bytes() - (96 << 20), threading.Event()

    def take_and_give():
        own = Driver()
        while not stop.is_set():
            memory = ctypes.c_uint64()
            if own.c.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(most)) == 0:
                time.sleep(0.02)
                own.c.cuMemFree_v2(memory)
            time.sleep(0.02)

    thread = threading.Thread(target=take_and_give)
    thread.start()
    n_loaded = 0
    for _ in range(40):
        try:
            with load(library) as engine:
                assert tokens(engine) == right
                n_loaded += 1
        except InlayError:
            assert library.error.status == library.constant["INLAY_DEVICE_OUT_OF_MEMORY"], bytes(library.error.message)
    stop.set()
    thread.join()
    with load(library) as engine:
        assert tokens(engine) == right
    print(n_loaded, "of 40 loads found memory")


def child_fork():
    """Another program is started while an engine lives."""
    with load(Library(LIBRARY)) as engine:
        right = tokens(engine)
        subprocess.run([PROGRAM, "plain", LIBRARY, MODEL], check=True, capture_output=True, timeout=1800)
        assert tokens(engine) == right


# ---- the tests

def start(environment=None):
    return subprocess.Popen([PROGRAM, "plain", LIBRARY, MODEL], env=os.environ | (environment or {}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)


class HostProcesses(unittest.TestCase):
    def child(self, name):
        return subprocess.run([sys.executable, "-B", __file__, LIBRARY, MODEL, PROGRAM, name], capture_output=True, text=True, timeout=1800, check=False)

    def ends_well(self, process):
        text, _ = process.communicate(timeout=1800)
        self.assertEqual(process.returncode, 0, text)

    def test_environments(self):
        for environment in ENVIRONMENTS:
            with self.subTest(environment):
                self.ends_well(start(environment))

    def test_no_visible_device(self):
        process = start({"CUDA_VISIBLE_DEVICES": ""})
        process.communicate(timeout=1800)
        self.assertEqual(process.returncode, 77)

    def test_three_at_once(self):
        for process in [start() for _ in range(3)]:
            self.ends_well(process)

    def test_stopped_and_continued(self):
        process = start()
        time.sleep(0.5)
        process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        process.send_signal(signal.SIGCONT)
        self.ends_well(process)

    def test_children(self):
        for name, code in [("rounds", 0), ("reset", 0), ("fault", 0), ("memory", 0), ("fork", 0)] + [("exit", 5)] * 10:
            with self.subTest(name):
                done = self.child(name)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 4:
        globals()["child_" + sys.argv[4]]()
        sys.exit(0)
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        print("skipped: needs a GPU")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
