"""The public packages and ours: all of it needs `make conformance`."""

import pytest

pytest.importorskip(
    "transformers", reason="needs the public packages: make conformance"
)
