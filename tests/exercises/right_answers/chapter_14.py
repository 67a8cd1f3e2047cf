"""Right answers in chapter 14 by other routes than the book's."""

RIGHT = {}
