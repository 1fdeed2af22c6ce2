"""What would be better where texts are all there is: nothing is learned or measured then."""

import json
from shlex import join
from typing import NamedTuple

from lexigraft.core.config import changed_settings
from lexigraft.core.installing import INSTALL_EMBEDDED, has_embedded, install_extra
from lexigraft.core.settings import GRAFTED, Settings
from lexigraft.learn.model_training import missing_packages
from lexigraft.learn.usual_systems import FEWEST_DOCUMENTS

OTHERWISE = ("run.systems", "run.peers")  # what the advice is about


class Advice(NamedTuple):
    """`says` why, `install` is what must be given before, `command` what then; empty where there is nothing to give."""

    says: str
    install: str = ""
    command: str = ""


def advice(source: str, out: str, given: Settings, systems: tuple[str, ...], n_documents: int) -> Advice:
    """For a run of `source` in the folder `out`, which has these systems, with the settings that somebody gave it."""
    if GRAFTED in systems:
        return Advice(
            "Nothing is judged, so nothing is measured. BM25 is grafted: documents have words of their neighbours, "
            "which was ahead of BM25 on seven of ten collections, and level on three. Whether it is "
            "better for you, some questions of yours tell:",
            command=join(["lexigraft", "judge", "--run", out]),
        )
    if n_documents < FEWEST_DOCUMENTS:
        return Advice(
            "Nothing is judged, so nothing is measured; queries with judgements (queries.jsonl, qrels/test.tsv) let "
            f"any number be measured. With {FEWEST_DOCUMENTS} texts or more BM25 is grafted: documents borrow words"
        )
    changed = {name: value for name, value in changed_settings(given).items() if name not in OTHERWISE}
    kept = [part for name, value in changed.items() for part in ("--set", f"{name}={json.dumps(value)}")]
    wanted = [install_extra("train")] if missing_packages() else []
    wanted += [] if has_embedded() else [INSTALL_EMBEDDED]
    says = (
        "Nothing is judged, so nothing is measured, and BM25 finds only the words that are asked for. Grafted, it "
        "finds what other words say, at the same cost and without a model at query time"
        f"{'; when this is installed' if wanted else ''}:"
    )
    return Advice(says, " && ".join(wanted), join(["lexigraft", "run", "--data", source, "--out", out, *kept]))
