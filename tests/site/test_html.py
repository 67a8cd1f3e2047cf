"""Where the tests beside this file look for what is in a page."""

from tests.built import anchors_of, broken, soup_of, targets

__all__ = ["anchors_of", "broken", "soup_of", "targets"]
