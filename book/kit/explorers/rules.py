"""The explorer of chapter 3: who looks for what, and who finds whom.

Not taught.
"""

from kit.explorers import Explorer, table


def rules_explorer(words, properties, facts, rules):
    """A matrix of rules to change; the weights of all words follow.

    Args:
        words: the names of the rows of `facts`.
        properties: the names of its columns.
        facts: what is known about each word: its key.
        rules: times the facts of a word they are its query.
    """
    facts, rules = facts.cpu().double(), rules.cpu().double()
    scores = facts @ rules @ facts.T / len(properties) ** 0.5
    weights = {
        word: [f"{share:.2f}" for share in row]
        for word, row in zip(words, scores.softmax(1).tolist(), strict=True)
    }
    return Explorer(
        "rules-explorer",
        table("Who gives how much to whom", ["", *words], weights),
        words=words,
        properties=properties,
        facts=facts.tolist(),
        rules=rules.tolist(),
    )
