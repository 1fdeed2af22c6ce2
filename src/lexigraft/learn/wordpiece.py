"""A tokenizer of a collection's own, as one artifact."""

import logging
from itertools import chain
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.learn.training_data import training_queries
from lexigraft.stages.collect import source_description
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.vocab import tokenizer_files
from lexigraft.vocab.wordpiece import train_wordpiece

log = logging.getLogger(__name__)


def make_tokenizer(
    source: str, out: Path, settings: Settings, size: int, min_count: int, progress: Progress = SILENT
) -> dict[str, Any]:
    """Learn WordPieces from all that may be learned from, the documents of `source` and its training queries, and
    write a tokenizer folder at `out`, replacing a tokenizer there; returns what there is to say of it."""
    require_free_for(out, tokenizer_files.KIND)
    config = {**source_description(source, settings.data), "size": size, "min_count": min_count}
    with judged_collection(source, settings.data, progress) as collection:
        documents = progress.track((document.contents for document in collection.documents()), "counting words")
        made = train_wordpiece(chain(documents, training_queries(collection)), size, min_count)
    with write_artifact(out, Manifest(tokenizer_files.KIND, tokenizer_files.FORMAT_VERSION, config)) as folder:
        tokenizer_files.write_tokenizer(made, folder)
    n_pieces = made.tokenizer.get_vocab_size()
    if n_pieces < size:
        wanted = f"no further pair of pieces occurs {min_count} times"
        log.warning("%d pieces were made, not the %d asked for: %s", n_pieces, size, wanted)
    elif n_pieces > size:
        log.warning("%d pieces were made, not the %d asked for: every letter is one", n_pieces, size)
    return {"pieces": n_pieces, "distinct_words": made.n_distinct_words, "coverage": made.coverage}
