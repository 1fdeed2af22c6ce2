"""What a report says of a grafted system: what was added to BM25's words, what was kept of it, and why."""

from collections.abc import Mapping, Sequence
from typing import Any

from lexigraft.core.settings import GRAFTED, GraftedSettings
from lexigraft.core.systems import System
from lexigraft.grafted.stored import read_facts
from lexigraft.stages.layout import RunFolder

USUAL, GIVEN = "the usual shares, chosen without judgements", "shares as they were set"


def of_graft(run: RunFolder, view: str, systems: Sequence[System]) -> dict[str, Any]:
    """The facts of the grafted system as {"grafted": ...}; nothing of a run without one."""
    settings = next((system.settings.grafted for system in systems if system.kind == GRAFTED), None)
    if settings is None:
        return {}
    usual = GraftedSettings()
    why = USUAL if (settings.borrowed, settings.told) == (usual.borrowed, usual.told) else GIVEN
    return {GRAFTED: {**read_facts(run.vectors(view, GRAFTED))._asdict(), "why": why}}


def graft_lines(report: Mapping[str, Any]) -> list[str]:
    """The same in words; nothing where there is none."""
    facts = report.get(GRAFTED)
    if facts is None:
        return []
    share = facts["postings"] / max(1, facts["bm25_postings"])
    cost = "no cost was asked for" if facts["cost"] is None else f"for a cost of {facts['cost']:g} times BM25's"
    return [
        f"{GRAFTED}: BM25's weights of a document's words, {facts['borrowed']:g} times those that its "
        f"{facts['neighbours']} nearest others lend, and {facts['told']:g} times those that its vector tells "
        f"({facts['why']}). Kept is what weighs at least {facts['threshold']:.3g} ({cost}): {facts['postings']:,} "
        f"postings, {share:.2f} times BM25's"
    ]
