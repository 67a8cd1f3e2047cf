"""The date explorer as the home page has it."""

from kit.explorers.dates import date_explorer

KEYS = [("Tab Tab Tab Enter", {"text": "March 3rd, 2019"})]
SAYS = [({}, ".tiles .tile", [*"2019-03-03", "end"])]


def sample():
    return date_explorer(compact=True)
