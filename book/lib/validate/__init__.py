"""Argument checks, one line at the place of use.

Not taught. A taught definition calls these first, so that it can read as its
formula; they give nothing back. Every message names the argument, what was
expected and what came.
"""

# ruff: noqa: F403
from .delta import *
from .diagnose import *
from .families import *
from .indexer import *
from .kinds import *
from .latent import *
from .llama import *
from .masks import *
from .model import *
from .modern import *
from .shapes import *
from .speculative import *
from .text import *
from .training import *
from .windows import *
