"""Answers that do what no answer should, and what each is told.

All stand in the cell of exercise 4.1. Each is named for what it does, and
comes with a pattern of the hint that it must get.
"""

# Which limit comes first depends on how busy the machine is.
ENDS = "did not end within"
LIMIT = f"processor time|{ENDS}"

FALSE = """
def window_mask(length, width):
    return torch.ones(1, 1, length, length, dtype=torch.bool)
"""
ATTACKS = {
    "endless loop": (
        """
def window_mask(length, width):
    while True:
        pass
""",
        LIMIT,
    ),
    "endless loop in a cell": ("while True:\n    pass\n", LIMIT),
    "catches everything for ever": (
        """
def window_mask(length, width):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
""",
        LIMIT,
    ),
    "sleeps and hears no signal": (
        """
import signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
def window_mask(length, width):
    time.sleep(10_000)
""",
        ENDS,
    ),
    "loop in C": (
        """
import itertools
def window_mask(length, width):
    return sum(itertools.repeat(0))
""",
        LIMIT,
    ),
    "huge integer": (
        "def window_mask(length, width):\n    return 7 ** 7 ** 12\n",
        LIMIT,
    ),
    "kills its process": (
        """
import os
def window_mask(length, width):
    os._exit(0)
""",
        "it ended Python",
    ),
    "kills its process in a cell": (
        "import os\nos._exit(3)\n",
        "it ended Python",
    ),
    "signals itself": (
        """
import os, signal
def window_mask(length, width):
    for pid in (os.getpid(), -1, 0, os.getppid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    os.abort()
""",
        "brought Python down",
    ),
    "segmentation fault": (
        """
import ctypes
def window_mask(length, width):
    ctypes.string_at(0)
""",
        "SIGSEGV",
    ),
    "exits": (
        "def window_mask(length, width):\n    raise SystemExit(0)\n",
        "SystemExit",
    ),
    "interrupts": (
        "def window_mask(length, width):\n    raise KeyboardInterrupt\n",
        "KeyboardInterrupt",
    ),
    "never ends to recurse": (
        """
def window_mask(length, width):
    return window_mask(length, width)
""",
        "RecursionError",
    ),
    "huge tensor": (
        """
def window_mask(length, width):
    return torch.ones(10**6, 10**6)
""",
        "RuntimeError",
    ),
    "eats memory": (
        """
def window_mask(length, width):
    eaten = []
    while True:
        eaten.append(bytearray(50_000_000))
""",
        "MemoryError",
    ),
    "memory in a file": (
        """
import mmap
def window_mask(length, width):
    return mmap.mmap(-1, 1 << 40)
""",
        "OSError",
    ),
    "memory in a file that lies nowhere": (
        """
import os
def window_mask(length, width):
    os.memfd_create("eaten")
""",
        "PermissionError",
    ),
    "memory that processes share": (
        """
import ctypes
def window_mask(length, width):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.shmget(0, ctypes.c_size_t(1 << 30), 0o1600) < 0:
        raise OSError(ctypes.get_errno(), "no memory to share")
""",
        "no memory to share",
    ),
    "a place of its own to mount in": (
        """
import ctypes
def window_mask(length, width):
    libc = ctypes.CDLL(None, use_errno=True)
    stack = ctypes.create_string_buffer(1 << 16)
    top = ctypes.c_void_p(ctypes.addressof(stack) + (1 << 16))
    for flags in (0x10000000, 0x10000000 | 17):
        if libc.unshare(flags) == 0:
            return "it may"
        if libc.clone(libc.getpid, top, flags, None) != -1:
            return "it may"
    raise OSError(ctypes.get_errno(), "no other users")
""",
        "no other users",
    ),
    "an error that ends Python when it is read": (
        """
class Sly(Exception):
    def __str__(self):
        raise SystemExit
def window_mask(length, width):
    raise Sly
raise Sly
""",
        "your code stops with Sly",
    ),
    "an error without a name": (
        """
class Nameless(type):
    __name__ = property(lambda self: exit())
class Sly(Exception, metaclass=Nameless):
    pass
raise Sly
""",
        "your code stops the check itself",
    ),
    "fork bomb": (
        """
import os
def window_mask(length, width):
    while True:
        os.fork()
""",
        f"BlockingIOError|{LIMIT}",
    ),
    "5000 threads": (
        """
import threading, time
def window_mask(length, width):
    for _ in range(5000):
        threading.Thread(target=time.sleep, args=(10_000,)).start()
""",
        f"can't start new thread|{LIMIT}",
    ),
    "flood of output": (
        """
import os
def window_mask(length, width):
    for _ in range(3000):
        print("flood" * 10_000)
        os.write(1, b"flood" * 10_000)
        os.write(2, b"flood" * 10_000)
    raise ValueError("flooded")
""",
        f"flooded|{LIMIT}",
    ),
    "flood in an error": (
        """
def window_mask(length, width):
    raise ValueError("flood " * 10_000_000)
""",
        "flood flood",
    ),
    "big file": (
        """
def window_mask(length, width):
    with open("big", "wb") as file:
        for _ in range(1000):
            file.write(bytes(1_000_000))
""",
        "File too large",
    ),
    "many files": (
        """
def window_mask(length, width):
    for number in range(10**9):
        open(str(number), "w").close()
""",
        "No space left",
    ),
    "full disk": (
        """
def window_mask(length, width):
    for number in range(10**9):
        with open(str(number), "wb") as file:
            file.write(bytes(10_000_000))
""",
        "No space left",
    ),
    "writes into the library": (
        """
def window_mask(length, width):
    open("lib/softmax.py", "w").write("")
""",
        "Read-only file system",
    ),
    "redefines check": (
        FALSE + "def check(*given, **named):\n    print('right')\n",
        "look at the last row",
    ),
    "replaces comparisons of torch": (
        """
torch.allclose = torch.equal = lambda *given, **named: True
torch.testing.assert_close = lambda *given, **named: None
torch.Tensor.all = lambda self, *given: torch.tensor(True)
"""
        + FALSE,
        "look at the last row",
    ),
    "replaces parts of the harness": (
        """
import sys
import kit.exercises
import kit.exercises.expect
kit.exercises.judge = lambda *given: None
kit.exercises.expect.close = lambda *given: None
sys.modules["kit.exercises"] = type(sys)("kit.exercises")
sys.modules["kit.exercises"].check = lambda *given, **named: None
"""
        + FALSE,
        "look at the last row",
    ),
    "replaces the code of the harness": (
        """
import kit.exercises
nothing = lambda asked, answer, draw: None
kit.exercises.judge.__code__ = nothing.__code__
"""
        + FALSE,
        "look at the last row",
    ),
    "replaces the description of its exercise": (
        """
import kit.exercises.chapter_04 as chapter
def examine(answer, draw):
    answer(draw.given.length, draw.given.width)
object.__setattr__(chapter.window_mask, "examine", examine)
"""
        + FALSE,
        "look at the last row",
    ),
    "hides what the harness is built on": (
        """
import kit.exercises.expect
kit.exercises.expect.isinstance = lambda *given: True
kit.exercises.expect.all = lambda *given: True
torch.Tensor.__eq__ = lambda self, other: torch.tensor(True)
"""
        + FALSE,
        "look at the last row",
    ),
    "replaces torch while it is checked": (
        """
def window_mask(length, width):
    torch.allclose = torch.equal = lambda *given, **named: True
    return torch.ones(1, 1, length, length, dtype=torch.bool)
""",
        "tampered with",
    ),
    "replaces the harness while it is checked": (
        """
def window_mask(length, width):
    import kit.exercises.expect
    kit.exercises.expect.that = lambda *given: None
    kit.exercises.expect.close = lambda *given: None
    kit.exercises.expect.tensor = lambda *given: None
    kit.exercises.expect.same = lambda *given: True
    return torch.ones(1, 1, length, length, dtype=torch.bool)
""",
        "tampered with",
    ),
    "raises a verdict of its own": (
        """
from kit.exercises import Wrong
def window_mask(length, width):
    raise Wrong("as good as right", 1.0)
""",
        "tampered with",
    ),
    "writes a verdict of its own": (
        """
import os
def window_mask(length, width):
    for number in range(256):
        try:
            os.write(number, b'{"state": "right", "share": 1.0}' + b"\\n")
        except OSError:
            pass
""",
        "tampered with",
    ),
    "is no Python": ("def window_mask(length, width)\n    return", "Python"),
    "is nested too deeply": (
        "def window_mask(length, width):\n    return "
        + "(" * 5000 + ")" * 5000,
        "",
    ),
    "has a zero byte": ("def window_mask(length, width):\n    \0", ""),
    "half a character": ("def window_mask(a, b):\n    return '\ud800'", ""),
}  # fmt: skip
