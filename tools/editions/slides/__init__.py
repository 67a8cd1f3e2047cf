"""Slides of the chapters, from the cells that carry a slide type."""
