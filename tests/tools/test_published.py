"""Each published notebook runs by itself, from the branch where it lies."""

import pytest

from book._ext.address import Place
from tests.tools.publishing import FORK, git
from tests.tools.test_plugin import run_pytest
from tools import alone, sync
from tools.kernels import write_kernels
from tools.publish.__main__ import publish_notebooks
from tools.taught import chapters

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def branch(tmp_path_factory):
    """The branch that Colab opens, and git that finds the fork here."""
    folder = tmp_path_factory.mktemp("published")
    bare, tree = folder / "fork.git", folder / "fork"
    alone.publish(bare)
    git(folder, "clone", "-q", "-b", alone.EDITION, bare.as_uri(), str(tree))
    publish_notebooks(Place(FORK, "main", "colab"), tree)
    git(folder, "clone", "-q", "-b", "colab", bare.as_uri(), "branch")
    leads = f'[url "{bare.as_uri()}"]\n\tinsteadOf = {FORK}\n'
    (folder / "gitconfig").write_text(leads)
    write_kernels(folder / "jupyter" / "kernels")
    return folder / "branch"


@pytest.mark.parametrize("name", [path.name for path in chapters()])
def test_it_runs_in_an_empty_folder(branch, tmp_path, name):
    path = branch / "book" / name
    notebook = sync.read(path)
    first = sync.code_cells(notebook)[0]
    assert f'address = "{FORK}"' in first.source
    laid_out = alone.lay_out(path, tmp_path / "alone", first.source)
    *cells, last = sync.read(laid_out).cells
    assert cells == notebook.cells and last.source == alone.WHENCE
    done = run_pytest(
        laid_out.parent,
        *("--nbval-kernel-name", "book-cpu"),
        JUPYTER_PATH=str(branch.parent / "jupyter"),
        GIT_CONFIG_GLOBAL=str(branch.parent / "gitconfig"),
    )
    assert done.returncode == 0, done.stdout
    clone = laid_out.parent / "book-files"
    assert git(clone, "branch", "--show-current") == "colab"
