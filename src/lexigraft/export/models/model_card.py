"""The model card: what the model is, how it was trained, what was measured, how it is used, what is kept and lost."""

from collections.abc import Mapping, Sequence
from typing import Any

from lexigraft.export.models.model_source import COLUMNS, EMBEDDED, ModelSource
from lexigraft.inference.meta import BY_MODEL, BY_TABLE, OF_SUBWORDS

LICENCES = {EMBEDDED: "apache-2.0"}  # of backbones that are known
TAGS = ("sparse-encoder", "sparse", "splade", "lexigraft")


def card_text(
    model: ModelSource,
    title: str,
    use: str,
    kept: Sequence[str],
    lost: Sequence[str],
    library: str,
    tags: Sequence[str],
) -> str:
    """README.md, with its front matter."""
    parts = [
        _front_matter(model, library, tags),
        f"# {title}",
        _what(model),
        f"## How it is used\n\n{use.strip()}",
        _measured(model.card),
        _trained(model.card),
        _listed("What is kept", kept),
        _listed("What is lost", lost),
        f"## Licence\n\n{_licence(model.card)[1]}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(model: ModelSource, library: str, tags: Sequence[str]) -> str:
    base, (licence, _) = str(model.card.get("base_model") or ""), _licence(model.card)
    lines = [f"license: {licence}"]
    if licence == "other":
        lines.append("license_name: that-of-the-backbone-and-the-training-data")
    if base:
        lines.append(f"base_model: {base}")
    lines += [f"library_name: {library}", "pipeline_tag: feature-extraction", "tags:"]
    return "\n".join(["---", *lines, *(f"- {tag}" for tag in (*tags, *TAGS)), "---"])


def _licence(card: Mapping[str, Any]) -> tuple[str, str]:
    base = str(card.get("base_model") or "")
    if base in LICENCES:
        return LICENCES[base], (
            f"The backbone, [{base}](https://huggingface.co/{base}), is licensed under Apache-2.0. Whether texts that "
            "the model was trained on say more is for whoever publishes it to decide."
        )
    return "other", (
        "A trained model has the licence of its backbone, and may not be used beyond what that and the training texts "
        "allow. Lexigraft does not know them: write them here before you publish this folder."
    )


def _what(model: ModelSource) -> str:
    meta = model.meta
    terms = "subwords of its tokenizer" if meta.head in OF_SUBWORDS else "words of a vocabulary of its own"
    if meta.queries == BY_MODEL:
        queries = f"the first {meta.query_length} subwords of a query"
    else:
        table = ", with weights from a table that was learned" if meta.queries == BY_TABLE else ""
        queries = f"a query as its distinct terms{table}, for which no network is needed"
    return (
        "A model for learned sparse retrieval, trained with Lexigraft: it writes a text as weighted terms, of "
        f"{meta.n_terms:,} {terms}. It reads the first {meta.document_length} subwords of a document and {queries}"
        + (", and the text's own words, all of them." if meta.own_words else ".")
        + f" Vectors are compared by their inner product. Of a document it keeps {meta.document_terms or 'all'} terms"
        + (f", of a query {meta.query_terms or 'all'}." if meta.queries == BY_MODEL else ".")
    )


def _measured(card: Mapping[str, Any]) -> str:
    rows, of = card.get("measured"), card.get("collection") or {}
    if not rows:
        return ""
    columns = [name for name in COLUMNS if any(row.get(name) is not None for row in rows)]
    table = [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    table += [f"| {' | '.join(_shown(name, row.get(name)) for name in columns)} |" for row in rows]
    said = (
        f"{of.get('queries', 0):,} {of.get('split', '')} queries over {of.get('documents', 0):,} documents "
        f"of {of.get('name', 'a collection')}, as Lexigraft measured them when the model was trained."
    )
    legend = (
        "qk, dk: terms kept of a query and of a document (0: all). L0: mean number of terms. FLOPS: postings touched "
        "by a query, per document."
    )
    return "\n\n".join(["## What was measured", said, "\n".join(table), legend])


def _shown(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and name not in ("qk", "dk"):
        return f"{value:.1f}" if name.startswith("L0") else f"{value:.4f}"
    return f"{value:,}" if name == "index_bytes" else str(value)


def _trained(card: Mapping[str, Any]) -> str:
    settings = card.get("trained") or {}
    if not settings:
        return ""
    lines = [f"- `seed` = {card.get('seed', 0)}"]
    for name, value in settings.items():
        if isinstance(value, Mapping):
            lines += [f"- `{name}.{key}` = {inner}" for key, inner in value.items()]
        elif name != "measured":
            lines.append(f"- `{name}` = {value}")
    return "## How it was trained\n\n" + "\n".join(lines)


def _listed(name: str, lines: Sequence[str]) -> str:
    return f"## {name}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
