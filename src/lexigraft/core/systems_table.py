"""The table [systems] of a settings file: systems by name, each with a recipe, settings, or both."""

import re
from collections.abc import Mapping
from typing import Any

from lexigraft.core.errors import SettingError
from lexigraft.core.recipes import read_recipe
from lexigraft.core.settings import GRAFTED, LEXICAL, PEERS, section_names
from lexigraft.core.toml_files import require_known

SYSTEMS, RECIPE, KIND = "systems", "recipe", "kind"
MODEL, BM25, DENSE, HYBRID = "model", "bm25", "dense", "hybrid"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
TAKEN = {
    "metadata": "a folder of that name beside its systems holds what filters read",
    "auto": "it stands for all",
    "blend": "a run blends BM25 and a model under that name",
    "checksum": "files of a run keep their own checksum under that name",
}
# What a system may say. The rest is the run's: systems of different documents, indexes or measures do not compare.
SAYS = {
    MODEL: ("vocab", "model", "backbone", "mlm", "pretrain", "teacher", "tilde", "finetune", "prune", "run"),
    BM25: ("lexical", "prune"),
    DENSE: ("model", "backbone", "mlm", "finetune", "dense", "run"),
    GRAFTED: ("model", "grafted"),
    HYBRID: ("hybrid",),
}
OF_HYBRIDS = ("of", "method", "weight", "depth")  # what the table of one may say without naming the section
SAID_OF_RUN = ("seed",)


def merged_systems(tables: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Tables of systems as one, the later over the earlier, key by key."""
    merged = {name: dict(table) for name, table in tables.items()}
    for name, table in later.items():
        if not isinstance(table, Mapping):
            raise SettingError(f"{SYSTEMS}.{name} is a system: write [{SYSTEMS}.{name}] and its settings below it")
        own = merged.setdefault(name, {})
        for key, value in table.items():
            both = isinstance(value, Mapping) and isinstance(own.get(key), Mapping)
            own[key] = {**own[key], **value} if both else value
    return merged


def resolved_systems(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each system says, by section, beside its kind; recipes are replaced by what they say."""
    return {name: _resolved(name, table) for name, table in tables.items()}


def is_system_name(name: str) -> bool:
    """Whether a system may have this name, which is that of a folder."""
    return NAME.fullmatch(name) is not None


def usual_kind(name: str) -> str:
    """The kind that a system of this name has, with or without a table; empty where the name says nothing."""
    return BM25 if name in LEXICAL else name if name in (GRAFTED, *PEERS) else ""


def _resolved(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    place = f"{SYSTEMS}.{name}"
    if not is_system_name(name):
        raise SettingError(
            f"a system cannot be called {name!r}: its name is that of a folder, of letters, digits, - and _, and "
            "begins with a letter or a digit"
        )
    if name in TAKEN:
        raise SettingError(f"a system cannot be called {name!r}: {TAKEN[name]}; give it another name")
    fixed = usual_kind(name)
    kind = table.get(KIND, fixed or MODEL)
    if kind not in SAYS or (fixed and kind != fixed):
        allowed = fixed or " or ".join(SAYS)
        raise SettingError(f"{place}.{KIND} = {kind!r} is not allowed: {allowed}")
    said = {key: value for key, value in table.items() if key not in (KIND, RECIPE)}
    if RECIPE in table:
        if not isinstance(table[RECIPE], str):
            raise SettingError(f"{place}.{RECIPE} = {table[RECIPE]!r} is not allowed: the name of a recipe, or a file")
        said = merged_systems({name: read_recipe(table[RECIPE]).settings}, {name: said})[name]
    if kind == HYBRID:
        short = {key: said.pop(key) for key in OF_HYBRIDS if key in said}
        said = {**said, HYBRID: {**short, **said.get(HYBRID, {})}}
    for section, values in said.items():
        require_known(section, [RECIPE, KIND, *section_names()], f"key of [{place}]:")
        if section not in SAYS[kind]:
            raise SettingError(
                f"[{place}] cannot say {section!r}, which is the run's; a system of kind {kind} may say "
                f"{', '.join(SAYS[kind])}"
            )
        if not isinstance(values, Mapping):
            raise SettingError(f"{place}.{section} is a section: write {section}.key = value below [{place}]")
        if section == "run" and (other := [key for key in values if key not in SAID_OF_RUN]):
            raise SettingError(f"[{place}] cannot say run.{other[0]}; of run, a system has a seed of its own")
    return {KIND: kind, **{section: dict(values) for section, values in said.items()}}
