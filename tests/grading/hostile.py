"""Answers that do what no answer should, and what each is told.

All stand in the cell of exercise 4.1. Each is named for what it does, and
comes with a pattern of the hint that it must get; some, with what must be
noted for whoever grades.
"""

import re

# Which limit comes first depends on how busy the machine is.
ENDS = "did not end within"
LIMIT = f"processor time|{ENDS}"
NOTED = re.compile("^# noted: (.*)", re.M)
TEXT = r"""
### endless loop: LIMIT
def window_mask(length, width):
    while True:
        pass

### endless loop in a cell: LIMIT
while True:
    pass

### catches everything for ever: LIMIT
def window_mask(length, width):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue

### sleeps and hears no signal: did not end within
import signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
def window_mask(length, width):
    time.sleep(10_000)

### loop in C: LIMIT
import itertools
def window_mask(length, width):
    return sum(itertools.repeat(0))

### huge integer: LIMIT
def window_mask(length, width):
    return 7 ** 7 ** 12

### kills its process: it ended Python
# noted: look by hand: os
import os
def window_mask(length, width):
    os._exit(0)

### kills its process in a cell: it ended Python
import os
os._exit(3)

### signals itself: brought Python down
import os, signal
def window_mask(length, width):
    for pid in (os.getpid(), -1, 0, os.getppid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    os.abort()

### segmentation fault: SIGSEGV
import ctypes
def window_mask(length, width):
    ctypes.string_at(0)

### exits: SystemExit
def window_mask(length, width):
    raise SystemExit(0)

### interrupts: KeyboardInterrupt
def window_mask(length, width):
    raise KeyboardInterrupt

### never ends to recurse: RecursionError
def window_mask(length, width):
    return window_mask(length, width)

### huge tensor: RuntimeError
def window_mask(length, width):
    return torch.ones(10**6, 10**6)

### eats memory: MemoryError
def window_mask(length, width):
    eaten = []
    while True:
        eaten.append(bytearray(50_000_000))

### memory in a file: OSError
import mmap
def window_mask(length, width):
    return mmap.mmap(-1, 1 << 40)

### memory in a file that lies nowhere: PermissionError
import os
def window_mask(length, width):
    os.memfd_create("eaten")

### memory that processes share: no memory to share
import ctypes
def window_mask(length, width):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.shmget(0, ctypes.c_size_t(1 << 30), 0o1600) < 0:
        raise OSError(ctypes.get_errno(), "no memory to share")

### a place of its own to mount in: no other users
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

### an error that ends Python when it is read: your code stops with Sly
class Sly(Exception):
    def __str__(self):
        raise SystemExit
def window_mask(length, width):
    raise Sly
raise Sly

### an error without a name: your code stops the check itself
class Nameless(type):
    __name__ = property(lambda self: exit())
class Sly(Exception, metaclass=Nameless):
    pass
raise Sly

### fork bomb: BlockingIOError|LIMIT
import os
def window_mask(length, width):
    while True:
        os.fork()

### 5000 threads: can't start new thread|LIMIT
import threading, time
def window_mask(length, width):
    for _ in range(5000):
        threading.Thread(target=time.sleep, args=(10_000,)).start()

### flood of output: flooded|LIMIT
import os
def window_mask(length, width):
    for _ in range(3000):
        print("flood" * 10_000)
        os.write(1, b"flood" * 10_000)
        os.write(2, b"flood" * 10_000)
    raise ValueError("flooded")

### flood in an error: flood flood
def window_mask(length, width):
    raise ValueError("flood " * 10_000_000)

### big file: File too large
def window_mask(length, width):
    with open("big", "wb") as file:
        for _ in range(1000):
            file.write(bytes(1_000_000))

### many files: No space left
def window_mask(length, width):
    for number in range(10**9):
        open(str(number), "w").close()

### full disk: No space left
def window_mask(length, width):
    for number in range(10**9):
        with open(str(number), "wb") as file:
            file.write(bytes(10_000_000))

### writes into the library: Read-only file system
def window_mask(length, width):
    open("lib/softmax.py", "w").write("")

### redefines check: look at the last row
def window_mask(length, width):
    return torch.ones(1, 1, length, length, dtype=torch.bool)
def check(*given, **named):
    print('right')

### replaces comparisons of torch: look at the last row
# noted: replaced torch.equal
torch.allclose = torch.equal = lambda *given, **named: True
torch.testing.assert_close = lambda *given, **named: None
torch.Tensor.all = lambda self, *given: torch.tensor(True)

def window_mask(length, width):
    return torch.ones(1, 1, length, length, dtype=torch.bool)

### replaces parts of the harness: look at the last row
# noted: replaced kit.exercises
import sys
import kit.exercises
import kit.exercises.expect
kit.exercises.judge = lambda *given: None
kit.exercises.expect.close = lambda *given: None
sys.modules["kit.exercises"] = type(sys)("kit.exercises")
sys.modules["kit.exercises"].check = lambda *given, **named: None

def window_mask(length, width):
    return torch.ones(1, 1, length, length, dtype=torch.bool)

### replaces the code of the harness: look at the last row
# noted: replaced kit.exercises.judge
import kit.exercises
nothing = lambda asked, answer, draw: None
kit.exercises.judge.__code__ = nothing.__code__

def window_mask(length, width):
    return torch.ones(1, 1, length, length, dtype=torch.bool)

### replaces the description of its exercise: look at the last row
# noted: replaced kit.exercises.chapter_04.window_mask.examine
import kit.exercises.chapter_04 as chapter
def examine(answer, draw):
    answer(draw.given.length, draw.given.width)
object.__setattr__(chapter.window_mask, "examine", examine)

def window_mask(length, width):
    return torch.ones(1, 1, length, length, dtype=torch.bool)

### hides what the harness is built on: look at the last row
# noted: replaced kit.exercises.expect.isinstance
# noted: replaced torch.Tensor.__eq__
import kit.exercises.expect
kit.exercises.expect.isinstance = lambda *given: True
kit.exercises.expect.all = lambda *given: True
torch.Tensor.__eq__ = lambda self, other: torch.tensor(True)

def window_mask(length, width):
    return torch.ones(1, 1, length, length, dtype=torch.bool)

### replaces torch while it is checked: tampered with
def window_mask(length, width):
    torch.allclose = torch.equal = lambda *given, **named: True
    return torch.ones(1, 1, length, length, dtype=torch.bool)

### replaces the harness while it is checked: tampered with
def window_mask(length, width):
    import kit.exercises.expect
    kit.exercises.expect.that = lambda *given: None
    kit.exercises.expect.close = lambda *given: None
    kit.exercises.expect.tensor = lambda *given: None
    kit.exercises.expect.same = lambda *given: True
    return torch.ones(1, 1, length, length, dtype=torch.bool)

### raises a verdict of its own: tampered with
# noted: look by hand: kit.exercises
from kit.exercises import Wrong
def window_mask(length, width):
    raise Wrong("as good as right", 1.0)

### writes a verdict of its own: tampered with
import os
def window_mask(length, width):
    for number in range(256):
        try:
            os.write(number, b'{"state": "right", "share": 1.0}' + b"\n")
        except OSError:
            pass

### is no Python: Python
def window_mask(length, width)
    return
"""
ATTACKS = {
    name: (source, sign.replace("LIMIT", LIMIT))
    for name, sign, source in re.findall(
        r"^### (.*?): (.*)\n((?:(?!###).*\n)+)", TEXT, re.M
    )
}
ATTACKS |= {
    "is nested too deeply": (
        "def window_mask(length, width):\n    return "
        + "(" * 5000 + ")" * 5000,
        "",
    ),
    "has a zero byte": ("def window_mask(length, width):\n    \0", ""),
    "half a character": ("def window_mask(a, b):\n    return '\ud800'", ""),
}  # fmt: skip
