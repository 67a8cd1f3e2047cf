"""Chapters are written, run, compared and held to the rules."""
