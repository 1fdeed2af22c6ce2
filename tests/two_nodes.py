"""Two machines in one: network namespaces of their own, joined by a cable (a veth pair) that can be pulled."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Node:
    """A network namespace; what runs in it sees only its own end of the cable."""

    name: str
    interface: str
    address: str

    def start(self, command: list[str], log: Path, **environment: str) -> "subprocess.Popen[bytes]":
        given = {**os.environ, "GLOO_SOCKET_IFNAME": self.interface, **environment}
        with log.open("wb") as file:
            full = ["ip", "netns", "exec", self.name, *command]
            return subprocess.Popen(full, stdout=file, stderr=subprocess.STDOUT, env=given)

    def kill(self) -> None:
        """As if the machine were switched off and on again: everything in it is gone at once."""
        for pid in _ip("netns", "pids", self.name).split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)

    def cable(self, state: str) -> None:
        """Pull the cable ("down") or put it in ("up")."""
        _ip("-n", self.name, "link", "set", self.interface, state)


def _ip(*arguments: str) -> str:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True).stdout


@contextmanager
def two_nodes() -> Iterator[tuple[Node, Node]]:
    """Skips the test where namespaces cannot be made."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and iproute2")
    stem = f"lg{os.getpid() % 10**7}"
    nodes = tuple(Node(f"{stem}{end}", f"{stem}{end}", f"10.77.9.{1 + n}") for n, end in enumerate("ab"))
    try:
        for node in nodes:
            _ip("netns", "add", node.name)
        # Made inside of the first, so that the names never stand in the machine's own network.
        _ip("-n", nodes[0].name, "link", "add", nodes[0].interface, "type", "veth", "peer", "name",
            nodes[1].interface, "netns", nodes[1].name)  # fmt: skip
        for node in nodes:
            _ip("-n", node.name, "addr", "add", f"{node.address}/24", "dev", node.interface)
            _ip("-n", node.name, "link", "set", "lo", "up")
            node.cable("up")
    except subprocess.CalledProcessError as error:
        _remove(nodes)
        pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
    try:
        yield nodes[0], nodes[1]
    finally:
        _remove(nodes)


def _remove(nodes: tuple[Node, ...]) -> None:
    for node in nodes:
        with suppress(subprocess.CalledProcessError):
            node.kill()
            _ip("netns", "delete", node.name)
