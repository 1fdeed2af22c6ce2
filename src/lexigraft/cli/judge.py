"""`judge`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.answers import print_for_judging
from lexigraft.cli.console import err, print_json, print_line, show_messages
from lexigraft.cli.options import QUICKSTART, JsonOption
from lexigraft.cli.search import OptionalRunOption
from lexigraft.core.errors import InputError

if TYPE_CHECKING:
    from lexigraft.retrieve.judging import Judging, Question

KEYS = "y yes, n no, t whole text, b back, s skip the question, q quit"


def judge(
    run: OptionalRunOption = None,
    system: Annotated[
        str | None,
        typer.Option("--system", help="The system to judge; 'grafted' where not given, or the only one beside BM25."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="What it is compared with; bm25 where not given.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="A file with a question on each line, instead of typing them.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find out by your own questions which of two systems of a run is better.

    For each question say of the documents that only one of the two finds first, yes or no, whether they answer it;
    which one found them is not said. After each question stands what is known by now, and the command ends when that
    is enough: at most 40 questions. Answers lie in RUN/judgements and are kept at once, so the same command continues.
    With --json it asks nothing and says what is known.
    """
    from lexigraft.retrieve.open_judging import open_judging

    show_messages()
    judging = open_judging(run or QUICKSTART, system, baseline)
    if not json:
        _Session(judging, questions).ask_all()
    state = judging.state()
    if json:
        print_json(state)
    else:
        print_line(state["said"])


class _Session:
    """Questions and answers at a terminal, or line by line from a pipe: a question, then a line for each document."""

    def __init__(self, judging: "Judging", file: Path | None) -> None:
        self._judging = judging
        self._questions = self._begun_and_next(file)
        self._next: list[tuple[Question, str]] = []  # documents to judge, each with its question
        self._done: list[tuple[Question, str]] = []

    def ask_all(self) -> None:
        """Until it is enough, or the user or the file has no more."""
        while self._next or (not self._judging.state()["is_enough"] and self._begin()):
            if self._next and not self._answer():
                return

    def _begun_and_next(self, file: Path | None) -> Iterator[str]:
        """The questions that a former call did not end, then new ones."""
        from lexigraft.data.readers.lines import read_lines

        asked = self._judging.asked
        yield from (question.text for question in asked if question.has_begun and question.left)
        if file is not None:
            known = {question.text for question in asked}
            yield from (text for line in read_lines(file) if (text := " ".join(line.text.split())) not in {"", *known})
            return
        while text := _typed("question> "):
            yield text

    def _begin(self) -> bool:
        """Take the next question; False where there is none."""
        text = next(self._questions, None)
        if text is None:
            return False
        try:
            question = self._judging.ask(text)
        except InputError as error:
            err.print(f"{text}: {error}", soft_wrap=True)
            return True
        if not question.doc_ids:
            err.print(f"{text}: both systems have the same first documents; there is nothing to judge", soft_wrap=True)
        self._next = [(question, doc_id) for doc_id in question.left or question.doc_ids]
        return True

    def _answer(self) -> bool:
        """Have the next document judged; False where the user ends."""
        question, doc_id = self._next[0]
        place = question.doc_ids.index(doc_id)
        document = self._judging.shown(question)[place]
        print_for_judging(question.text, f"{place + 1} of {len(question.doc_ids)}", document, whole=False)
        while (key := _key()) not in "ynbsq":
            if key == "t":
                print_for_judging(question.text, f"{place + 1} of {len(question.doc_ids)}", document, whole=True)
            else:
                err.print(KEYS)
        if key == "b" and self._done:
            self._next.insert(0, self._done.pop())
        elif key == "b":
            err.print("this is the first document")
        elif key == "s":
            self._judging.leave_out(question.text)
            self._next = [one for one in self._next if one[0].text != question.text]
        elif key in "yn":
            left = self._judging.answer(question.text, doc_id, key == "y").left
            self._done.append(self._next.pop(0))
            if not left:
                err.print(self._judging.state()["said"], soft_wrap=True)
        return key != "q"


def _key() -> str:
    """A key at a terminal, else the first letter of a line; q at the end."""
    prompt = f"relevant? ({KEYS}) "
    if not sys.stdin.isatty():
        return _typed(prompt, at_end="q").lower()[:1] or " "
    err.print(prompt, end="", soft_wrap=True)
    try:
        key = typer.getchar().lower()
    except EOFError:
        key = "q"
    err.print(key if key.isprintable() else "")
    return key if len(key) == 1 else " "


def _typed(prompt: str, at_end: str = "") -> str:
    try:
        return err.input(prompt).strip()
    except EOFError:
        return at_end
