"""What one request may ask for, and how many requests and connections there may be at a time."""

from dataclasses import dataclass, fields

from lexigraft.core.errors import SettingError

LONGEST_URL = 16_384  # bytes: links with a query, its conditions and switched-off terms
LONGEST_HEAD = 65_536  # bytes of a request's line and headers together
SLOWEST_HEAD = 20.0  # seconds until a request's headers are there
SLOWEST_BODY = 20.0  # seconds until its body is
SLOWEST_READ = 20.0  # seconds in which a client reads at least LEAST_READ of what waits for it
LEAST_READ = 16_384  # bytes
MOST_PIPELINED = 32  # requests of one connection that wait for the one before them
MOST_CONNECTIONS = 2_000
LEAST_CONNECTIONS = 16
LEAST_FILES = 100  # that stay free for indexes, which hold a file for every part of them


def most_connections() -> int:
    """How many connections may be open at once. Each takes a file of those that this process may have open; a third of
    them is left for indexes and the versions that replace them."""
    try:
        import resource
    except ImportError:  # on Windows, which has no such limit
        return MOST_CONNECTIONS
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(LEAST_CONNECTIONS, min(MOST_CONNECTIONS, files - max(LEAST_FILES, files // 3)))


@dataclass(frozen=True)
class Limits:
    """All of them are options of `lexigraft serve`."""

    body_bytes: int = 1 << 20
    query_characters: int = 2_000
    results: int = 100
    texts: int = 64  # of one request to /encode or /embed_sparse
    text_characters: int = 100_000  # of each of those
    waiting: int = 256  # requests that wait for a thread; further ones are turned away
    seconds: float = 10.0  # a request may take, waiting included
    threads: int = 0  # that answer; 0: one for each core

    def __post_init__(self) -> None:
        for one in fields(self):
            value, least = getattr(self, one.name), 0 if one.name in ("threads", "waiting") else 1
            if (value < least and one.name != "seconds") or (value <= 0 and one.name == "seconds"):
                raise SettingError(f"{one.name.replace('_', '-')} = {value} is not allowed: {least} or more")
