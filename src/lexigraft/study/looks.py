"""Further measurements of what a run trained, by name; each gives a few numbers that JSON holds."""

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lexigraft.core.plain_files import read_plain_file
from lexigraft.search.counters import COUNTERS
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import JUDGED
from lexigraft.study.design import Study, cut_to
from lexigraft.vectors.prune import prune
from lexigraft.vectors.store import open_vectors

LOGIT_TEXTS = 1000
MASKED_TEXTS = 1000
WACKIEST = 1000  # so many that two lists share some by chance alone, and how many is told precisely
MOST_REMOVED = 1000  # terms, wacky or random
KEPT_STEPS = 25  # of a history, so that a finished training stays small


class Looked(NamedTuple):
    """What is looked at. `others` are further collections, for what a model is worth out of its domain."""

    run: FinishedRun
    study: Study
    others: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """The name of the run's own model."""
        return next(one.name for one in self.run.systems() if one.is_model)


def training_look(at: Looked) -> dict[str, float]:
    """How fine-tuning went: the first loss, how rough the ranking loss was, terms and head at its end."""
    history = _read(at.run.folder.model("finetuned") / "history.json", [])
    ranking = [float(step["rank"]) for step in history if "rank" in step]
    found = {f"last {name}": float(history[-1][name]) for name in ("L0_q", "L0_d", "head_norm") if history}
    if len(ranking) > 1:
        found |= {"first loss": ranking[0], "mean loss": float(np.mean(ranking)), "last loss": ranking[-1]}
        found["roughness"] = float(np.mean([abs(b - a) for a, b in pairwise(ranking)]))
    return found


def curve_look(at: Looked) -> list[dict[str, float]]:
    """Some steps of fine-tuning, for its picture."""
    history = _read(at.run.folder.model("finetuned") / "history.json", [])
    every = max(1, len(history) // KEPT_STEPS)
    shown = ("rank", "L0_q", "L0_d", "R@10")
    return [
        {"step": float(at), **{name: float(step[name]) for name in shown if name in step}}
        for at, step in enumerate(history, 1)
        if at == 1 or at % every == 0 or "R@10" in step
    ]


def pretraining_look(at: Looked) -> dict[str, float]:
    """The last accuracies of EMLM: on its own texts and, where it validated, on others."""
    found: dict[str, float] = {}
    for step in _read(at.run.folder.model("pretrained") / "history.json", []):
        found |= {name: float(value) for name, value in step.items() if name.endswith(("accuracy", "loss"))}
    return found


def head_look(at: Looked) -> dict[str, float]:
    """Norms and anisotropy of the head before fine-tuning, before and after it was divided by alpha."""
    before = _read(at.run.folder.model("pretrained") / "head.json", {})
    chosen = _read(at.run.folder.model("finetuned") / "alpha.json", {})
    alpha = chosen.get("alpha", at.run.settings.model.alpha)
    found = {name: float(value) for name, value in before.items()}
    return found | ({"alpha": float(alpha)} if isinstance(alpha, int | float) else {})


def logits_look(at: Looked) -> dict[str, float]:
    """The logit statistics of the pre-trained model on documents of the collection."""
    from lexigraft.learn.model_logits import measure

    found = measure(at.run.folder.model("pretrained"), at.run.source, LOGIT_TEXTS, 0, at.run.settings)
    return _numbers(found)


def postings_look(at: Looked) -> dict[str, float]:
    """How long the lists of an index are, and how unequal, whole and at the cuts of the study."""
    matrix = open_vectors(at.run.folder.vectors(JUDGED, at.model), checksums=False).matrix
    found: dict[str, float] = {}
    for name, dk in {"whole": 0, **{cut_to(*cut): cut[1] for cut in at.study.cuts}}.items():
        kept = prune(matrix, dk)
        lengths = np.bincount(kept.term_ids, minlength=kept.n_terms)
        used = lengths[lengths > 0]
        found |= {f"{name} mean": float(used.mean()) if len(used) else 0.0, f"{name} std": float(used.std())}
        found[f"{name} terms"] = float(len(used))
    return found


def masked_look(at: Looked) -> dict[str, float]:
    """How often the pre-trained model names a masked term, in documents of the collection: the same ones for all arms,
    whatever they were pre-trained on."""
    from lexigraft.learn.training_data import sample
    from lexigraft.model.backbone import default_device
    from lexigraft.model.encoder import open_encoder
    from lexigraft.train.language.subword_validation import has_split_term, mask_by_subword, measure
    from lexigraft.vocab.aligned import take

    encoder = open_encoder(at.run.folder.model("pretrained")).to(default_device())
    texts = {document.doc_id: document.contents for document in at.run.collection.documents()}
    chosen = [texts[doc_id] for doc_id in sample(texts, MASKED_TEXTS)]
    read = encoder.reader().read(chosen, at.run.settings.model.document_length)
    split = np.flatnonzero(has_split_term(read))
    return measure(encoder, mask_by_subword(take(read, split), encoder.tokenizer.special.mask, 0)) if len(split) else {}


def wackiness_look(at: Looked) -> dict[str, Any]:
    """W-AUC by queries and the wackiest terms; MRR@10 without the wackiest terms against without random ones, in domain
    and elsewhere: how many standard deviations it is below."""
    found = _wackiness(at, at.model)
    entry = found["sides"]["queries"][0]
    told = {name: entry[name] for name in ("W-AUC", "coverage", "terms_of_score_1", "expansion_terms_an_input")}
    told["top terms"] = [term["term"] for term in entry["top_terms"]]
    told["wackiest"] = _wackiest(at.run.folder.root / f"wackiness-{at.model}" / entry["name"] / "queries")
    for removal in found["removal"]:
        measure = "MRR@10" if removal["domain"] == "in-domain" else "nDCG@10"
        values, places = removal["measures"][measure], [n for n in removal["removed"] if n <= MOST_REMOVED]
        if places and values["random_std"][len(places) - 1]:
            place = len(places) - 1
            below = (values["random"][place] - values["wacky_mean"][place]) / values["random_std"][place]
            told[f"{removal['domain']} {removal['collection']}, deviations below random"] = below
    return told


def _wackiest(folder: Path) -> list[str]:
    """More of the wackiest terms than a reader would look at, for comparison with those of other trainings."""
    from lexigraft.explain.wackiness_store import open_wackiness

    found = open_wackiness(folder)
    return [found.vocabulary.terms[term] for term in found.terms.wackiest(WACKIEST).tolist()]


def rm3_look(at: Looked) -> dict[str, Any]:
    """W-AUC of BM25 with RM3 on the same queries."""
    return {"W-AUC": _wackiness(at, "bm25+rm3", removal=False)["sides"]["queries"][0]["W-AUC"]}


def _wackiness(at: Looked, system: str, removal: bool = True) -> dict[str, Any]:
    from lexigraft.study.wackiness.measure import measure_wackiness
    from lexigraft.study.wackiness.settings import WackinessSettings

    settings = WackinessSettings(removal=removal, removal_queries=500, threads=2)
    out = at.run.folder.root / f"wackiness-{system}"
    return measure_wackiness([at.run.folder.root], out, settings, [system], others=at.others if removal else ())


def engine_look(at: Looked) -> dict[str, float]:
    """What queries are like, touch and take in the index: terms, split queries, postings, MaxScore's work, list
    maxima; times by Block-Max WAND and by the default method, over BM25's in turns."""
    from lexigraft.comparison.index_stats import StatisticsSettings, measure_indexes

    settings = StatisticsSettings(ks=(10, 1000), runs=3, limit=100, documents=1000)
    folder = at.run.folder.root
    found = measure_indexes([folder, folder], systems=[at.model, "bm25"], settings=settings)
    ours, theirs = found["systems"]
    told = {
        name: float(ours[name])
        for name in ("query_terms", "document_terms", "postings_per_query", "split_queries", "expansion_terms")
        if ours[name] is not None
    }
    for one, other in zip(ours["searches"], theirs["searches"], strict=True):
        told[f"{one['method']} {one['k']}, times BM25's"] = one["ms"]["mean"] / other["ms"]["mean"]
    for one in ours["operations"]:
        told |= {f"{name} {one['k']}": float(one[name]) for name in COUNTERS}
    told["gini"] = float(found["list_maxima"]["systems"][0]["non_empty"]["gini"] or 0)
    return told


def _numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a result, those inside its parts by names joined."""
    numbers: dict[str, float] = {}
    for name, value in found.items():
        if isinstance(value, Mapping):
            numbers |= {f"{name} {inner}": number for inner, number in _numbers(value).items()}
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers[name] = float(value)
    return numbers


def _read(path: Path, otherwise: Any) -> Any:
    return json.loads(read_plain_file(path)) if path.is_file() else otherwise


LOOKS: dict[str, Callable[[Looked], Any]] = {
    "training": training_look,
    "curve": curve_look,
    "head": head_look,
    "pretraining": pretraining_look,
    "masked": masked_look,
    "logits": logits_look,
    "postings": postings_look,
    "wackiness": wackiness_look,
    "rm3": rm3_look,
    "engine": engine_look,
}
ALWAYS = ("training", "curve", "head")


def look(at: Looked, names: tuple[str, ...]) -> dict[str, Any]:
    """What every training is looked at by, and the further looks of an arm."""
    return {name: LOOKS[name](at) for name in dict.fromkeys((*ALWAYS, *names))}
