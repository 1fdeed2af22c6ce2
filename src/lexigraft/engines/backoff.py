"""Another try, later and later."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from lexigraft.engines.engine import UnreachableError

TRIES = 7
FIRST_WAIT, LONGEST_WAIT = 0.25, 15.0  # seconds; with doubling, half a minute in all before it is given up

T = TypeVar("T")

log = logging.getLogger(__name__)


def with_retries(do: Callable[[], T], sleep: Callable[[float], None] = time.sleep) -> T:
    """What `do` returns. Where the engine cannot be reached or is overloaded, it is asked again after a wait that
    doubles, and differs from client to client."""
    wait = FIRST_WAIT
    for left in reversed(range(TRIES)):
        try:
            return do()
        except UnreachableError as error:
            if not left:
                raise
            pause = wait * random.uniform(0.5, 1.5)
            log.warning("%s; trying again in %.1f s", error, pause)
            sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)
    raise AssertionError("the last try has returned or raised")
