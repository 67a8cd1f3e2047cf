"""The library of the book: one module a chapter, in teaching order.

Nothing is re-exported here, because a function `softmax` would hide the module
`softmax`. Import what you need from its module:

    from lib.attention import attention
"""

from . import _moved  # noqa: F401  until 2028: the old names of modules
