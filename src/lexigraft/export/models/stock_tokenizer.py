"""A tokenizer that reads raw text into the subwords of words, as a model of words does, and has names for its terms.

Ours asks a backbone's tokenizer for one word after the other. One tokenizer can do both: text is normalised and cut by
the word rule (`vocab.raw_text`), and what comes of it by the backbone's own way. Terms are entries after the subwords
whose names no text can become, because the cut goes through the middle of them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.inference.meta import EncoderMeta
from lexigraft.model.encoder import SparseEncoder
from lexigraft.vocab.accents import PLAIN_LETTERS
from lexigraft.vocab.raw_text import normalizer, pre_tokenizer, reads_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from tokenizers.normalizers import Normalizer

NAME = "term:"
OF_PIECES = ("WordPiece", "BPE")
_MARKS = r"(?<=[\p{Latin}\p{Greek}])\p{Mn}+"


def reading_tokenizer(encoder: SparseEncoder) -> Any:
    """Reads raw text as the model's reader reads it; without names for terms."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers

    own: Any = encoder.backbone.hf_tokenizer.backend_tokenizer
    made: Any = Tokenizer.from_str(own.to_str())
    made.no_padding()
    made.no_truncation()
    steps: list[Normalizer] = [normalizer(), *(_folding() if encoder.meta.rule.fold_accents else ())]
    cuts = [pre_tokenizer()]
    if not reads_words(own):
        steps += [own.normalizer] if own.normalizer is not None else []
        cuts += [_with_space(own.pre_tokenizer)] if own.pre_tokenizer is not None else []
    made.normalizer, made.pre_tokenizer = normalizers.Sequence(steps), pre_tokenizers.Sequence(cuts)
    return made


def _folding() -> list["Normalizer"]:
    """`vocab.accents.fold_accents`, of whole texts."""
    from tokenizers import Regex, normalizers

    letters = [normalizers.Replace(letter, plain) for letter, plain in PLAIN_LETTERS.items()]
    return [normalizers.NFD(), normalizers.Replace(Regex(_MARKS), ""), normalizers.NFC(), *letters]


def _with_space(cutter: Any) -> Any:
    """Of bytes, every word is spelt with a space before it."""
    if "ByteLevel" in type(cutter).__name__:
        cutter.add_prefix_space = True
    return cutter


def require_same_reading(encoder: SparseEncoder, made: "Tokenizer", texts: Sequence[str]) -> None:
    """Raise where the tokenizer reads texts otherwise than the model does."""
    whole = encoder.reader().read(list(texts), 2 * max(map(len, texts)) + 8)
    for row, found in enumerate(made.encode_batch(list(texts))):
        if found.ids != whole.subwords[whole.indptr[row] : whole.indptr[row + 1]].tolist():
            raise InputError(
                "the backbone's tokenizer cannot be made to read raw text as this model reads words "
                f"(it differs at {texts[row][:40]!r}); take --form full"
            )


def write_named(
    made: "Tokenizer", terms: Sequence[str], n_pieces: int, meta: EncoderMeta, encoder: SparseEncoder, folder: Path
) -> None:
    """The tokenizer with its terms behind its `n_pieces` subwords, as `transformers` loads it."""
    file: dict[str, Any] = json.loads(made.to_str())
    if file["model"]["type"] not in OF_PIECES:
        raise InputError(
            f"terms cannot be named in a tokenizer of kind {file['model']['type']}, only of {' and '.join(OF_PIECES)}; "
            "take --form full"
        )
    pieces: dict[str, int] = file["model"]["vocab"]
    named = {f"{NAME}{term}": n_pieces + number for number, term in enumerate(terms)}
    filled = {f"[row {number}]": number for number in set(range(n_pieces)) - set(made.get_vocab().values())}
    if taken := next((name for name in named if name in pieces), None):
        raise InputError(f"the tokenizer has a subword {taken!r}, as a term would be named; take --form full")
    file["model"]["vocab"] = {**pieces, **filled, **named}
    (folder / "tokenizer.json").write_text(json.dumps(file, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    of_backbone: Any = encoder.backbone.hf_tokenizer
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token", "bos_token", "eos_token")
    said = {name: str(value) for name in names if (value := getattr(of_backbone, name, None)) is not None}
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": meta.document_length,
            "model_input_names": ["input_ids", "attention_mask"], **said,
        },
    )  # fmt: skip
