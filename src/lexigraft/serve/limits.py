"""What one request may ask for, and how many requests and connections there may be at a time."""

from contextlib import suppress
from dataclasses import dataclass, fields

from lexigraft.core.errors import SettingError

try:
    import resource
except ImportError:  # on Windows, which has no such limits
    resource = None  # type: ignore[assignment]

LONGEST_URL = 16_384  # bytes: links with a query, its conditions and switched-off terms
LONGEST_HEAD = 65_536  # bytes of a request's line and headers together
SLOWEST_HEAD = 20.0  # seconds until a request's headers are there
SLOWEST_BODY = 20.0  # seconds until its body is
SLOWEST_READ = 20.0  # seconds in which a client reads at least LEAST_READ of what waits for it
LEAST_READ = 16_384  # bytes
MOST_PIPELINED = 32  # requests of one connection that wait for the one before them
MOST_CONNECTIONS = 2_000
FREE_FILES = 200  # that connections leave to indexes, which hold one for every part of them; of few files, a quarter
MOST_FILES = 65_536


def let_open_many_files() -> None:
    """Connections and the parts of indexes each take one of the files that this process may have open."""
    if resource is not None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def is_left_to_indexes(file: int) -> bool:
    """Whether a connection has one of the last files. A new one has the lowest number that is free."""
    if resource is None:
        return False
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return files != resource.RLIM_INFINITY and file >= files - min(FREE_FILES, files // 4)


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
