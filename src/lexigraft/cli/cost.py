"""The option --cost: what a search may cost, as the settings that say so."""

import re
from typing import Annotated

import typer

from lexigraft.core.errors import SettingError

CostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        help="What a search may cost: a share of BM25's postings, such as 0.5, to which training is steered and for "
        "which (qk, dk) are chosen; or terms of a query and a document, such as 12x40. Repeated: a model for each "
        "share, from one pre-training.",
        metavar="SHARE|QKxDK",
    ),
]
TERMS = re.compile(r"(\d+)x(\d+)")
ALLOWED = "a share of BM25's cost, more than 0, such as 0.5, or terms of a query and a document, such as 12x40"


def cost_overrides(costs: list[str] | None) -> list[str]:
    """The settings that the option's values stand for, as --set would have them."""
    if not costs:
        return []
    if len(costs) == 1:
        return _of_one(costs[0])
    shares = [_share(cost) for cost in costs]
    return [f"systems.{system_name(share)}.prune.cost={share!r}" for share in dict.fromkeys(shares)]


def system_name(share: float) -> str:
    """What the model for one of several costs is called: by per cent of BM25's."""
    return f"at-{100 * share:g}".replace(".", "_")


def _of_one(cost: str) -> list[str]:
    terms = TERMS.fullmatch(cost)
    if terms is None:
        return [f"prune.cost={_share(cost)!r}"]
    qk, dk = map(int, terms.groups())
    if not qk or not dk:
        raise SettingError(f"--cost {cost!r} keeps no terms; give {ALLOWED}")
    return [f"finetune.qk={qk}", f"finetune.dk={dk}", "prune.budget=terms", f"prune.budgets=[[{qk},{dk}],[0,0]]"]


def _share(cost: str) -> float:
    try:
        share = float(cost)
    except ValueError:
        share = 0.0
    if not 0 < share < float("inf"):
        several = "" if TERMS.fullmatch(cost) is None else "; terms are given alone, not beside other costs"
        raise SettingError(f"--cost {cost!r} is not allowed: {ALLOWED}{several}")
    return share
