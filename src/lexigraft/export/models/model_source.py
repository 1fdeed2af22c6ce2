"""The model that a target takes: opened, with what its card says of it and how it reads texts."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lexigraft.core.arrays import StringTable
from lexigraft.core.artifact import open_artifact, read_manifest
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.sealed_json import read_sealed
from lexigraft.export.source import Source, model_of
from lexigraft.export.targets import Wanted
from lexigraft.inference.meta import MODEL_FORMAT, MODEL_KIND, OF_SUBWORDS, EncoderMeta, read_meta, require_finetuned
from lexigraft.model.exported import CARD, LOCAL, public_name
from lexigraft.retrieve.saved import is_saved
from lexigraft.stages.layout import RunFolder
from lexigraft.vocab.accents import PLAIN_LETTERS
from lexigraft.vocab.raw_text import reads_words
from lexigraft.vocab.stems import NO_STEMMER, own_letters
from lexigraft.vocab.subwords import SpecialTokens, wants_space
from lexigraft.vocab.terms import TermRule

if TYPE_CHECKING:
    from tokenizers import Tokenizer

COLUMNS = ("system", "qk", "dk", "L0_q", "L0_d", "FLOPS", "MRR@10", "R@10", "nDCG@10", "index_bytes")
SECTIONS = ("words", "vocab", "model", "pretrain", "finetune")  # of a run's settings
EMBEDDED = "sentence-transformers/all-MiniLM-L6-v2"  # what the packaged backbone is known as


class ModelSource(NamedTuple):
    """`card`: how it was trained, and what was measured (`model_card`)."""

    path: Path
    meta: EncoderMeta
    terms: list[str]
    card: Mapping[str, Any]


def open_model_source(wanted: Wanted, target: str) -> ModelSource:
    """The fine-tuned model that is wanted; raises where there is none, or where more is asked than a model has."""
    if wanted.queries or wanted.qk is not None or wanted.dk is not None:
        given = "--queries" if wanted.queries else "--qk" if wanted.qk is not None else "--dk"
        raise SettingError(f"{given} has no meaning for {target}, which takes a model and no index; leave it out")
    path = _folder(wanted)
    open_artifact(path, MODEL_KIND, MODEL_FORMAT)
    meta = read_meta(path)
    require_finetuned(meta)
    return ModelSource(path, meta, list(StringTable(path, "terms")), _card(wanted, path, meta))


def _folder(wanted: Wanted) -> Path:
    manifest = read_manifest(wanted.path)
    is_index = manifest is not None and manifest.kind == "index"
    if wanted.system is None and (is_index or is_saved(wanted.path)):
        found = Source.open(wanted.path).model
        if found is None:
            raise InputError(f"the index at {wanted.path} was written by BM25, which is no model; give that of a model")
        return found
    return model_of(wanted.path, wanted.system)


def _card(wanted: Wanted, path: Path, meta: EncoderMeta) -> dict[str, Any]:
    """What an import kept of a former export's card; else what the model and its run say."""
    if (path / CARD).is_file():
        return read_sealed(path / CARD)
    manifest = read_manifest(path)
    brought_in = manifest is None or "source" in manifest.config
    trained = _settings(wanted.path) or ({} if manifest is None or brought_in else dict(manifest.config))
    base = EMBEDDED if meta.backbone == "embedded" else public_name(meta.backbone)
    return {
        "base_model": "" if base == LOCAL else base,
        "trained": _without_paths(trained),
        "seed": 0 if manifest is None else manifest.seed,
        **_measured(wanted.path, path),
    }


def _settings(run: Path) -> dict[str, Any]:
    """What the run trained it by; empty where that is no run."""
    file = RunFolder(run).settings
    said = read_sealed(file) if file.is_file() else {}
    return {section: said[section] for section in SECTIONS if isinstance(said.get(section), Mapping)}


def _without_paths(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without what is empty, and without names of files and folders of this machine."""
    kept: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            kept[name] = _without_paths(value)
        elif isinstance(value, bool | int | float) or (isinstance(value, str) and value and "/" not in value):
            kept[name] = value
    return kept


def _measured(run: Path, model: Path) -> dict[str, Any]:
    """The rows of the run's report that are of this model, and BM25's."""
    folder = RunFolder(run)
    if not folder.report("json").is_file():
        return {}
    contents, said = folder.read_contents(), read_sealed(folder.report("json"))
    names = [name for name, home in contents.models.items() if (run / home).resolve() == model.resolve().parent]
    try:
        rows = [
            {column: row.get(column) for column in COLUMNS} for row in said["rows"] if row["system"] in (*names, "bm25")
        ]
        return {"collection": dict(said["collection"]), "measured": rows}
    except (KeyError, TypeError, ValueError):
        raise ArtifactError(
            f"{folder.report('json')} is not a report; continue the run, which writes it anew"
        ) from None


def reading_facts(
    meta: EncoderMeta, special: SpecialTokens, not_terms: frozenset[int], raw: "Tokenizer"
) -> dict[str, Any]:
    """How the model reads texts, for `standalone.lexigraft_reading`; `raw` is its tokenizer."""
    of_subwords, rule = meta.head in OF_SUBWORDS, meta.rule
    stopwords = () if of_subwords else TermRule(meta.stemmer, meta.stopwords, rule).stopwords
    return {
        "of_subwords": of_subwords,
        "head": meta.head,
        "pooled": meta.pooled,
        "query_length": meta.query_length,
        "document_length": meta.document_length,
        "expansion_length": meta.expansion_length,
        "mean_words": meta.mean_words,
        "special": asdict(special),
        "not_terms": sorted(not_terms),
        "prefix": " " if wants_space(raw) else "",
        "spells_without_cutting": reads_words(raw),
        "stemmer": meta.stemmer,
        "stopwords": sorted(stopwords),
        "fold_accents": rule.fold_accents,
        "split_camel_case": rule.split_camel_case,
        "kept_letters": "".join(sorted(own_letters(meta.stemmer))),
        "folded_letters": dict(sorted(PLAIN_LETTERS.items())),
    }


def needed(model: ModelSource) -> list[str]:
    """The packages that read this model's texts, beside those that every model needs."""
    if model.meta.head in OF_SUBWORDS:
        return []
    return ["regex", *(["PyStemmer"] if model.meta.stemmer != NO_STEMMER else [])]
