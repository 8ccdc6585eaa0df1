"""What can go wrong, in one family.

Every error of the project derives from `SkylineError`. `InvalidInput` is the caller's to mend: its message names
the value, the limit and the place. Anything else is ours, or the world's.
"""


class SkylineError(Exception):
    """Base of every error this project raises on purpose."""


class InvalidInput(SkylineError, ValueError):
    """The caller gave something that has no meaning here; nothing was changed."""
