"""Measurements whose results the pages draw; `make bench` runs them."""
