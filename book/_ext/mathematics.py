"""Formulas as HTML, set by KaTeX 0.19.1 while the pages are built."""

from functools import cache
from pathlib import Path

import dukpy

HERE = Path(__file__).parent


@cache
def katex():
    """An interpreter of JavaScript that has read KaTeX."""
    interpreter = dukpy.JSInterpreter()
    interpreter.evaljs((HERE / "katex" / "katex.min.js").read_text())
    return interpreter


@cache
def typeset(tex, display=False, output="htmlAndMathml"):
    """TeX as HTML, with MathML beside it for those who listen.

    Args:
        output: "mathml" gives that alone, for places without KaTeX's style.

    Raises:
        dukpy.JSRuntimeError: KaTeX does not understand it.
    """
    return katex().evaljs(
        "katex.renderToString(dukpy.tex, "
        "{displayMode: dukpy.display, output: dukpy.output})",
        tex=tex,
        display=display,
        output=output,
    )
