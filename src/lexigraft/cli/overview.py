"""The table of all commands: where each is defined, and its line in `lexigraft --help`.

The help shows this table and imports no command: a command's module is imported when it is called.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """A command, which is the function of its name in `module`; or a group of commands, the module's `app`, whose
    summary names all of them."""

    name: str
    module: str  # below lexigraft.cli
    summary: str
    is_group: bool = False
    takes_query: bool = False  # which may begin with a dash


def _group(name: str, module: str, summary: str) -> Entry:
    return Entry(name, module, summary, is_group=True)


def _asking(name: str, module: str, summary: str) -> Entry:
    return Entry(name, module, summary, takes_query=True)


PANELS = {
    "Start here": (
        Entry("quickstart", "run", "Train a model on this machine's Python documentation; nothing is downloaded."),
        Entry("run", "run", "Take a collection of yours from text to report."),
        Entry("report", "run", "Show what the systems of a run are worth, and what they cost."),
        _group("recipe", "recipe", "Whole sets of settings by name, for --recipe: `list`, `show`."),
    ),
    "Search and explain": (
        _asking("search", "search", "Search a run or an index; also with --where, --overlap and --two-step."),
        _asking("explain", "explain.app", "Say why a document got its score, or which terms a text becomes."),
        Entry("open", "open", "Open a run in the browser: search, compare systems, and see why."),
        Entry("serve", "serve", "Serve runs and indexes over HTTP: the page, endpoints for programs, metrics."),
        Entry("mcp", "mcp", "Offer search and explanations to an assistant (Model Context Protocol)."),
        Entry("fuse", "fuse", "Make one ranking of several."),
    ),
    "Measure and compare": (
        Entry("evaluate", "evaluate.app", "Put systems side by side: effectiveness, cost and significance."),
        Entry("judge", "judge", "Grade a few questions yourself, and know which of two systems is better."),
        _group("bench", "bench", "Time searches on this machine: `search` (methods), `text` (systems, from text on)."),
        _group("vectors", "vectors", "Look at the vectors of documents and queries: `stats`."),
        Entry("study", "study", "Repeat the studies of the five papers on your collection, with verdicts."),
        Entry("wackiness", "wackiness", "Find the expansion terms that have nothing to do with what they find."),
    ),
    "Build step by step": (
        Entry("pretrain", "model.training", "After `vocab learn`: teach a model to name masked terms."),
        Entry("mine", "mine", "Find hard negatives for fine-tuning."),
        _group("teacher", "teacher", "Make a cross-encoder to learn from: `train`, `score`."),
        Entry("finetune", "model.training", "Teach the pre-trained model to rank."),
        Entry("encode", "model.training", "Write a collection as vectors of a model, for `index --vectors`."),
        _group("tilde", "tilde", "Expand documents by a model of your own: `train`, `expand`."),
        _group("expand", "expand", "Expand for BM25: `rm3`, `query2doc`, `doc2query`; text for it: `generate`."),
    ),
    "Indexes": (
        _group(
            "index",
            "index.app",
            "Build an index of text or vectors. Measure it: `stats`; filter by: `metadata`; join parts: "
            "`merge-shards`; take another program's: `import`. Change it while it is "
            "searched: `live`, `graft`, `add`, `delete`, `merge`, `status`.",
        ),
        _group(
            "engine",
            "engine",
            "The same index in an engine that scales (Milvus, Qdrant, PostgreSQL): `load`, `status`, `delete`, `drop`.",
        ),
        Entry("export", "export", "Take a run with you: for sentence-transformers, ONNX, PISA, Lucene, six engines."),
        Entry("plan", "plan", "Say what a collection of any size takes: hours, bytes, nodes, latency, money."),
    ),
    "Data and vocabularies": (
        _group(
            "data",
            "data",
            "Collections: `look`, `stats`, `convert`. Of click logs: `clicks`, `evalset`, `simulate`.",
        ),
        _group("vocab", "vocab.app", "Vocabularies: `learn`, `unigrams`, `wordpiece`; `stats`, `compare`."),
    ),
    "Models": (
        _group("model", "model.app", "Look into models: `diagnose`, `logits`. Make them: `import`, `fresh`, `mlm`."),
    ),
}
