"""A collection whose queries and documents share topics but no words, and a tiny BERT to learn it with."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
import transformers

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.families import LETTERS, SPECIAL

ENDINGS = ("a", "e", "i", "o", "u", "an")


def topics_of(*stems: str) -> list[list[str]]:
    """A topic of six words for each stem."""
    return [[f"{stem}{ending}" for ending in ENDINGS] for stem in stems]


def write_tiny_bert(folder: Path, words: Sequence[str], **config: int) -> Path:
    """A BERT of two layers and width 32 whose WordPiece knows letters and `words`."""
    pieces = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS), *words]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    transformers.BertTokenizerFast(vocab={piece: number for number, piece in enumerate(pieces)}).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(0)
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(pieces), **sizes, **config))
    model.save_pretrained(folder)
    return folder


def write_topics(
    folder: Path,
    topics: Sequence[Sequence[str]],
    n_train: int,
    n_test: int,
    worded: Callable[[str], str] = str,
) -> Path:
    """A query names three words of a topic, its document three others and a number: own words mislead, learned ones
    help. `worded` is what a text makes of such words."""
    rng = np.random.default_rng(0)
    documents, queries, qrels = [], [], {"train": [], "test": []}
    for number in range(n_train + n_test):
        words = rng.permutation(topics[number % len(topics)])
        documents.append(Document(f"d{number}", "", f"{worded(' '.join(words[:3]))} n{number % 7}"))
        queries.append(Query(f"q{number}", worded(" ".join(words[3:]))))
        qrels["test" if number >= n_train else "train"].append(Qrel(f"q{number}", f"d{number}", 1))
    write_collection(folder, documents, queries, qrels)
    return folder
