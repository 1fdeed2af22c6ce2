"""What a client is told that asked for something it cannot have: a status and one line, without a path or a trace."""

import logging
import re
from collections.abc import Iterable, Mapping

from lexigraft.core.errors import InputError, LexigraftError, SettingError

LONGEST = 500  # characters of a line
ODD = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]+")  # what a log or a terminal would obey, or UTF-8 lacks
PATH = re.compile(r"(?<![\w<])(/[^\s/]+){2,}|(?<![\w.])\.{1,2}/|\\\\")
AROUND = "'\"`,.;:()[]"  # what may stand around a path in a message
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


def refused_by(error: LexigraftError, status: int = 422, given: Iterable[str] = ()) -> RefusedError:
    """What is told of an error of the library. Only what a client has sent is its fault: of all else, and of what names
    a place on this machine, the log tells. Paths that stand in the texts of the request, `given`, are none."""
    message = on_one_line(str(error))
    texts = [form for text in given for form in (text, repr(text))]  # messages name them in both ways
    places = [found[0].strip(AROUND) for found in PATH.finditer(message)]
    if isinstance(error, SettingError | InputError) and all(any(one in text for text in texts) for one in places):
        return RefusedError(status, message)
    log.warning("refused: %s", message)
    return RefusedError(503, HIDDEN, AGAIN)
