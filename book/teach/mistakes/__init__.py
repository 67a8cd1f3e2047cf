"""Wrong answers to the exercises, one module a chapter.

`WRONG` maps the name of an exercise to answers by the name of the
misconception that each stands for. An answer is a pair: a part of the hint
that it must get, and the texts of the solution that it changes, each with what
stands in its place; or all of its text where the idea is another one. (Of
chapters whose checks are no contract yet, the first line says the hint.)
`EQUIVALENT` maps it to the mutants of its solution that are right
too, with the reason.
"""
