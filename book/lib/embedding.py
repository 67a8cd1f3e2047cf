"""Chapter 1: a table with one learned vector for each token.

Positions are not added here (chapter 6).
"""

import math

from jaxtyping import Float, Int
from torch import Tensor, nn

from . import validate


class TokenEmbedding(nn.Module):
    """Look up row `id` of a table, times sqrt(d_model).

    The table starts with standard deviation 1 / sqrt(d_model), as fits a
    matrix that may also serve as output matrix; the factor brings the vectors
    back to entries of size 1, the size of the positions added to them
    (Vaswani et al. 2017, section 3.4). With a `pad_id`, that row starts at
    zero and gets no gradient here. So it stays zero, unless the table is an
    output matrix too.

    Args:
        vocab_size: the number V of rows.
        d_model: the width of a row.
        pad_id: the id whose row stays zero, or None.
    """

    def __init__(self, vocab_size, d_model, pad_id=None):
        super().__init__()
        validate.positive(vocab_size=vocab_size, d_model=d_model)
        validate.row_or_none("pad_id", pad_id, vocab_size)
        self.table = nn.Embedding(vocab_size, d_model, pad_id)
        self.scale = math.sqrt(d_model)
        nn.init.normal_(self.table.weight, std=1 / self.scale)
        if pad_id is not None:
            nn.init.zeros_(self.table.weight[pad_id])

    def forward(self, ids: Int[Tensor, "..."]) -> Float[Tensor, "... d_model"]:
        """The scaled rows of the ids."""
        validate.token_ids(ids, self.table.num_embeddings)
        return self.table(ids) * self.scale
