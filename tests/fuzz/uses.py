"""Which commands use which files of the small world, and what they must answer while no file is changed."""

import json
import re
from typing import Any, NamedTuple

from tests.fuzz.workers import Outcome

QUERY = "kura mele zane"
# What a clock or the machine says, which may differ.
_OF_THE_MACHINE = re.compile(r"(second|time|_ms|ms_|qps|rss|mib|latency|per_s|^ms$|^bytes$)", re.IGNORECASE)


class Use(NamedTuple):
    """A command on files below the folders `reads`. `writes`: the folder that it changes, which is copied first.
    `after`: the command that shows what it did."""

    name: str
    reads: tuple[str, ...]
    arguments: tuple[str, ...]
    writes: str = ""
    after: tuple[str, ...] = ()


def _search(*place: str) -> tuple[str, ...]:
    return ("search", *place, QUERY, "--json")


OF_RUN = ("run/",)
USES = (
    *(
        Use(
            f"search {system}",
            ("run/judged", "run/model", "run/run.json", "run/operating", "run/settings", "run/source"),
            _search("--run", "run", "--system", system),
        )
        for system in ("bm25", "esplade", "dense", "hybrid")
    ),
    Use("search recommended", ("run/run.json", "run/operating", "run/judged"), _search("--run", "run")),
    Use(
        "search cost",
        ("run/judged/esplade", "run/operating"),
        _search("--run", "run", "--system", "esplade", "--cost", "0.5"),
    ),
    Use("search table", ("run-table/",), _search("--run", "run-table", "--system", "esplade")),
    Use(
        "search where",
        ("run/judged/metadata", "run/judged/bm25/index"),
        _search("--run", "run", "--system", "bm25", "--where", "year >= 2003", "--where", "tags has a1"),
    ),
    Use(
        "search text",
        ("run/judged/texts", "run/judged/bm25/index"),
        _search("--run", "run", "--system", "bm25", "--text"),
    ),
    Use(
        "explain",
        ("run/model", "run/judged/esplade", "run/run.json", "run/settings"),
        ("explain", "--run", "run", "--system", "esplade", QUERY, "d1", "--json"),
    ),
    Use(
        "explain wackiness",
        ("wack/run",),
        ("explain", "--run", "run", "--system", "esplade", QUERY, "d1", "--wackiness", "wack/run/queries", "--json"),
    ),
    Use("report", OF_RUN, ("report", "--run", "run", "--json")),
    Use("evaluate run", ("run/",), ("evaluate", "--run", "run", "--json")),
    Use("vectors stats", ("vectors/",), ("vectors", "stats", "vectors", "--json")),
    Use(
        "vectors stats of a run", ("run/judged/esplade/vectors", "run/run.json"), ("vectors", "stats", "run", "--json")
    ),
    Use(
        "index stats",
        ("plain/", "run/judged/bm25/index"),
        ("index", "stats", "--index", "plain", "--queries", "queries.jsonl", "--json"),
    ),
    Use(
        "search plain", ("plain/", "plain.metadata/"), _search("--index", "plain", "--where", "year >= 2003", "--text")
    ),
    Use("search of vectors", ("of-vectors/", "run/model/finetuned"), _search("--index", "of-vectors")),
    Use(
        "index of vectors",
        ("vectors/",),
        ("index", "--vectors", "vectors", "--out", "new"),
        "new",
        _search("--index", "new"),
    ),
    Use("index live plain", ("plain/",), ("index", "live", "plain", "--out", "new"), "new", _search("--index", "new")),
    Use(
        "index live",
        ("of-vectors/",),
        ("index", "live", "of-vectors", "--out", "new"),
        "new",
        _search("--index", "new"),
    ),
    Use(
        "index metadata",
        ("plain/", "plain.metadata/"),
        ("index", "metadata", "--index", "plain", "--data", "data"),
        "plain.metadata",
        _search("--index", "plain", "--where", "year >= 2003"),
    ),
    *(
        use
        for live, gone, where in (("live", "d7", "year >= 2003 and tags has a1"), ("live-model", "d9", "year > 2001"))
        for use in (
            Use(f"search {live}", (live,), _search("--index", live)),
            Use(f"search {live} where", (f"{live}/",), _search("--index", live, "--where", where)),
            Use(
                f"index metadata {live}",
                (f"{live}/",),
                ("index", "metadata", "--index", live, "--file", "more.tsv"),
                live,
                _search("--index", live, "--where", "more = x"),
            ),
            Use(f"index status {live}", (live,), ("index", "status", live, "--json")),
            Use(
                f"index add {live}", (live,), ("index", "add", live, "--data", "third"), live, _search("--index", live)
            ),
            Use(f"index delete {live}", (live,), ("index", "delete", live, gone), live, _search("--index", live)),
            Use(f"index merge {live}", (live,), ("index", "merge", live, "--all"), live, _search("--index", live)),
        )
    ),
    # Files of the user's: a changed one may give another answer, but never a crash.
    Use("index of a collection", ("data/",), ("index", "--data", "data", "--out", "new", "--metadata"), "new"),
    Use("data look", ("data/", "later/"), ("data", "look", "data", "--json")),
    Use("data stats", ("data/",), ("data", "stats", "data", "--json")),
    Use(
        "evaluate trec",
        ("runs/", "data/qrels"),
        ("evaluate", "runs/bm25.trec", "runs/esplade.trec", "--qrels", "data/qrels/test.tsv", "--json"),
    ),
    Use(
        "fuse",
        ("runs/",),
        ("fuse", "runs/bm25.trec", "runs/esplade.trec", "--out", "fused.trec", "--json"),
        "fused.trec",
    ),
    Use(
        "search queries",
        ("queries.jsonl",),
        ("search", "--index", "plain", "--queries", "queries.jsonl", "--out", "found.trec"),
        "found.trec",
    ),
    Use("recipe", ("recipe.toml",), ("recipe", "show", "recipe.toml")),
    Use("settings", ("world.toml",), ("index", "--data", "data", "--out", "new", "--config", "world.toml"), "new"),
    Use("import", ("backbone/",), ("model", "import", "backbone", "--out", "new", "--json"), "new"),
)
INPUTS = ("data/", "later/", "third/", "runs/", "queries.jsonl", "more.tsv", "recipe.toml", "world.toml", "backbone/")
# Files that no answer is made of: pictures, copies for people, and what a stage took.
FOR_PEOPLE = (".png", ".svg", ".md", ".csv", "timings.json", ".lock")


def is_input(file: str) -> bool:
    """Whether a file is the user's own, in which every content is somebody's data."""
    return file.startswith(INPUTS)


def uses_of(file: str) -> list[Use]:
    return [use for use in USES if file.startswith(use.reads)]


def answer_of(outcome: Outcome) -> Any:
    """What a command answered, without times."""
    try:
        return _timeless(json.loads(outcome.stdout))
    except ValueError:
        return outcome.stdout


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if not _OF_THE_MACHINE.search(key)}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value
