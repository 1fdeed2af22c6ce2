"""A process that serves has no torch: it would take seconds to start and gigabytes to hold."""

import sys

from lexigraft.core.errors import ArtifactError, MissingExtraError

LARGE = ("torch", "transformers")


def keep_torch_out() -> None:
    """From here on nothing in this process can import torch; what asks finds it not installed."""
    for name in LARGE:
        if name not in sys.modules:
            sys.modules[name] = None  # type: ignore[assignment]  # how Python says that a module cannot be had


def without_form(error: MissingExtraError, name: str) -> ArtifactError:
    """What is said of a model that only torch could open."""
    return ArtifactError(
        f"the model of {name} has no inference form, which a server encodes by ({error}); make it by one search: "
        f'lexigraft search --run RUN --system {name} "a query"'
    )
