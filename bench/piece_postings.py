"""Postings a query by nothing but the pieces it shares with documents, with and without those that are punctuation.

    python -m bench.piece_postings --data DIR --split dev --length 256 TOKENIZER_DIR [TOKENIZER_DIR ...]

What a vocabulary does to lists before any model: a document is its first `--length` pieces, special ones not counted,
a query all of its own, each piece once. BERT's tokenizer makes pieces of punctuation, a WordPiece of ours does not.
Prints JSON.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from lexigraft.data.sources import open_source


def is_punctuation(piece: str) -> bool:
    """No letter and no digit in it."""
    return not any(letter.isalnum() for letter in piece.removeprefix("##"))


def measure(tokenizer: Tokenizer, documents: list[str], queries: list[str], length: int) -> dict[str, Any]:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pieces = [tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size())]
    marks = np.array([is_punctuation(piece) for piece in pieces])
    read = tokenizer.encode_batch_fast(documents, add_special_tokens=False)
    lists = np.zeros(len(pieces), np.int64)
    for document in read:
        lists[np.unique(document.ids[:length])] += 1
    asked = [np.unique(query.ids) for query in tokenizer.encode_batch_fast(queries, add_special_tokens=False)]
    return {
        "pieces_of_a_document": float(np.mean([len(document.ids) for document in read])),
        "of_which_punctuation": float(np.mean([int(marks[document.ids].sum()) for document in read])),
        "documents_cut": float(np.mean([len(document.ids) > length for document in read])),
        "postings": float(np.mean([lists[ids].sum() for ids in asked])),
        "postings_without_punctuation": float(np.mean([lists[ids[~marks[ids]]].sum() for ids in asked])),
        "queries_with_punctuation": float(np.mean([marks[ids].any() for ids in asked])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizers", nargs="+", type=Path)
    parser.add_argument("--data", required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--length", type=int, required=True)
    options = parser.parse_args()
    collection = open_source(options.data)
    documents = [document.contents for document in collection.documents()]
    judged = {judgement.query_id for judgement in collection.qrels(options.split)}
    queries = [query.text for query in collection.queries() if query.query_id in judged]
    found = {}
    for folder in options.tokenizers:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        found[folder.name] = measure(tokenizer, documents, queries, options.length)
    print(json.dumps({"data": options.data, "queries": len(queries), "length": options.length, **found}, indent=1))


if __name__ == "__main__":
    main()
