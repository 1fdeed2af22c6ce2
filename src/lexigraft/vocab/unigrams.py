"""The expanded vocabulary (V1): the most frequent words of a corpus, each of which the backbone can spell.

A term must tokenise to one or more *known* subwords, because its row of the head is made from theirs (vocabulary
study, 3.1.1).
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.types import Vocabulary
from lexigraft.core.word_rule import FORMER_RULE, WordRule
from lexigraft.vocab.stems import NO_STEMMER
from lexigraft.vocab.stopwords import NO_STOPWORDS
from lexigraft.vocab.subwords import SubwordTokenizer
from lexigraft.vocab.terms import TermRule


@dataclass(frozen=True)
class UnigramVocabulary:
    """Terms by descending count, ties in alphabetical order, and what was left out on the way.

    A term is all words of one stem and bears the name of the most frequent of them; without a stemmer it is one word.
    """

    vocabulary: Vocabulary
    counts: NDArray[np.int64]
    forms: list[dict[str, int]]  # of each term, its words by descending count
    n_distinct_words: int
    n_unspellable: int  # frequent enough, but not made of known subwords


def build_unigrams(
    counts: Counter[str],
    size: int,
    tokenizer: SubwordTokenizer,
    min_count: int = 2,
    stemming: str = NO_STEMMER,
    stopping: str = NO_STOPWORDS,
    rule: WordRule = FORMER_RULE,
) -> UnigramVocabulary:
    """The `size` most frequent terms (0: all) of at least `min_count` occurrences that the tokenizer can spell; the
    words counted were cut by `rule` for the stemmer."""
    terms = TermRule(stemming, stopping, rule)
    by_count = sorted(counts.keys() - terms.stopwords, key=lambda word: (-counts[word], word))
    spelt = dict(zip(by_count, tokenizer.can_spell(by_count), strict=True))
    stem, families = terms.stem, dict[str, dict[str, int]]()
    for word in by_count:
        families.setdefault(stem(word), {})[word] = counts[word]
    totals = {name: sum(forms.values()) for name, forms in families.items()}
    frequent = [name for name in families if totals[name] >= min_count]
    known = [name for name in frequent if any(spelt[form] for form in families[name])]
    best = sorted(known, key=lambda name: (-totals[name], next(iter(families[name]))))[: size or None]
    if not best:
        raise InputError(
            f"no word of the corpus can be a term: {len(counts)} distinct words, {len(frequent)} terms at least "
            f"{min_count} times, {len(frequent) - len(known)} of those not spellable by the backbone's tokenizer; "
            "lower the minimum count or choose another backbone"
        )
    # A form that cannot be spelt counts for its term, and is left out of what the term's row is made from.
    forms = [{form: n for form, n in families[name].items() if spelt[form]} for name in best]
    found = np.array([totals[name] for name in best], np.int64)
    names = Vocabulary([next(iter(form)) for form in forms])
    return UnigramVocabulary(names, found, forms, len(counts), len(frequent) - len(known))
