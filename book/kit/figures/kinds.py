"""What figures are given, and what they give."""

from matplotlib.axes import Axes as Axes
from torch import Tensor as Tensor

Names, Numbers = list[str], list[float]
Pair = tuple[str, str]
Named, Curves = dict[str, Tensor], dict[str, Numbers]
Panels = list[Axes]
