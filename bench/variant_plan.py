"""What a plan of variants asks for (`bench.variants`): backbones that are prepared once, and trainings."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Backbone:
    """A backbone that goes on as a masked language model on texts, before any training of a variant. `begins`: the
    backbone it goes on from, empty where that is the one of the command line."""

    name: str
    texts: str
    steps: int
    begins: str = ""
    options: list[str] = field(default_factory=list)
    state: str = "waiting"
    seconds: float = 0.0
    failures: int = 0

    @property
    def folder(self) -> str:
        return f"backbone-{self.name}"


@dataclass
class Variant:
    """One training. `beside`: variants whose systems its run has, too. `shares`: the variant whose pre-training it
    begins with, empty where it makes its own. `backbone`: one of the plan's, empty where it is the command line's."""

    name: str
    collection: str
    seed: int
    settings: list[str]
    teachers: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    shares: str = ""
    backbone: str = ""
    state: str = "waiting"
    seconds: float = 0.0
    failures: int = 0

    @property
    def before(self) -> list[str]:
        """What is trained before it."""
        return [*self.teachers, *self.beside]

    @property
    def folder(self) -> str:
        return f"{self.collection}-{self.seed}-{self.name}"


@dataclass
class Plan:
    collections: dict[str, Any]
    backbones: list[Backbone]
    variants: list[Variant]


def read_plan(path: Path) -> Plan:
    """The collections by name, the backbones, and all trainings in the order of the plan, seed by seed, by the number
    that they say as `last`."""
    plan = tomllib.loads(path.read_text(encoding="utf-8"))
    backbones = [Backbone(name, **said) for name, said in plan.get("backbones", {}).items()]
    variants = [
        variant_of(name, said, collection, seed)
        for seed in plan["seeds"]
        for name, said in plan["variants"].items()
        for collection in said.get("collections", plan["collections"])
        if seed in said.get("seeds", plan["seeds"])
    ]
    variants.sort(key=lambda variant: plan["variants"][variant.name].get("last", 0))
    return Plan(plan["collections"], backbones, variants)


def variant_of(name: str, said: dict[str, Any], collection: str, seed: int) -> Variant:
    settings = [*said.get("settings", []), *said.get(collection, [])]
    return Variant(
        name, collection, seed, [one.replace("{seed}", str(seed)) for one in settings],
        said.get("teachers", []), said.get("beside", []), said.get("shares", ""),
        said.get("backbone", "").replace("{collection}", collection),
    )  # fmt: skip
