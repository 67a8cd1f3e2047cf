"""Where the tests beside this file look for the built site."""

from tests.built import ROOT, SITE, build, served

__all__ = ["ROOT", "SITE", "build", "served"]
