"""Tokenizers as folders: one of ours written as `transformers` reads it, and any that others made opened.

tokenizer.json tokenizer_config.json    what `transformers.AutoTokenizer` loads
vocab.txt                               the pieces, one a line, in the order of their numbers
counts.npy vocabulary.json              how often each piece is used by its corpus, and counts for the eye
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import open_array
from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.core.plain_files import read_plain_file, require_size
from lexigraft.core.sealed_json import read_sealed
from lexigraft.vocab.wordpiece import SPECIAL_TOKENS, UNKNOWN, WordPieces

if TYPE_CHECKING:
    from tokenizers import Tokenizer

KIND, FORMAT_VERSION = "tokenizer", 1
MODEL_FILE, PIECES_FILE, CONFIG_FILE = "tokenizer.json", "vocab.txt", "tokenizer_config.json"
COUNTS_FILE, FACTS_FILE = "counts.npy", "vocabulary.json"
LONGEST_TEXT = 512  # subwords that a model of the usual kind has places for
_SPECIAL_NAMES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")


@dataclass(frozen=True)
class OpenTokenizer:
    """`counts` and `facts` are there for a tokenizer of ours only."""

    backend: "Tokenizer"
    special_ids: frozenset[int]  # that of the unknown piece among them
    counts: NDArray[np.int64] | None
    facts: dict[str, Any]


def write_tokenizer(made: WordPieces, folder: Path) -> None:
    """Write the files of a tokenizer into `folder`."""
    pieces = made.tokenizer.get_vocab()
    made.tokenizer.save(str(folder / MODEL_FILE))
    write_json(
        folder / CONFIG_FILE,
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": LONGEST_TEXT,
            **dict(zip(_SPECIAL_NAMES, SPECIAL_TOKENS, strict=True)),
        },
    )
    in_order = sorted(pieces, key=pieces.__getitem__)
    (folder / PIECES_FILE).write_text("".join(f"{piece}\n" for piece in in_order), encoding="utf-8")
    np.save(folder / COUNTS_FILE, made.counts)
    write_json(
        folder / FACTS_FILE,
        {"pieces": len(pieces), "distinct_words": made.n_distinct_words, "coverage": made.coverage},
    )


def copy_tokenizer(opened: Any, source: Path, folder: Path) -> None:
    """Write the tokenizer that `transformers` opened in `source` into `folder`, whole: a copy of its files alone may
    lack what a model's configuration beside them said of it. Of ours, the counts come along."""
    opened.save_pretrained(folder)
    for name in (PIECES_FILE, COUNTS_FILE, FACTS_FILE):
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)


def without_punctuation(opened: Any) -> Any:
    """A tokenizer that `transformers` opened, as one that reads every punctuation mark and symbol as a space."""
    from tokenizers import Regex, normalizers
    from transformers import PreTrainedTokenizerFast

    backend = opened.backend_tokenizer
    marks = normalizers.Replace(Regex(r"[\p{P}\p{S}]"), " ")
    backend.normalizer = normalizers.Sequence([part for part in (marks, backend.normalizer) if part is not None])
    # The general class: BERT's own would make its normalizer anew when it is opened.
    return PreTrainedTokenizerFast(tokenizer_object=backend, **opened.special_tokens_map)  # type: ignore[no-untyped-call]


def is_tokenizer(folder: Path) -> bool:
    """Whether `folder` holds a tokenizer that can be opened."""
    return any((folder / name).is_file() for name in (MODEL_FILE, PIECES_FILE))


def open_tokenizer(folder: Path) -> OpenTokenizer:
    """The tokenizer in `folder`, of which `is_tokenizer` is true; one learned by Lexigraft has its counts."""
    try:
        import tokenizers
    except ImportError as error:
        raise MissingExtraError(f"the tokenizer in {folder}", "tokenizers", install_extra("search")) from error
    file = folder / (MODEL_FILE if (folder / MODEL_FILE).is_file() else PIECES_FILE)
    try:
        require_size(file, file.stat().st_size)
        backend = tokenizers.Tokenizer.from_file(str(file)) if file.name == MODEL_FILE else _of_pieces(file)
    except Exception as error:  # the library raises nothing more particular
        raise InputError(f"{file} cannot be read as a tokenizer: {error}; save it again") from error
    backend.no_padding()
    backend.no_truncation()
    special = {number for number, token in backend.get_added_tokens_decoder().items() if token.special}
    special |= {number for piece, number in backend.get_vocab().items() if _is_reserved(piece)}
    unknown = getattr(backend.model, "unk_token", None)
    if isinstance(unknown, str) and (unknown_id := backend.token_to_id(unknown)) is not None:
        special.add(unknown_id)
    counts, facts = folder / COUNTS_FILE, folder / FACTS_FILE
    return OpenTokenizer(
        backend,
        frozenset(special),
        open_array(counts) if counts.is_file() else None,
        read_sealed(facts) if facts.is_file() else {},
    )


def _is_reserved(piece: str) -> bool:
    """Whether a piece is one of BERT's unused placeholders, or is special though only a list of pieces says so."""
    return piece in SPECIAL_TOKENS or (piece.startswith("[unused") and piece.endswith("]"))


def _of_pieces(file: Path) -> "Tokenizer":
    """A tokenizer that reads as BERT's does, for a list of pieces that comes without one."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = read_plain_file(file).decode("utf-8-sig").split("\n")
    numbers = {piece.strip("\r "): number for number, piece in enumerate(pieces) if piece.strip("\r ")}
    if not numbers:
        raise InputError("it is empty")
    config = file.with_name(CONFIG_FILE)
    settings = read_sealed(config) if config.is_file() else {}
    made = Tokenizer(models.WordPiece(numbers, unk_token=UNKNOWN))
    made.normalizer = normalizers.BertNormalizer(lowercase=bool(settings.get("do_lower_case", True)))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made
