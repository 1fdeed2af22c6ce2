"""The errors a user can cause: each names the value, what is allowed, and the remedy.

They subclass `ValueError` or `OSError`, so that a caller who knows nothing of Lexigraft still catches the right thing;
the command line turns any `LexigraftError` into one line and exit status 2.
"""


class LexigraftError(Exception):
    """Common base of every error that is the input's fault, not the program's."""


class InputError(LexigraftError, ValueError):
    """A collection, query or file does not hold what it should."""


class SettingError(LexigraftError, ValueError):
    """A setting is unknown or out of range."""


class ArtifactError(LexigraftError, OSError):
    """A stored artifact is missing, truncated, corrupt, or from other settings."""


class MixedVersionsError(ArtifactError):
    """Parts that belong together were replaced one after the other, and one of each version was read."""


class VocabularyMismatchError(LexigraftError, ValueError):
    """Two things that must share a vocabulary do not."""

    def __init__(self, left: str, left_fingerprint: str, right: str, right_fingerprint: str) -> None:
        super().__init__(
            f"{left} (vocabulary {left_fingerprint[:12]}) and {right} (vocabulary {right_fingerprint[:12]}) "
            "were made with different vocabularies; encode and index both with the same one"
        )


class MissingExtraError(LexigraftError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, needed_for: str, module: str, remedy: str) -> None:
        super().__init__(f"{needed_for} needs the package '{module}', which is not installed; {remedy}")


def require(ok: bool, name: str, value: object, allowed: str) -> None:
    """Raise unless a setting is in order, saying what is allowed."""
    if not ok:
        raise SettingError(f"{name} = {value!r} is not allowed: {allowed}")
