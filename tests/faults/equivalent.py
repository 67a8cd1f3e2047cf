"""Generated faults that change nothing a reader or a test could see.

The key is the module and the fault's name as the table prints it; the value
says why the changed program is the same. An entry that is no longer generated
or that is caught after all is an error.
"""

EQUIVALENT: dict[tuple[str, str], str] = {}
