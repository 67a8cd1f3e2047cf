"""Right answers by other routes than the book's, by what is unusual."""
