"""Pairs of a query and a document as one input: the tokenizer's own template for pairs, filled with subwords that were
read once."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lexigraft.core.array_types import Int32s, Int64s
from lexigraft.core.errors import InputError
from lexigraft.vocab.raw_reader import clean_text

TEXTS_AT_ONCE = 4096


class SubwordTexts(NamedTuple):
    """Text i is subwords[indptr[i]..indptr[i + 1]], without special ones."""

    indptr: Int64s
    subwords: Int32s

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def lengths(self, rows: Int64s) -> Int64s:
        found: Int64s = self.indptr[rows + 1] - self.indptr[rows]
        return found


class PairTemplate(NamedTuple):
    """The special tokens before, between and after the two texts; `types` are those of these three and the texts, in
    their order in a pair: before, query, between, document, after."""

    before: list[int]
    between: list[int]
    after: list[int]
    types: tuple[int, int, int, int, int]

    @property
    def n_special(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


class PairInputs(NamedTuple):
    """[pairs, length] each."""

    subwords: Tensor
    mask: Tensor
    types: Tensor


def pair_template(tokenizer: Any, name: str) -> PairTemplate:
    """What a tokenizer of `transformers` puts around two texts; `name` is the model's, for messages."""
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(f"the tokenizer of {name!r} is not a fast one; save it again with a recent transformers")
    probe = tokenizer("a", "a", return_token_type_ids=True)
    ids, types, sides = probe["input_ids"], probe["token_type_ids"], probe.sequence_ids()
    if not {0, 1} <= set(sides):
        raise InputError(f"the tokenizer of {name!r} reads nothing in the letter 'a', and cannot be asked for pairs")
    last = len(sides) - 1
    query, document = sides.index(0), sides.index(1)
    query_end, document_end = last - sides[::-1].index(0), last - sides[::-1].index(1)
    before, between, after = ids[:query], ids[query_end + 1 : document], ids[document_end + 1 :]
    if query > document or not before or not between:
        raise InputError(
            f"the tokenizer of {name!r} has no template for pairs, with a token before them and one between; give it "
            "one such as [CLS] query [SEP] document [SEP]"
        )
    after_type = types[-1] if after else 0
    return PairTemplate(
        before, between, after, (types[0], types[query], types[document - 1], types[document], after_type)
    )


def read_subwords(tokenizer: Any, texts: Sequence[str], length: int) -> SubwordTexts:
    """The first `length` subwords of each text, as the tokenizer reads raw text."""
    parts, counts = [], []
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        some = [clean_text(text) for text in texts[start : start + TEXTS_AT_ONCE]]
        found = tokenizer(
            some, add_special_tokens=False, truncation=True, max_length=length,
            return_token_type_ids=False, return_attention_mask=False,
        )["input_ids"]  # fmt: skip
        counts += [len(ids) for ids in found]
        parts.append(np.fromiter(chain.from_iterable(found), np.int32))
    indptr = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    return SubwordTexts(indptr, np.concatenate(parts) if parts else np.zeros(0, np.int32))


def pair_inputs(
    template: PairTemplate,
    queries: SubwordTexts,
    documents: SubwordTexts,
    query_rows: Int64s,
    document_rows: Int64s,
    pad_id: int,
) -> PairInputs:
    """Pair i is row query_rows[i] of `queries` and row document_rows[i] of `documents`; on the CPU."""
    asked, found = queries.lengths(query_rows), documents.lengths(document_rows)
    lengths = asked + found + template.n_special
    shape = len(lengths), int(lengths.max(initial=1))
    subwords, types = np.full(shape, pad_id, np.int64), np.zeros(shape, np.int64)
    fixed = [np.array(part, np.int32) for part in (template.before, template.between, template.after)]
    for place, (query, document) in enumerate(zip(query_rows, document_rows, strict=True)):
        parts = (
            fixed[0], queries.subwords[queries.indptr[query] : queries.indptr[query + 1]],
            fixed[1], documents.subwords[documents.indptr[document] : documents.indptr[document + 1]],
            fixed[2],
        )  # fmt: skip
        subwords[place, : lengths[place]] = np.concatenate(parts)
        types[place, : lengths[place]] = np.repeat(template.types, [len(part) for part in parts])
    mask = np.arange(shape[1]) < lengths[:, None]
    return PairInputs(*(torch.from_numpy(array) for array in (subwords, mask.astype(np.int64), types)))
