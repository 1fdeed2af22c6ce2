"""Two systems of a run judged by the user, question by question, without saying which of them found what.

Of each question those documents are shown that only one of the two has among its first results: what both have there
decides nothing. Their order is that of a hash of question and id, so the same each time, and neither
system's; one of the systems cuts the texts of all, whichever found them.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.errors import InputError
from lexigraft.data.readers.documents import whole_characters
from lexigraft.measure.sequential import DEPTH, difference_of, verdict
from lexigraft.retrieve.answer import FoundDocument
from lexigraft.stages.user_judgements import UserJudgements

Find = Callable[[str], Sequence[str]]  # a question to the ids of the first documents
Show = Callable[[str, Sequence[str]], Sequence[FoundDocument]]  # a question and ids to what is shown of those


class Question(NamedTuple):
    """What both systems found first, which documents are to be judged, in which order, and how they were."""

    text: str
    first: Sequence[str]
    second: Sequence[str]
    doc_ids: Sequence[str]
    answers: Mapping[str, bool]

    @property
    def left(self) -> list[str]:
        """The documents that are still to be judged."""
        return [doc_id for doc_id in self.doc_ids if doc_id not in self.answers]

    @property
    def has_begun(self) -> bool:
        return any(doc_id in self.answers for doc_id in self.doc_ids)

    @property
    def difference(self) -> int:
        """How many relevant documents the second system has more."""
        return difference_of(self.first, self.second, [doc_id for doc_id, good in self.answers.items() if good])


class Judging:
    """The user's judgements of the run in the folder `root`, as far as they are about two of its systems."""

    def __init__(self, root: Path, systems: tuple[str, str], find: tuple[Find, Find], show: Show) -> None:
        self.systems, self._find, self._show = systems, find, show
        self._kept = UserJudgements(root)
        self._found: dict[str, tuple[list[str], list[str]]] = {}

    def ask(self, text: str) -> Question:
        """A question by its text. Where both systems find the same there is nothing to judge, and it is noted so.
        Raises `InputError` where it is empty, or nothing is found for it."""
        text = whole_characters(" ".join(text.split()))
        if not text:
            raise InputError("the question is empty; give at least one word")
        question = self._question(text, self._kept.read().get(text, {}))
        if not question.first and not question.second:
            raise InputError("nothing is found for this question; ask with other words")
        if not question.doc_ids:
            self._kept.note(text)
            self._decide()
        return question

    def shown(self, question: Question) -> Sequence[FoundDocument]:
        """What there is to show of its documents, in their order."""
        return self._show(question.text, question.doc_ids)

    def answer(self, text: str, doc_id: str, is_relevant: bool) -> Question:
        """Keep an answer; it is on the disk when this returns."""
        question = self.ask(text)
        if doc_id not in question.doc_ids:
            raise InputError(f"document {doc_id!r:.100} is not to be judged for this question")
        self._kept.answer(question.text, doc_id, is_relevant)
        question = self.ask(text)
        if not question.left:
            self._decide()
        return question

    def leave_out(self, text: str) -> None:
        """Skip a question: it counts for nothing, and answers that were given to it go."""
        question = self.ask(text)
        if question.doc_ids:
            self._kept.note(question.text, without_answers=True)
            self._decide()

    @property
    def asked(self) -> list[Question]:
        """All questions that were asked so far."""
        return [self._question(text, answers) for text, answers in self._kept.read().items()]

    def state(self) -> dict[str, Any]:
        """What is known now, for scripts; `said` says it in words. `difference`: how many relevant
        documents the second system has more, on average of the questions."""
        asked = self.asked
        same = sum(not question.doc_ids for question in asked)
        judged = [question.difference for question in asked if not question.left]
        found = verdict(judged, same)
        known: dict[str, Any] = {
            "systems": list(self.systems),
            "decided": self.systems[found.favoured > 0] if found.favoured else None,
            "is_enough": found.is_enough,
            "n_queries": found.n,
            "n_same": same,
            "n_first_better": sum(one < 0 for one in judged),
            "n_second_better": sum(one > 0 for one in judged),
            "difference": found.difference,
            "p": found.p,
        }
        return {**known, "said": in_words(known)}

    def _decide(self) -> None:
        self._kept.decide({name: value for name, value in self.state().items() if name != "said"})

    def _question(self, text: str, answers: Mapping[str, bool]) -> Question:
        if text not in self._found:
            first, second = (list(find(text))[:DEPTH] for find in self._find)
            self._found[text] = first, second
        first, second = self._found[text]
        return Question(text, first, second, to_judge(text, first, second), answers)


def to_judge(text: str, first: Sequence[str], second: Sequence[str]) -> list[str]:
    """The documents that only one of two rankings has, in an order that says nothing of them."""
    return sorted(set(first) ^ set(second), key=lambda doc_id: hashlib.sha256(f"{text}\n{doc_id}".encode()).digest())


def in_words(state: Mapping[str, Any]) -> str:
    """What is known, in a line."""
    first, second = state["systems"]
    if state["decided"]:
        said = f"{state['decided']} is better"
    else:
        said = "no difference was seen: take either" if state["is_enough"] else "not enough yet"
    n, same = state["n_queries"], state["n_same"]
    equal = n - same - state["n_first_better"] - state["n_second_better"]
    return (
        f"{said} ({n} question{'s' * (n != 1)}: {first} better in {state['n_first_better']}, {second} in "
        f"{state['n_second_better']}, equal {equal}, same results {same}; {second} finds {state['difference']:+.2f} "
        f"relevant documents, p = {state['p']:.3f})"
    )
