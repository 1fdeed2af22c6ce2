"""What the tests of frameworks share: a small run that is not trained, and the programs of docs/howto/frameworks.md."""

import atexit
import functools
import random
import shutil
import tempfile
from pathlib import Path

from lexigraft.core.types import Document, Qrel, Query
from tests.conftest import DOCUMENTS, QRELS, QUERIES
from tests.docs.snippets import Snippet, run_python, snippets_of
from tests.families import STEMS
from tests.tiny_run import write_run

PAGE = Path(__file__).parents[1] / "docs/howto/frameworks.md"
LONGEST_PROGRAM = 10  # lines, those that import among them
RUN, PAPERS = "runs/quickstart", "collections/papers"  # as the page calls them

_draw = random.Random(7)
_WORDS = [*STEMS, *(f"{stem}a" for stem in STEMS), "the", "of"]
MADE = [Document(f"m{number:02}", "", " ".join(_draw.choices(_WORDS, k=_draw.randint(1, 12)))) for number in range(60)]
ASKED = [Query(f"a{number:02}", " ".join(_draw.choices(_WORDS, k=_draw.randint(1, 4)))) for number in range(30)]
ODD = ("", "   ", "zzzz qqqq", "?!", "the", "순서", "a\nb\tc", "x" * 5000, "\ud800")
JUDGED = {
    **QRELS,
    "test": [*QRELS["test"], *(Qrel(one.query_id, _draw.choice(MADE).doc_id, _draw.randint(1, 3)) for one in ASKED)],
}


@functools.cache
def small_run() -> Path:
    """The run, made once in a process, and removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="lexigraft-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return write_run(folder, [*DOCUMENTS, *MADE], [*QUERIES, *ASKED], JUDGED)


def programs_of(section: str) -> list[Snippet]:
    """The Python programs below a heading of the page."""
    headings = [(at, line[3:]) for at, line in enumerate(PAGE.read_text().splitlines(), 1) if line.startswith("## ")]
    below = {one.line: [name for at, name in headings if at < one.line] for one in snippets_of(PAGE)}
    return [one for one in snippets_of(PAGE) if below[one.line][-1:] == [section]]


def run_programs(section: str, folder: Path, monkeypatch) -> dict:
    """Run the programs of a section as they stand, one after the other; returns the names that they leave."""
    for name, place in ((RUN, small_run()), (PAPERS, small_run() / "collection")):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(place)
    monkeypatch.chdir(folder)
    names: dict = {}
    programs = programs_of(section)
    assert programs
    for program in programs:
        assert len([line for line in program.body.splitlines() if line.strip()]) <= LONGEST_PROGRAM
        run_python(program, PAGE, names)
    return names
