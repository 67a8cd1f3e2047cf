"""The explorer of chapters 2 and 3: a query and keys, drawn as arrows.

Not taught.
"""

import torch

from kit.explorers import Explorer, table


def plane_explorer(asker, query, keys, values=None, unit="", ends=("",) * 4):
    """Arrows to drag; shadows, scores, shares and the mean follow.

    Args:
        asker: the name of the query, by which the script has its tasks.
        query: two numbers.
        keys: two numbers for each name.
        values: one number for each key.
        unit: of the values.
        ends: names of the plane's left, right, lower and upper end.
    """
    query = query.cpu().double()
    places = torch.stack(list(keys.values())).cpu().double()
    scores, length = places @ query, query.norm()
    shares = scores.softmax(dim=0)
    columns = {"shadow": scores / length, "score": scores, "share": shares}
    caption = f"{asker} [{said(query)}], length {said(length)}"
    given = {"query": query, "keys": places}
    if values is not None:
        columns[unit] = given["values"] = values.cpu().double()
        caption += f": {said(shares @ columns[unit])} {unit}"
    rows = {
        f"{name} [{said(place)}]": [
            said(column[at]) for column in columns.values()
        ]
        for at, (name, place) in enumerate(zip(keys, places, strict=True))
    }
    given = {name: numbers.tolist() for name, numbers in given.items()}
    given |= {"asker": asker, "names": list(keys), "unit": unit, "ends": ends}
    fallback = table(caption, ["", *columns], rows)
    return Explorer("plane-explorer", fallback, **given)


def said(numbers):
    """A number or a few as text."""
    texts = (f"{round(x, 2):g}" for x in numbers.flatten().tolist())
    return ", ".join(texts).replace("-", "−")
