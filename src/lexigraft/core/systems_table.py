"""The table [systems] of a settings file: systems by name, each with a recipe, settings, or both."""

import re
from collections.abc import Mapping
from typing import Any

from lexigraft.core.errors import SettingError
from lexigraft.core.recipes import read_recipe
from lexigraft.core.settings import LEXICAL, section_names
from lexigraft.core.toml_files import require_known

SYSTEMS, RECIPE, KIND = "systems", "recipe", "kind"
MODEL, BM25 = "model", "bm25"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
TAKEN = {
    "metadata": "a folder of that name beside its systems holds what filters read",
    "auto": "it stands for all",
    "blend": "a run blends BM25 and a model under that name",
}
# What a system may say. The rest is the run's: systems of different documents, indexes or measures do not compare.
SAYS = {
    MODEL: ("vocab", "model", "backbone", "mlm", "pretrain", "teacher", "tilde", "finetune", "prune", "run"),
    BM25: ("lexical", "prune"),
}
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


def _resolved(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    place = f"{SYSTEMS}.{name}"
    if not NAME.fullmatch(name):
        raise SettingError(
            f"a system cannot be called {name!r}: its name is that of a folder, of letters, digits, - and _, and "
            "begins with a letter or a digit"
        )
    if name in TAKEN:
        raise SettingError(f"a system cannot be called {name!r}: {TAKEN[name]}; give it another name")
    kind = table.get(KIND, BM25 if name in LEXICAL else MODEL)
    if kind not in SAYS or (name in LEXICAL and kind != BM25):
        allowed = BM25 if name in LEXICAL else " or ".join(SAYS)
        raise SettingError(f"{place}.{KIND} = {kind!r} is not allowed: {allowed}")
    said = {key: value for key, value in table.items() if key not in (KIND, RECIPE)}
    if RECIPE in table:
        if not isinstance(table[RECIPE], str):
            raise SettingError(f"{place}.{RECIPE} = {table[RECIPE]!r} is not allowed: the name of a recipe, or a file")
        said = merged_systems({name: read_recipe(table[RECIPE]).settings}, {name: said})[name]
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
