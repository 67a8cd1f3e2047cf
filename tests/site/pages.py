"""Where the tests beside this file look for the pages of the book."""

from tests.built import CONFIG, DOCUMENTS, NOTEBOOKS, PAGES, quickly

__all__ = ["CONFIG", "DOCUMENTS", "NOTEBOOKS", "PAGES", "quickly"]
