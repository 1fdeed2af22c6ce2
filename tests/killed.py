"""What stands for a kill in tests of resuming."""

from collections.abc import Callable
from typing import Any


class Killed(BaseException):
    """What nobody catches, as a signal that ends the process."""


def dies_at_call(function: Callable[..., Any], call: int) -> Callable[..., Any]:
    """`function`, but for its call number `call`, the first being 1."""
    n_calls = 0

    def dying(*arguments: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        if n_calls == call:
            raise Killed
        return function(*arguments)

    return dying
