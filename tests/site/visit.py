"""Where the tests beside this file look for a visit of a browser."""

from tests.browser.visit import Visit, until

__all__ = ["Visit", "until"]
