"""The backbone's tokenizer, asked for whole words only: word in, subword ids out.

Text reaches a model as the words of the one word rule, each spelt by the backbone's own tokenizer. That makes the
alignment of terms and subwords exact, and lets the tokenizer run once per distinct word instead of once per occurrence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lexigraft.core.errors import InputError
from lexigraft.vocab.raw_text import reads_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True)
class SpecialTokens:
    begin: int
    end: int
    pad: int
    mask: int
    unknown: int


class SubwordTokenizer:
    """A `tokenizers` tokenizer with the ids of its special tokens."""

    def __init__(self, tokenizer: "Tokenizer", special: SpecialTokens, needs_space: bool) -> None:
        self._tokenizer = tokenizer
        self.special = special
        self._prefix = " " if needs_space else ""

    def spell(self, words: Sequence[str]) -> list[list[int]]:
        """The subword ids of each word; without special tokens."""
        encoded = self._tokenizer.encode_batch([self._prefix + word for word in words], add_special_tokens=False)
        return [found.ids for found in encoded]

    def can_spell(self, words: Sequence[str]) -> list[bool]:
        """Whether each word is one or more known subwords."""
        unknown = self.special.unknown
        return [bool(ids) and unknown not in ids for ids in self.spell(words)]

    @cached_property
    def ordinary_ids(self) -> list[int]:
        """All subwords that are not special: what a random replacement is drawn from."""
        special = {self.special.begin, self.special.end, self.special.pad, self.special.mask, self.special.unknown}
        return [number for number in range(self._tokenizer.get_vocab_size()) if number not in special]


def from_transformers(tokenizer: Any, name: str) -> SubwordTokenizer:
    """Wrap a fast tokenizer of `transformers`; `name` is for messages."""
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(f"the tokenizer of {name} is not a fast one; save it again with a recent transformers")
    ids = {
        "begin": tokenizer.cls_token_id, "end": tokenizer.sep_token_id, "pad": tokenizer.pad_token_id,
        "mask": tokenizer.mask_token_id, "unknown": tokenizer.unk_token_id,
    }  # fmt: skip
    if missing := [key for key, value in ids.items() if value is None and key != "unknown"]:
        raise InputError(
            f"the tokenizer of {name} has no {', '.join(missing)} token; it is not a masked language model's"
        )
    ids["unknown"] = -1 if ids["unknown"] is None else ids["unknown"]
    backend = tokenizer.backend_tokenizer
    backend.no_padding()
    backend.no_truncation()
    return SubwordTokenizer(spelling_words(backend), SpecialTokens(**ids), needs_space=wants_space(backend))


def wants_space(backend: Any) -> bool:
    """Whether a word at the beginning of a text is spelt as elsewhere only with a space before it."""
    return "ByteLevel" in str(getattr(backend, "pre_tokenizer", ""))


def spelling_words(backend: Any) -> "Tokenizer":
    """A tokenizer to hand words to, one at a time. One of ours would look for words in them again, and without its
    neighbours a word may read differently ("א'"): its pieces are taken without its reading."""
    speller: Tokenizer = backend
    if reads_words(backend):
        import tokenizers

        speller = tokenizers.Tokenizer(backend.model)
        speller.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return speller
