"""Drawings for the chapters, in one vocabulary of shapes and colours.

Not taught. Every function draws one figure, takes tensors from any device and
returns the axes, so that a check cell can assert the figure's message on the
figure's own data. `canvas`, `colours` and `marks` have what they are made of,
`plots` what several chapters draw; the others draw what the module of lib with
their name computes.
"""

# ruff: noqa: F403
from .attention import *
from .bugs import *
from .cache import *
from .canvas import *
from .colours import *
from .decoder import *
from .decoding import *
from .delta import *
from .efficient import *
from .encoder import *
from .expert_parallel import *
from .experts import *
from .heads import *
from .indexer import *
from .latent import *
from .layers import *
from .learnt import *
from .marks import *
from .masks import *
from .modern import *
from .parallel import *
from .plots import *
from .positions import *
from .softmax import *
from .speculative import *
from .text import *
from .training import *
from .transformer import *
from .windows import *
