"""Chapters 3 and 5: who looks at whom, and how much.

Not taught.
"""

from torch import Tensor

from kit.explorers import Explorer, table


def weights_explorer(
    words: list[str], heads: dict[str, Tensor], chosen: str
) -> Explorer:
    """The weights of the words among themselves.

    Args:
        words: those that ask and are asked.
        heads: for each head its name and its weights, q_len k_len.
        chosen: the word that asks at the start.
    """
    numbers = [weights.detach().cpu().tolist() for weights in heads.values()]
    given = {
        "queries": words,
        "keys": words,
        "heads": list(heads),
        "percent": [
            [[f"{100 * share:.4f}" for share in row] for row in rows]
            for rows in numbers
        ],
    }
    start = {"head": "0", "side": "query", "place": words.index(chosen)}
    fallback = "\n".join(
        table(
            f"{name}: each row says how much a word looks at the others",
            ["", *words],
            {
                word: [f"{share:.2f}" for share in row]
                for word, row in zip(words, rows, strict=True)
            },
        )
        for name, rows in zip(heads, numbers, strict=True)
    )
    return Explorer("weights-explorer", fallback, given=given, start=start)
