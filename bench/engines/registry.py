"""Which engines there are; one that is not installed is named with the reason, and the others are measured."""

from collections.abc import Callable, Iterable
from importlib import import_module

from bench.engines.interface import Engine
from bench.engines.plain import PlainLoop
from lexigraft.core.errors import MissingExtraError, SettingError

PEERS = ("pisa", "qdrant", "seismic")


def installed() -> tuple[list[Engine], dict[str, str]]:
    """(engines, why others are left out), ours first."""
    engines: list[Engine] = [*_of("ours")(), PlainLoop()]
    left_out = {}
    for peer in PEERS:
        try:
            engines += _of(peer)()
        except MissingExtraError as error:
            left_out[peer] = str(error)
    return engines, left_out


def _of(module: str) -> Callable[[], list[Engine]]:
    listed: Callable[[], list[Engine]] = import_module(f"bench.engines.{module}").engines
    return listed


def chosen(engines: list[Engine], beginnings: Iterable[str]) -> list[Engine]:
    """Those whose names begin with one of `beginnings`; all where there is none. Raises for one that fits nothing."""
    wanted = list(beginnings)
    for beginning in wanted:
        if not any(engine.name.startswith(beginning) for engine in engines):
            names = ", ".join(engine.name for engine in engines)
            raise SettingError(f"no engine's name begins with {beginning!r}; there are {names}")
    return [engine for engine in engines if not wanted or engine.name.startswith(tuple(wanted))]
