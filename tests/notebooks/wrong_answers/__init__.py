"""Wrong answers to the exercises, one module a chapter.

`WRONG` maps the grade_id of an exercise to answers by the name of the
misconception that each stands for.
"""
