"""Lexigraft: learned sparse retrieval over the vocabulary you choose.

    import lexigraft as lg

    lg.Retriever.from_texts(texts).search("a query")     BM25, searchable at once
    lg.run("DIR", out="runs/mine")                       a collection, from text to report
    lg.Retriever.open("runs/mine").search("a query")     a run, an index or a live index
    lg.SparseEncoder.open("runs/mine")                   texts as weighted terms
    lg.evaluate(...), lg.compare([...])                  measured, and side by side

Names are imported when they are first used: `import lexigraft` loads neither numba nor torch.
"""

TYPE_CHECKING = False  # as type checkers know it; importing typing would take longer than all else here
if TYPE_CHECKING:
    from lexigraft.api import Evaluation, Run, compare, evaluate, run
    from lexigraft.retrieve.answer import Answer, FoundDocument
    from lexigraft.retrieve.hits import Hit
    from lexigraft.retrieve.retriever import Retriever
    from lexigraft.retrieve.sparse_encoder import SparseEncoder

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Evaluation",
    "FoundDocument",
    "Hit",
    "Retriever",
    "Run",
    "SparseEncoder",
    "compare",
    "evaluate",
    "run",
]

# No name here is that of a module or folder of this package: an imported submodule would hide it.
_HOME = {
    "Evaluation": "lexigraft.api",
    "Run": "lexigraft.api",
    "compare": "lexigraft.api",
    "evaluate": "lexigraft.api",
    "run": "lexigraft.api",
    "Answer": "lexigraft.retrieve.answer",
    "FoundDocument": "lexigraft.retrieve.answer",
    "Hit": "lexigraft.retrieve.hits",
    "Retriever": "lexigraft.retrieve.retriever",
    "SparseEncoder": "lexigraft.retrieve.sparse_encoder",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'lexigraft' has no attribute {name!r}; it offers {', '.join(__all__)}")
    import importlib

    found: object = getattr(importlib.import_module(_HOME[name]), name)
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
