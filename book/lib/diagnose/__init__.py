"""Chapter 20: which known bugs does an attention have? Not taught.

`checks` is what the chapter teaches. `convention` says how an attention is
called, `report` what was found.
"""

from .checks import diagnose

__all__ = ["diagnose"]
