"""Unit tests of book/lib, with torch as the oracle."""
