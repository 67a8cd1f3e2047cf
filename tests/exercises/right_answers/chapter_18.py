"""Right answers in chapter 18 by other routes than the book's."""

RIGHT = {}
