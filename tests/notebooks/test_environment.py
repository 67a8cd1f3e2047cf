"""What `make` says before it installs, with a Python that only pretends.

The stand-in for Python makes an environment out of itself and writes down
what pip is asked to do. The last tests ask the real pip.
"""

import ast
import os
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tools import environment
from tools.taught import ROOT

FAKE = """\
#!/bin/sh
case "$1 $2" in
"-m venv")
  for folder; do :; done  # the last argument
  if [ -n "$VENV_FAILS" ]; then echo "no space left"; exit 1; fi
  rm -rf "$folder"  # --clear
  mkdir -p "$folder/bin"
  cp "$0" "$folder/bin/python"
  echo "version = ${VERSION:-3.11.2}" > "$folder/pyvenv.cfg"
  echo "#!$folder/bin/python" > "$folder/bin/pip" ;;
"-m ensurepip") echo "#!$0" > "$(dirname "$0")/pip" ;;
"-m pip")
  echo "$*" >> "$LOG"
  cat "$PIP_SAYS"
  exit "${PIP_STATUS:-0}" ;;
*) echo "$*" >> "$LOG" ;;
esac
"""
FILES = {
    "requirements.txt": "# All.\n\n# part: book (pages)\nsite==1.0\n\n"
    "# part: chapters\ntorch==2.0\nplots==3.0\n\n# part: pdf\nprint==5.0\n\n"
    "# part: lab\nlab==4.0\n",
    "tests/requirements.txt": "# Tests.\npytest==9.0\n",
    "constraints.txt": "site==1.0\n",
    "tools/kernels.py": "",
}


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A clone, and a Python to make its environment with."""
    root = tmp_path / "clone"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    python = tmp_path / "python"
    python.write_text(FAKE)
    python.chmod(0o755)
    (tmp_path / "pip says").write_text("Collecting site\n")
    monkeypatch.setattr(environment, "ROOT", root)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("PIP_SAYS", str(tmp_path / "pip says"))
    return root


def installed(book) -> list[str]:
    """What pip was asked to install since the last call of this."""
    log = book.parent / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    start = "constraints.txt "
    return [line.split(start)[1] for line in lines if start in line]


def pip_says(book, monkeypatch, text: str, status: int = 1) -> None:
    (book.parent / "pip says").write_text(text)
    monkeypatch.setenv("PIP_STATUS", str(status))


# the parts


def test_a_target_installs_its_part_once(book, capsys):
    assert environment.main(["book"]) == 0
    assert installed(book) == ["site==1.0"]
    assert capsys.readouterr().out == (
        "Installing what builds the pages (30 MB, half a minute).\n"
    )
    assert environment.main(["book"]) == 0
    assert installed(book) == []
    assert capsys.readouterr() == ("", "")


def test_a_part_brings_those_that_it_needs(book):
    assert environment.main(["lab"]) == 0
    assert installed(book) == ["torch==2.0 plots==3.0", "lab==4.0"]
    assert environment.main(["tests"]) == 0
    assert installed(book) == ["site==1.0", "print==5.0", "pytest==9.0"]


def test_the_tests_get_their_kernels(book):
    environment.main(["tests"])
    log = (book.parent / "log").read_text()
    assert log.endswith("-m tools.kernels\n")


@pytest.mark.parametrize(
    "name, parts",
    [
        ("constraints.txt", ["site==1.0"]),
        ("requirements.txt", ["site==1.1"]),
        ("tests/requirements.txt", []),
    ],
)
def test_a_changed_pin_is_installed(book, name, parts):
    environment.main(["book"])
    installed(book)
    changed = (book / name).read_text().replace("==1.0", "==1.1") + "new==1\n"
    (book / name).write_text(changed)
    environment.main(["book"])
    assert installed(book) == parts


def test_the_size_of_torch_is_announced(book, monkeypatch, capsys):
    for platform, size in {"linux": "3 GB", "darwin": "250 MB"}.items():
        monkeypatch.setattr(sys, "platform", platform)
        pip_says(book, monkeypatch, "")  # it stays to be installed
        assert environment.main(["chapters"]) == 1
        assert size in capsys.readouterr().out
    (book / ".venv/lib/python3.11/site-packages/torch").mkdir(parents=True)
    environment.main(["chapters"])
    assert "(50 MB" in capsys.readouterr().out


def test_large_downloads_are_shown_and_nothing_else(book, monkeypatch, capsys):
    output = (
        "Collecting torch\n"
        "  Downloading torch.metadata (29 kB)\n"
        "Downloading torch-2.0.whl (888.1 MB)\n"
        "Downloading small.whl (2.1 MB)\n"
        "WARNING: Location 'file:///a' is ignored\n"
    )
    pip_says(book, monkeypatch, output, status=0)
    assert environment.main(["book"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1:] == ["  torch-2.0.whl (888.1 MB)"]
    assert err == ""


# what is in the way


def one_line(capsys) -> str:
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


@pytest.mark.parametrize(
    "found, remedy",
    [
        ("python3.13", "add PYTHON=python3.13 to the command"),
        (None, "install one and add, say, PYTHON=python3.12 to the command"),
    ],
)
def test_an_old_python_is_refused(book, monkeypatch, capsys, found, remedy):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(
        environment.shutil, "which", lambda name: name if name == found else ""
    )
    assert environment.main(["book"]) == 1
    assert one_line(capsys) == (
        f"{sys.executable} has Python 3.9, the book needs Python 3.11 to "
        f"3.14: {remedy}."
    )
    assert not (book / ".venv").exists()


def test_an_old_python_can_read_the_check():
    source = Path(environment.__file__).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))
    functions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    ]
    for function in functions:  # list[str] would need Python 3.9
        annotated = [a.annotation for a in function.args.args]
        assert [*filter(None, annotated), function.returns] == [None]


def test_an_environment_of_an_old_python_is_refused(book, monkeypatch, capsys):
    pip_says(book, monkeypatch, "")
    monkeypatch.setenv("VERSION", "3.10.4")
    environment.main(["book"])  # makes the environment; pip fails
    capsys.readouterr()
    assert environment.main(["book"]) == 1
    assert one_line(capsys) == (
        f"{book}/.venv has Python 3.10, the book needs Python 3.11 to 3.14: "
        "remove .venv."
    )


def test_a_new_python_is_doubted_and_tried(book, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 15, 0))
    assert environment.main(["book"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "has Python 3.15, newer than the tested" in first
    assert first.endswith("add PYTHON=python3.14 to the command.")
    assert installed(book) == ["site==1.0"]


def test_a_python_without_venv_is_refused(book, monkeypatch, capsys):
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    assert environment.main(["book"]) == 1
    line = one_line(capsys)
    assert line.startswith(f"{sys.executable} has Python 3.")
    assert "`apt-get install python3-venv` brings it" in line
    assert not (book / ".venv").exists()


def test_a_failing_venv_shows_why_and_leaves_nothing(
    book, monkeypatch, capsys
):
    monkeypatch.setenv("VENV_FAILS", "1")
    assert environment.main(["book"]) == 1
    expected = "Python could not make .venv:\nno space left\n\n"
    assert capsys.readouterr().err == expected
    assert not (book / ".venv").exists()


def test_a_lost_python_makes_the_environment_anew(book, capsys):
    environment.main(["book"])
    python = book / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3.11")
    installed(book), capsys.readouterr()
    assert environment.main(["book"]) == 0
    assert installed(book) == ["site==1.0"]
    assert "The Python of .venv is gone" in capsys.readouterr().out


def test_an_environment_without_pip_gets_it(book):
    environment.main(["book"])
    (book / ".venv" / "bin" / "pip").unlink()
    (book / ".venv" / ".book").unlink()
    installed(book)
    assert environment.main(["book"]) == 0
    assert (book / ".venv" / "bin" / "pip").exists()
    assert installed(book) == ["site==1.0"]


def test_a_moved_clone_is_mended(book, monkeypatch, capsys):
    environment.main(["tests"])
    old, new = book, book.parent / "new place"
    binary = old / ".venv" / "bin" / "ruff"
    binary.write_bytes(b"\x7fELF" + str(old).encode())
    os.rename(old, new)
    monkeypatch.setattr(environment, "ROOT", new)
    (new.parent / "log").unlink()
    capsys.readouterr()
    for said in (f"This clone was moved from {old}: .venv follows.\n", ""):
        assert environment.main(["tests"]) == 0
        assert capsys.readouterr().out == said
    python = new / ".venv" / "bin" / "python"
    assert (new / ".venv/bin/pip").read_text() == f"#!{python}\n"
    assert str(old).encode() in (new / ".venv/bin/ruff").read_bytes()
    assert (new.parent / "log").read_text() == "-m tools.kernels\n"


def test_a_long_path_stands_in_the_second_line(book, monkeypatch, capsys):
    environment.main(["book"])
    pip = book / ".venv" / "bin" / "pip"
    text = "#!/bin/sh\n'''exec' \"%s/bin/python\" \"$0\" \"$@\"\n' '''\n"
    pip.write_text(text % "/a b/clone/.venv")
    environment.main(["book"])
    assert "moved from /a b/clone:" in capsys.readouterr().out
    assert pip.read_text() == text % (book / ".venv")


def test_an_environment_behind_a_link_has_not_moved(book, capsys):
    environment.main(["book"])
    os.rename(book / ".venv", book.parent / "shared")
    (book / ".venv").symlink_to(book.parent / "shared")
    environment.main(["book"])
    capsys.readouterr()
    environment.main(["book"])
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_ends_without_a_traceback(book, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "install", interrupt)
    assert environment.main(["book"]) == 130
    assert one_line(capsys) == "Stopped. Run it again to go on from here."


# the real pip


@pytest.fixture
def real_pip(tmp_path, monkeypatch):
    """An environment with the pip of these tests and none of its settings."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(
        environment, "requirements", lambda part: ["no-such-package==1.0"]
    )
    return tmp_path


def test_without_a_network_one_line_says_so(real_pip, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(environment.Problem) as problem:
        environment.install(real_pip, "book")
    assert str(problem.value).startswith("No network: pip does not reach")
    assert "\n" not in str(problem.value)
    assert not (real_pip / ".book").exists()


def test_another_failure_is_told_in_the_words_of_pip(real_pip, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(environment.Problem) as problem:
        environment.install(real_pip, "book")
    first, *said = str(problem.value).splitlines()
    assert first == "pip could not install it:"
    assert any("No matching distribution found" in line for line in said)
    assert len(said) <= 30


# the book's own requirements


def test_each_pin_stands_once_and_in_the_lock():
    parts = ("book", "chapters", "pdf", "tests", "lab")
    pins = [pin for part in parts for pin in environment.requirements(part)]
    lock = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert len(pins) == len(set(pins)) > 20 and set(pins) <= set(lock)
    names = [canonicalize_name(line.split("==")[0]) for line in lock[1:]]
    assert len(set(names)) == len(names)


def closure(names: list[str]) -> set[str]:
    """Installed distributions that these need, and they themselves."""
    found = set()
    while names:
        name = canonicalize_name(names.pop())
        if name in found:
            continue
        found.add(name)
        for line in metadata.requires(name) or []:
            needed = Requirement(line)
            if not needed.marker or needed.marker.evaluate({"extra": ""}):
                names.append(needed.name)
    return found


def test_building_needs_no_more_than_its_part():
    names = [pin.split("==")[0] for pin in environment.requirements("book")]
    allowed = closure(names)
    assert not allowed & {"torch", "matplotlib", "numpy"}
    homes = metadata.packages_distributions()
    own = [*(ROOT / "book" / "_ext").glob("*.py"), ROOT / "tools/colab.py"]
    stems = {path.stem for path in own}
    for path in own:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for module in imported(node) - stems:
                has = {canonicalize_name(n) for n in homes.get(module, [])}
                is_there = module in sys.stdlib_module_names or has & allowed
                assert is_there, f"{path.name} imports {module}"


def imported(node: ast.AST) -> set[str]:
    """The packages that a line imports; of the book's own, the modules."""
    names = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    return {
        re.sub(r"^(tools|book\._ext)\.", "", name).split(".")[0]
        for name in names
    }


def test_the_oldest_python_may_install_every_pin():
    oldest = ".".join(map(str, environment.OLDEST))
    lock = (ROOT / "constraints.txt").read_text("utf-8")
    for name, version in (
        line.split("==") for line in lock.splitlines() if "==" in line
    ):
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # JupyterLab, where nobody has asked for it
        wanted = found.metadata["Requires-Python"]
        if found.version == version and wanted:
            assert SpecifierSet(wanted).contains(oldest), (name, wanted)
