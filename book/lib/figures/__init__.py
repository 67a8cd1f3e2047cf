"""Drawings for the chapters, in one vocabulary of shapes and colours.

Not taught. Every function draws one figure, takes tensors from any device and
returns the axes, so that a check cell can assert the figure's message on the
figure's own data. `marks` has what they are made of, `plots` what several
chapters draw; the others are the drawings of one chapter or two.
"""

# ruff: noqa: F403
from lib.figures.assembly import *
from lib.figures.blocks import *
from lib.figures.choosing import *
from lib.figures.costs import *
from lib.figures.crossing import *
from lib.figures.geometry import *
from lib.figures.looking import *
from lib.figures.marks import *
from lib.figures.masking import *
from lib.figures.norms import *
from lib.figures.plots import *
from lib.figures.remembering import *
from lib.figures.scoring import *
from lib.figures.sharing import *
from lib.figures.sorting import *
from lib.figures.splitting import *
from lib.figures.symptoms import *
from lib.figures.today import *
from lib.figures.tokens import *
from lib.figures.training import *
from lib.figures.turning import *
