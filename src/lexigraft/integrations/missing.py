"""What is said where the framework of an integration is not installed."""

from lexigraft.core.errors import MissingExtraError
from lexigraft.core.installing import install_extra


def missing_framework(what: str, module: str, extra: str, error: ImportError) -> MissingExtraError:
    """The error for a framework that cannot be imported: `module`, or a package that it needs itself."""
    absent = (error.name or module).partition(".")[0]
    return MissingExtraError(what, absent, install_extra(extra))
