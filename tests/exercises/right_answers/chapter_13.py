"""Right answers in chapter 13 by other routes than the book's."""

RIGHT = {
    "step_aside": {
        "returns a list of two": """
def step_aside(beams, next_letters, width):
    found = [
        (log + math.log(p), text + letter)
        for text, log in beams.items()
        for letter, p in next_letters(text).items()
        if p
    ]
    groups = [{}, {}]
    for log, text in sorted(found, key=lambda pair: -pair[0]):
        if len(groups[0]) < width:
            groups[text[-1] == "."][text] = log
    return groups
""",
    },
}
