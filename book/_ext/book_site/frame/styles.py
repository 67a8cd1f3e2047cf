"""The style sheets that the pages load, with their usual fonts inside."""

import base64
import re
from pathlib import Path

# Text is painted once, in its own typeface, however slow the line. A script
# in layout.html knows the fonts inside by their `font-display: swap`.
BUNDLES = {
    "book.css": ["custom.css", "page.css"],
    "katex/math.css": ["katex/katex.min.css"],
}
FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
USUAL_FONT = re.compile(
    r"url\(\"?(fonts/(?:source-serif-4-|KaTeX_(?:Main-Regular|Math-Italic|"
    r"SansSerif-Regular|Size\d))[^\")]*)\"?\)"
)


def with_usual_fonts(path):
    """The text of a style sheet, with its usual fonts inside."""

    def data(match):
        font = base64.b64encode((path.parent / match[1]).read_bytes())
        return f'url("data:font/woff2;base64,{font.decode()}")'

    def inside(match):
        face, found = USUAL_FONT.subn(data, match[0])
        return face.replace("display:block", "display:swap", found)

    return FONT_FACE.sub(inside, path.read_text())


def finish(app):
    """Write the style sheets."""
    folder = Path(app.confdir, app.config.html_static_path[0])
    for target, sources in BUNDLES.items():
        text = "\n".join(with_usual_fonts(folder / name) for name in sources)
        Path(app.outdir, "_static", target).write_text(text)
