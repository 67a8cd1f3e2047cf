"""Install a part of the environment: `python3 tools/environment.py book`.

The Makefile asks for every part that a target needs. One that is there as it
is wanted now has a stamp that says so, and nothing is done. The syntax is that
of Python 3.6: an old Python has to read this to say that it is too old.
"""

import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from subprocess import DEVNULL, call

ROOT = Path(__file__).resolve().parents[1]
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
HAS_GPU = which("nvidia-smi") or Path("/dev/nvidia0").exists()


def main(part, folder=".venv"):
    """Install the part if it is not there as it is wanted."""
    venv = (ROOT / folder).resolve()
    what, pins = read(part)
    names = ("constraints.txt", "tools/chapters/kernels.py")
    texts = [(ROOT / name).read_text("utf-8") for name in names]
    wanted, stamp = "\n".join([str(venv), *pins, *texts]), venv / f".{part}"
    if not all((venv / "bin" / name).exists() for name in ["python", "pip"]):
        make(venv)
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        print(f"Installing {what}.", flush=True)
        install(part, pins, str(venv / "bin" / "python"))
        stamp.write_text(wanted, "utf-8")


def read(part):
    """What a part is, with what it fetches, and its pinned packages."""
    files = ["requirements.txt", "tests/requirements.txt"]
    text = "\n".join((ROOT / name).read_text("utf-8") for name in files)
    what, *pins = text.split(f"# {part}: ")[1].split("\n\n")[0].splitlines()
    return what, pins


def make(venv):
    """Make an empty environment with the Python that runs this."""
    have = "{} is Python {}.{}".format(sys.executable, *sys.version_info)
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit(f"{have}, the book needs 3.11: add PYTHON=python3.12, say.")
    if not find_spec("ensurepip"):
        sys.exit(f"{have} without venv: `apt-get install python3-venv`.")
    if call([sys.executable, "-m", "venv", "--clear", str(venv)]):
        sys.exit(f"{have} and could not make {venv}.")


def install(part, pins, python):
    """Let pip do it; where there is no GPU, PyTorch's CPU build is first."""
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    pip += ["-c", str(ROOT / "constraints.txt"), *pins]
    if part == "torch" and sys.platform == "linux" and not HAS_GPU:
        here = ["--index-url", CPU_BUILDS, "--retries=1", "--timeout=5"]
        if call([*pip, "-qq", "--no-deps", *here], stderr=DEVNULL):
            print(f"{CPU_BUILDS} is not reached: with CUDA (3 GB).")
    if call([*pip, "-qq"]):
        sys.exit(
            "pip could not install it. Is there a network, or a mirror (`pip "
            "config`)? The book is tested with Python 3.11 to 3.14."
        )
    kernels = [python, "-m", "tools.chapters.kernels"]
    if part == "tests" and call(kernels, cwd=str(ROOT), stdout=DEVNULL):
        sys.exit("The kernels of the tests could not be written.")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C: no traceback
    main(*sys.argv[1:])
