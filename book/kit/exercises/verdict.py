"""What an answer is told that is not right. Not taught."""


class Wrong(AssertionError):
    """An answer that is not right, and the hint for whoever wrote it.

    `share` is the part of the points that it has earned, from 0 to 1.
    """

    def __init__(self, hint: str, share: float = 0.0) -> None:
        super().__init__(hint)
        self.hint = hint
        self.share = share

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of forty lines of a traceback."""
        return [f"Wrong: {self}"]


class NotStarted(Wrong):
    """The answer is still the stub."""
