"""Folders of models that libraries cannot open: what tokenizers, safetensors and transformers raise of a damaged file
is of many kinds, and often none that Python knows. Here it becomes one line that names the folder."""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.core.stored_record import shortened

P = ParamSpec("P")
T = TypeVar("T")


def naming_what_is_damaged(load: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """`load`, whose first argument is the folder or name of a model."""

    @functools.wraps(load)
    def loading(source: Any, /, *arguments: P.args, **named: P.kwargs) -> T:
        try:
            return load(source, *arguments, **named)
        except (LexigraftError, MemoryError, ImportError):
            raise
        except Exception as error:
            if _is_of_the_machine(error):
                raise
            said = (str(error).strip().splitlines() or [""])[0].rstrip(".")
            said = shortened(f"{type(error).__name__}: {said}", quoted=False)
            remedy = "one of its files is damaged, or of a form that is not known: save or fetch it again"
            raise InputError(f"no model can be loaded from {str(source)!r} ({said}); {remedy}") from error

    return loading


def _is_of_the_machine(error: Exception) -> bool:
    """Whether the folder may be as it should: the system refused something, or a GPU has too little memory."""
    return (isinstance(error, OSError) and error.errno is not None) or type(error).__name__ == "OutOfMemoryError"
