"""How `vocab stats` and `vocab compare` look: one row a fact, one column a vocabulary."""

from collections.abc import Mapping, Sequence
from typing import Any

from lexigraft.cli.console import print_prose, print_table
from lexigraft.stages.vocabularies import short_names

UNKNOWN = "–"
Row = tuple[str, list[Any], bool]  # label, one value a vocabulary, whether they are shares
_FACTS = {
    "terms": "terms",
    "special_tokens": "special tokens, no terms",
    "forms": "words they stand for",
    "continuations": "pieces that continue a word",
    "mean_letters": "mean letters",
    "coverage": "covered of what it was learned from",
    "zipf_exponent": "Zipf exponent",
}
_USE = {
    "documents": "documents",
    "queries": "queries",
    "queries_of": "of split",
    "mean_query_terms": "|Q|: mean terms of a query",
    "queries_with_a_split_word": "queries with a word in pieces",
    "queries_with_an_unknown_word": "queries with a word outside the vocabulary",
    "mean_document_terms": "|D|: mean terms of a document",
    "mean_distinct_document_terms": "mean distinct terms of a document",
    "unknown_words": "words outside the vocabulary",
    "mean_postings": "mean postings a query touches",
}
_SHARES = (
    "continuations", "coverage", "queries_with_a_split_word", "queries_with_an_unknown_word", "unknown_words",
)  # fmt: skip


def print_stats(vocabularies: Sequence[Mapping[str, Any]]) -> None:
    """The numbers of one vocabulary or several, and of their use in a collection where there is one."""
    names = short_names([one["vocabulary"] for one in vocabularies])
    _print("", names, _rows(_FACTS, vocabularies))
    scripts = [script for script in vocabularies[0]["scripts"] if any(one["scripts"][script] for one in vocabularies)]
    _print("scripts", names, [(name, [one["scripts"][name] for one in vocabularies], True) for name in scripts])
    counted = [one["count_at_rank"] or {} for one in vocabularies]
    if ranks := list(dict.fromkeys(rank for one in counted for rank in one if rank != "last")):
        found = [(f"rank {rank}", [one.get(rank) for one in counted], False) for rank in ranks]
        _print("occurrences", names, [*found, ("last", [one.get("last") for one in counted], False)])
    if vocabularies[0]["collection"] is not None:
        used = [one["collection"] for one in vocabularies]
        _print(used[0]["name"], names, _rows(_USE, used))
    for one, name in zip(vocabularies, names, strict=True):
        kind = "the first" if one["counts_from"] is None else "most frequent"
        print_prose(f"{kind} of {name}: {' '.join(one['top'])}")


def print_comparison(facts: Mapping[str, Any]) -> None:
    """What two vocabularies share, below the numbers of both."""
    both = [facts["a"], facts["b"]]
    print_stats(both)
    names = short_names([one["vocabulary"] for one in both])
    for name, left_out in zip(names, facts["left_out"], strict=True):
        if left_out:
            print_prose(f"{name}: {left_out:,} pieces that continue a word are left out, the others compared as words")
    print_prose(
        f"shared: {facts['shared']:,} {facts['compared_as']}, {facts['share_of_a']:.1%} of {names[0]}, "
        f"{facts['share_of_b']:.1%} of {names[1]}; Jaccard {facts['jaccard']:.3f}"
    )
    if facts["shared_at_top"]:
        tops = ", ".join(f"{share:.1%} of the top {int(depth):,}" for depth, share in facts["shared_at_top"].items())
        print_prose(f"shared by count: {tops}")
    if facts["rank_correlation"] is not None:
        print_prose(f"rank correlation of the counts of shared {facts['compared_as']}: {facts['rank_correlation']:.3f}")
    for name, only in zip(names, (facts["only_in_a"], facts["only_in_b"]), strict=True):
        print_prose(f"only in {name}: {' '.join(only) or UNKNOWN}")


def _rows(labels: Mapping[str, str], columns: Sequence[Mapping[str, Any]]) -> list[Row]:
    return [(label, [column[key] for column in columns], key in _SHARES) for key, label in labels.items()]


def _print(title: str, names: Sequence[str], rows: Sequence[Row]) -> None:
    """A table of the rows that say something of any vocabulary."""
    shown = [
        [label, *(_cell(value, share) for value in values)]
        for label, values, share in rows
        if any(value is not None for value in values)
    ]
    print_table(title, ["", *names], shown, left=("",))


def _cell(value: Any, share: bool) -> str:
    if value is None:
        return UNKNOWN
    if share:
        return f"{value:.1%}"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
