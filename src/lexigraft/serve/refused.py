"""What a client is told that asked for something it cannot have: a status and one line, without a path or a trace."""

import logging
import os
import re
from collections.abc import Mapping

from lexigraft.core.errors import LexigraftError

LONGEST = 500  # characters of a line
ODD = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]+")  # what a log or a terminal would obey, or UTF-8 lacks
PATH = re.compile(r"(?<![\w<])(/[^\s/]+){2,}|(?<![\w.])\.{1,2}/|\\\\")
HIDDEN = "this cannot be answered now; the server's log says why"
AGAIN = {"Retry-After": "1"}

log = logging.getLogger(__name__)


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, on_one_line(message), dict(headers or {})


def on_one_line(message: str) -> str:
    """A message as one line that is safe to show."""
    said = ODD.sub(" ", message).strip()
    return said if len(said) <= LONGEST else said[: LONGEST - 2] + " …"


def refused_by(error: LexigraftError, status: int = 422) -> RefusedError:
    """What is told of an error of the library. A message that names a place on this machine is for the log alone."""
    message = on_one_line(str(error))
    if isinstance(error, OSError) or PATH.search(message) or os.getcwd() in message:  # noqa: PTH109
        log.warning("refused: %s", message)
        return RefusedError(503 if isinstance(error, OSError) else status, HIDDEN, AGAIN)
    return RefusedError(status, message)
