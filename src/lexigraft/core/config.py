"""Settings: one frozen dataclass per stage, read from TOML and `section.key=value` overrides.

Nothing is guessed: an unknown section or key fails with the nearest name, a value of the wrong type with what is
allowed. The resolved settings are what manifests record.
"""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from lexigraft.core.errors import SettingError


def _require(ok: bool, name: str, value: object, allowed: str) -> None:
    if not ok:
        raise SettingError(f"{name} = {value!r} is not allowed: {allowed}")


@dataclass(frozen=True)
class DataSettings:
    """Which queries are measured, and what the embedded collection reads."""

    split: str = "auto"  # the qrels file to measure on; auto: test, or dev where there is no test
    on_duplicate: str = "warn"  # an id used twice: keep the first and warn, or error
    packages: tuple[str, ...] = ()  # pydocs: only these top-level packages; empty means all that are installed
    processes: int = 0  # pydocs: parser processes; 0 means one per core

    def __post_init__(self) -> None:
        _require(self.on_duplicate in ("warn", "error"), "data.on_duplicate", self.on_duplicate, "warn or error")
        _require(self.processes >= 0, "data.processes", self.processes, "0 (one per core) or more")


@dataclass(frozen=True)
class LexicalSettings:
    """BM25 and its words."""

    k1: float = 1.2
    b: float = 0.75
    stopwords: str = "english"  # english: Lucene's 33; none
    stemmer: str = "english"  # a Snowball language; none

    def __post_init__(self) -> None:
        _require(self.k1 >= 0, "lexical.k1", self.k1, "0 or more")
        _require(0 <= self.b <= 1, "lexical.b", self.b, "0 to 1")
        _require(self.stopwords in ("english", "none"), "lexical.stopwords", self.stopwords, "english or none")


@dataclass(frozen=True)
class IndexSettings:
    memory_mib: int = 256  # postings held in memory at once while building

    def __post_init__(self) -> None:
        _require(self.memory_mib >= 1, "index.memory_mib", self.memory_mib, "1 or more")


@dataclass(frozen=True)
class PruneSettings:
    """Static pruning: pairs (qk, dk) of query and document terms kept; 0 keeps all. One report row each."""

    budgets: tuple[tuple[int, int], ...] = ((0, 0),)

    def __post_init__(self) -> None:
        ok = bool(self.budgets) and all(
            len(pair) == 2 and all(type(k) is int and k >= 0 for k in pair) for pair in self.budgets
        )
        _require(ok, "prune.budgets", self.budgets, "pairs of counts such as [[0, 0], [7, 20]]")


@dataclass(frozen=True)
class SearchSettings:
    k: int = 1000  # how deep the measured rankings go
    method: str = "maxscore"

    def __post_init__(self) -> None:
        _require(self.k >= 1, "search.k", self.k, "1 or more")
        _require(self.method in ("exhaustive", "maxscore"), "search.method", self.method, "exhaustive or maxscore")


@dataclass(frozen=True)
class EvaluateSettings:
    measures: tuple[str, ...] = ("R@100", "R@1000")  # beside MRR@10, R@10 and nDCG@10, which every report has
    run_depth: int = 100  # results a query in run.trec; measures see all that were searched for
    timing_queries: int = 500  # at most so many queries are timed, `timing_runs` times each, on one thread
    timing_runs: int = 5

    def __post_init__(self) -> None:
        _require(self.run_depth >= 1, "evaluate.run_depth", self.run_depth, "1 or more")
        _require(self.timing_queries >= 1, "evaluate.timing_queries", self.timing_queries, "1 or more")
        _require(self.timing_runs >= 1, "evaluate.timing_runs", self.timing_runs, "1 or more")


@dataclass(frozen=True)
class RunSettings:
    systems: tuple[str, ...] = ("bm25", "bm25-plain")
    seed: int = 0

    def __post_init__(self) -> None:
        known = ("bm25", "bm25-plain")
        _require(
            bool(self.systems) and set(self.systems) <= set(known),
            "run.systems",
            list(self.systems),
            f"some of {', '.join(known)}",
        )


@dataclass(frozen=True)
class Settings:
    """All of them; each stage is handed only its own section."""

    run: RunSettings = field(default_factory=RunSettings)
    data: DataSettings = field(default_factory=DataSettings)
    lexical: LexicalSettings = field(default_factory=LexicalSettings)
    prune: PruneSettings = field(default_factory=PruneSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    evaluate: EvaluateSettings = field(default_factory=EvaluateSettings)


def load_settings(path: Path | None = None, overrides: Iterable[str] = ()) -> Settings:
    """Defaults, then the TOML file at `path`, then overrides such as `lexical.k1=0.9`."""
    settings = Settings()
    if path is not None:
        settings = _apply(settings, _read_toml(path))
    for override in overrides:
        settings = _apply(settings, _parse_override(override))
    return settings


def settings_as_dict(settings: Settings) -> dict[str, Any]:
    return asdict(settings)


def _read_toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} is not valid TOML: {error}") from error


def _parse_override(override: str) -> Mapping[str, Any]:
    name, equals, text = override.partition("=")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot:
        raise SettingError(f"--set {override!r} is not of the form section.key=value, such as lexical.k1=0.9")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()  # a bare word needs no quotes on the command line
    return {section: {key: value}}


def _apply(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    for section, values in changes.items():
        _require_known(section, [f.name for f in fields(Settings)], "section")
        if not isinstance(values, Mapping):
            raise SettingError(f"{section} is a section: write [{section}] and its keys below it")
        old = getattr(settings, section)
        known = [f.name for f in fields(old)]
        converted = {}
        for key, value in values.items():
            _require_known(f"{section}.{key}", [f"{section}.{name}" for name in known], "setting")
            converted[key] = _convert(f"{section}.{key}", value, getattr(old, key))
        settings = replace(settings, **{section: replace(old, **converted)})
    return settings


def _require_known(name: str, known: list[str], what: str) -> None:
    if name in known:
        return
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
    raise SettingError(f"unknown {what} {name!r}; did you mean {nearest!r}? Known: {', '.join(known)}")


def _convert(name: str, value: Any, default: Any) -> Any:
    """`value` as the type of `default`; lists become tuples and a lone value a tuple of one."""
    if isinstance(default, tuple):
        items = value if isinstance(value, list) else [value]
        wanted = list if default and isinstance(default[0], tuple) else str
        if not all(isinstance(item, wanted) for item in items):
            form = "[[0, 0], [7, 20]]" if wanted is list else '["one", "two"]'
            raise SettingError(f"{name} = {value!r} is not allowed: it is a list such as {form}")
        return tuple(tuple(item) if isinstance(item, list) else item for item in items)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(default):
        raise SettingError(
            f"{name} = {value!r} should be of type {type(default).__name__}, like its default {default!r}"
        )
    return value
