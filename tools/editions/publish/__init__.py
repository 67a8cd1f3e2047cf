"""`make publish`: the built book becomes branches of its repository."""
