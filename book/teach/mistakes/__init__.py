"""Wrong answers to the exercises, one module a chapter.

`WRONG` maps the name of an exercise to answers by the name of the
misconception that each stands for; the first line of each says which hint it
must get. `EQUIVALENT` maps it to the mutants of its solution that are right
too, with the reason.
"""
