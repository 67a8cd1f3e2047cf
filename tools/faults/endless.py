"""Generated faults that make a loop endless.

The key is the module and the fault's name as the report prints it, as in
equivalent.py; the value says after how many seconds of processor time a cell
or a test that has not ended counts as having noticed it. A listed fault says
so itself, by `loops=`. An entry that is no longer generated is an error.
"""

ENDLESS: dict[tuple[str, str], int] = {}
