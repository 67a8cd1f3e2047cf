"""Fill `.venv`, part by part: `python3 tools/environment.py book tests`.

The Makefile calls this before every target that needs the environment; when
nothing is missing it says nothing and takes a moment. The syntax is that of
Python 3.6: an old Python must be able to read this to say that it is too old.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST, NEWEST = (3, 11), (3, 14)
TESTED = "Python 3.11 to 3.14"
BEFORE = {
    "tests": ["book", "chapters", "pdf"],
    "lab": ["chapters"],
    "pdf": ["book"],
}
ANNOUNCED = {
    "book": "what builds the pages (30 MB, half a minute)",
    "chapters": "what runs the chapters (50 MB, a minute)",
    "pdf": "what prints the PDF (65 MB, half a minute)",
    "tests": "what the tests need (20 MB, a minute)",
    "lab": "JupyterLab (30 MB, a minute)",
}
WITH_TORCH = "what runs the chapters, with PyTorch (250 MB, 2 minutes)"
WITH_CUDA = (
    "what runs the chapters. On Linux pip takes PyTorch with CUDA (3 GB, "
    "10 minutes);\nwhere there is no GPU the CPU build will do (250 MB): "
    "stop with Ctrl-C, README.md has the line"
)
NO_NETWORK = re.compile(
    "connection broken by|name resolution|Network is unreachable"
    "|Max retries exceeded|timed out"
)
LARGE = re.compile(r"\s*Downloading (\S+) (\(\d\d[\d.]* [MG]B\))")
NOISE = re.compile(
    r"\s*(Collecting|Downloading|Using cached|Requirement already|Looking"
    r"|Installing collected|INFO: pip is looking|WARNING: Location)"
)


class Problem(Exception):
    """What is wrong, and what to do about it."""


def main(names):
    """Install the parts that are missing; the exit status."""
    venv = Path(os.path.realpath(str(ROOT / ".venv")))
    parts = [part for name in names for part in [*BEFORE.get(name, []), name]]
    try:
        mend_place(venv)
        missing = [part for part in parts if not is_installed(venv, part)]
        if missing:
            check_python(venv)
            make(venv)
        for part in dict.fromkeys(missing):
            install(venv, part)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Run it again to go on from here.", file=sys.stderr)
        return 130
    return 0


def requirements(part):
    """The pinned packages of a part."""
    name = "tests/requirements.txt" if part == "tests" else "requirements.txt"
    text = (ROOT / name).read_text("utf-8")
    if part != "tests":
        text = re.split(rf"^# part: {part}\b", text, flags=re.M)[1]
        text = text.split("# part:")[0]
    return re.findall(r"^\S+==\S+", text, re.M)


def state(part):
    """Another text when the part has to be installed anew."""
    files = ["constraints.txt", "tools/kernels.py"]
    texts = [(ROOT / name).read_text("utf-8") for name in files]
    texts += requirements(part)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def is_installed(venv, part):
    """Whether the part was installed to the end, as it is wanted now."""
    stamp = venv / f".{part}"
    return (
        python_of(venv).exists()
        and stamp.exists()
        and stamp.read_text("utf-8") == state(part)
    )


def python_of(venv):
    return venv / "bin" / "python"


def check_python(venv):
    """Refuse a Python that cannot work; doubt one that nobody has tried.

    It is the environment's, or the one that is about to make it.
    """
    version, where = sys.version_info[:2], sys.executable
    is_made = python_of(venv).exists()
    if is_made:
        config = (venv / "pyvenv.cfg").read_text("utf-8")
        found = re.search(r"^version\D*(\d+)\.(\d+)", config, re.M)
        version, where = (int(found[1]), int(found[2])), str(venv)
    have = "{} has Python {}.{}".format(where, *version)
    if version < OLDEST:
        remedy = "remove .venv" if is_made else another_python()
        raise Problem(f"{have}, the book needs {TESTED}: {remedy}.")
    if version > NEWEST:
        print(
            f"{have}, newer than the tested {TESTED}: trying it. If it "
            "fails, remove .venv and add PYTHON=python3.14 to the command."
        )
    if not is_made and not find_spec("ensurepip"):
        raise Problem(
            f"{have}, but not its module venv: on Debian and Ubuntu, "
            "`apt-get install python3-venv` brings it."
        )


def another_python():
    """How to get at a Python that will do."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        if shutil.which(f"python3.{minor}"):
            return f"add PYTHON=python3.{minor} to the command"
    return "install one and add, say, PYTHON=python3.12 to the command"


def make(venv):
    """Make the environment if it is not there, with pip in it."""
    python = python_of(venv)
    if not python.exists():
        if python.is_symlink():
            print("The Python of .venv is gone: .venv is made anew.")
        made = run([sys.executable, "-m", "venv", "--clear", str(venv)])
        if made.returncode:
            shutil.rmtree(str(venv), ignore_errors=True)
            raise Problem(f"Python could not make .venv:\n{made.stdout}")
    elif not (venv / "bin" / "pip").exists():
        run([str(python), "-m", "ensurepip", "--default-pip"])


def mend_place(venv):
    """Write the new place of a clone that was moved into the scripts."""
    pip = venv / "bin" / "pip"
    if not pip.exists() or not python_of(venv).exists():
        return
    found = re.search(r"(/[^\"\n]*)/bin/python", pip.read_text("utf-8"))
    if not found or is_same(Path(found[1]), venv):
        return
    print(f"This clone was moved from {Path(found[1]).parent}: .venv follows.")
    for path in (venv / "bin").iterdir():
        if path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        if content.startswith(b"#!") or path.name.lower().startswith("activ"):
            new = content.replace(found[1].encode(), str(venv).encode())
            path.write_bytes(new)
    if (venv / ".tests").exists():
        write_kernels(venv)


def is_same(one, other):
    return one.exists() and one.samefile(str(other))


def install(venv, part):
    """Have pip install a part; its own words are shown if it fails."""
    print(f"Installing {announcement(venv, part)}.", flush=True)
    command = [str(python_of(venv)), "-m", "pip", "install"]
    command += ["--progress-bar=off", "--disable-pip-version-check"]
    command += ["--retries=1", "-c", str(ROOT / "constraints.txt")]
    pip = run(command + requirements(part), show=LARGE)
    if pip.returncode:
        raise Problem(why_pip_failed(pip.stdout))
    if part == "tests":
        write_kernels(venv)
    (venv / f".{part}").write_text(state(part), "utf-8")


def write_kernels(venv):
    """The kernels of the tests name the environment's Python."""
    kernels = run([str(python_of(venv)), "-m", "tools.kernels"])
    if kernels.returncode:
        raise Problem(kernels.stdout)


def announcement(venv, part):
    """What will be installed, how much is fetched and how long it takes."""
    has_torch = any(venv.glob("lib/*/site-packages/torch"))
    if part != "chapters" or has_torch:
        return ANNOUNCED[part]
    return WITH_CUDA if sys.platform == "linux" else WITH_TORCH


def why_pip_failed(output):
    """One line if there is no network, else what pip itself says."""
    if NO_NETWORK.search(output):
        return (
            "No network: pip does not reach its package index. Connect this "
            "machine, or tell pip of a proxy or a mirror (`pip config`)."
        )
    lines = [line for line in output.splitlines() if not NOISE.match(line)]
    return "\n".join(["pip could not install it:", *lines[-30:]])


def run(command, show=None):
    """Run a command; of its output only lines like `show` are printed."""
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    lines = []
    with subprocess.Popen(command, cwd=str(ROOT), text=True, **pipe) as child:
        for line in child.stdout:
            lines.append(line)
            shown = show.match(line) if show else None
            if shown:
                print("  {} {}".format(*shown.groups()), flush=True)
    status = child.returncode
    return subprocess.CompletedProcess(command, status, "".join(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
