"""Grades notebooks that were handed in: `make grade SUBMISSIONS=folder`.

`submissions` finds them, `notebook` reads them, `attempts` says what is run
for an answer, `sandbox` and `running` run it, `results` remembers what came
of it, and `tables` and `page` report it. What is in `inside` runs within the
sandbox, beside the answers.
"""
