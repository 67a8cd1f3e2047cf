"""The format of the book: chapters, their cells, and where the book lives.

It needs neither PyTorch nor Sphinx: the site's extension stands on it, and so
do all other tools.
"""
