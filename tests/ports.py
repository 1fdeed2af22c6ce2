"""A port of this machine for a server that a test is about to start."""

import os
import socket
from contextlib import suppress

FIRST, BEYOND = 10_000, 30_000  # below those that systems give to connections that ask for none


def free_port() -> int:
    """One that nobody uses. A port that the system chose may be given to another connection as soon as it is closed
    again; these are given to who names them, and processes that run beside each other begin at different ones."""
    for port in (FIRST + (os.getpid() * 37 + offset) % (BEYOND - FIRST) for offset in range(BEYOND - FIRST)):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError(f"no port from {FIRST} to {BEYOND} is free")
