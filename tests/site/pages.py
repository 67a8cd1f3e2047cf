"""The pages of the book and its address, as they are configured."""

import yaml

from book._ext import downloads
from tests.site.conftest import ROOT
from tools import colab
from tools.taught import toc_files

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
DOCUMENTS = [TOC["root"], *toc_files(TOC)]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())
HAS_ADDRESS = colab.read_address(ROOT).is_known
NOTEBOOKS = [d for d in DOCUMENTS if (ROOT / f"{d}.ipynb").exists()]
PAGES = [f"{name}.html" for name in [*DOCUMENTS, "search"]]
ONLINE = ("book/teach/", downloads.PAGE)  # pages of the site alone
PRINTED = [name for name in DOCUMENTS if not name.startswith(ONLINE)]
