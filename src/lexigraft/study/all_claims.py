"""One table of every claim of every study, from the folders that studies leave.

ROOT/STUDY/arms/*.json    finished trainings, of the scale that decides
ROOT/claims.md claims.json
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import write_json
from lexigraft.core.folders import make_folders
from lexigraft.stages.tables import markdown_table
from lexigraft.study.design import Study
from lexigraft.study.evidence import evidence_of
from lexigraft.study.outputs import write_outputs
from lexigraft.study.papers import STUDIES
from lexigraft.study.regime import GPU, SCALES
from lexigraft.study.verdict import DOES_NOT, HOLDS, OPEN

MARKS = {HOLDS: "✔ holds:", DOES_NOT: "✘ does not hold:", OPEN: "open:"}
MOST = max(len(study.claims) for study in STUDIES.values())


def write_claims(root: Path) -> dict[str, Any]:
    """Decide every claim by what lies in ROOT/STUDY, write each study's outputs and the table of all; returns what
    claims.json holds."""
    found: dict[str, Any] = {}
    for name, study in STUDIES.items():
        folder = root / name
        evidence = evidence_of(folder, study, GPU)
        results = write_outputs(folder, study, evidence, SCALES[GPU]) if evidence.finished else None
        for claim in study.claims:
            told = results["claims"][claim.id] if results else {"verdict": OPEN, "why": "nothing is trained yet"}
            found[claim.id] = {
                "study": name, "claim": claim.text, "verdict": told["verdict"], "why": told["why"],
                "published": claim.published,
            }  # fmt: skip
    counts = Counter(one["verdict"] for one in found.values())
    claims = {"claims": found, "all": len(found), "decided": counts[HOLDS] + counts[DOES_NOT]}
    make_folders(root)
    write_json(root / "claims.json", claims)
    (root / "claims.md").write_text("\n".join(_lines(claims, root)) + "\n", "utf-8")
    return claims


def _lines(claims: dict[str, Any], root: Path) -> Iterator[str]:
    counts = Counter(one["verdict"] for one in claims["claims"].values())
    yield "# The claims of the five papers"
    yield ""
    yield (
        f"{claims['decided']} of {claims['all']} are decided: {counts[HOLDS]} hold here, {counts[DOES_NOT]} do not. "
        "Each is linked to the contrasts that decide it."
    )
    yield ""
    yield from markdown_table(
        ["paper", *("" for _ in range(MOST))],
        ([study.title, *_linked(study, claims["claims"], root)] for study in STUDIES.values()),
    )
    yield ""
    yield (
        "A claim holds where all its contrasts come out as it says, on every collection on which all of them are "
        "trained; it does not hold where one comes out otherwise. Each contrast rests on three seeds of both sides, "
        "paired tests with Bonferroni's correction, and a difference larger than the spread of seeds "
        "([how studies are run](../../howto/studies.md)). The models are far smaller and trained for far fewer steps "
        "than the papers': a claim that does not hold here may hold there. `lexigraft study claims` writes this page "
        "from the finished trainings."
    )
    for name, study in STUDIES.items():
        yield from ("", f"## {study.title}", "", f"{study.paper}.", "")
        if (root / name / "verdicts.md").is_file():
            yield (
                f"[Contrasts]({name}/verdicts.md) · [tables]({name}/tables.md) · [curves]({name}/curves.png) · "
                f"[numbers, commands, commits, devices]({name}/results.json) · "
                f"`lexigraft study {name} --data DIR --out OUT`"
            )
            yield ""
        yield from markdown_table(
            ["claim", "what it says", "verdict", "why", "published (theirs)"],
            (
                [claim.id, claim.text, f"**{one['verdict']}**", one["why"], one["published"]]
                for claim in study.claims
                if (one := claims["claims"][claim.id])
            ),
        )


def _linked(study: Study, claims: dict[str, Any], root: Path) -> Iterator[str]:
    for claim in study.claims:
        told = f"{MARKS[claims[claim.id]['verdict']]} {claim.id}"
        shown = (root / study.name / "verdicts.md").is_file()
        yield f"[{told}]({study.name}/verdicts.md#{claim.id.lower()})" if shown else told
