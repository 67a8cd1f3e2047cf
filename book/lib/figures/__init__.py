"""Drawings for the chapters, in one vocabulary of shapes and colours.

Not taught. Every function draws one figure, takes tensors from any device and
returns the axes, so that the next cell can assert the figure's message on the
figure's own data. `marks` has what they are made of, `plots` what several
chapters draw, `diagrams` and `blocks` what one chapter draws.
"""

# ruff: noqa: F403
from lib.figures.blocks import *
from lib.figures.diagrams import *
from lib.figures.marks import *
from lib.figures.plots import *
