"""Folders of Markdown, text and HTML: one document a file, whose id is its path; and passages by heading."""

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import Document
from lexigraft.data.collection import CORPUS, open_collection
from lexigraft.data.passages import cut_passages
from lexigraft.data.readers.html_text import html_text
from lexigraft.data.readers.metadata import corpus_metadata
from lexigraft.data.reading import Reading


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git/x.md").write_text("hidden")
    (folder / "b.md").write_text("---\ntitle: 'Install it'\nauthor: ann\n---\n# Install\nuse apt\n")
    (folder / "a.md").write_text("Words.\n\n# First\n")
    (folder / "sub/t.html").write_text("<title>Tea</title><script>no</script><h1>Green</h1><p>leaf</p>")
    (folder / "sub/u.txt").write_text("line one\nline two\n")
    (folder / "picture.png").write_bytes(b"\xff")
    return folder


def test_a_document_is_a_file_and_its_id_the_path(notes):
    found = open_collection(notes)
    assert list(found.documents()) == [
        Document("a.md", "First", "Words.\n\n# First\n"),
        Document("b.md", "Install it", "# Install\nuse apt\n"),
        Document("sub/t.html", "Tea", "# Green\nleaf"),
        Document("sub/u.txt", "", "line one\nline two\n"),
    ]
    assert dict(corpus_metadata(found))["b.md"] == {"author": "ann"}


def test_the_digest_is_of_paths_and_contents(notes):
    before = open_collection(notes).digest(CORPUS)
    (notes / "picture.png").write_bytes(b"other")
    assert open_collection(notes).digest(CORPUS) == before
    (notes / "a.md").rename(notes / "c.md")
    moved = open_collection(notes).digest(CORPUS)
    (notes / "c.md").write_text("other")
    assert len({before, moved, open_collection(notes).digest(CORPUS)}) == 3


def test_texts_are_lines_unless_files_are_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert [d.doc_id for d in open_collection(tmp_path).documents()] == ["a-1", "a-2"]
    files = list(open_collection(tmp_path, Reading(format="files")).documents())
    assert files == [Document("a.txt", "", "one\ntwo\n")]
    (tmp_path / "README.md").write_text("About.")
    assert len(list(open_collection(tmp_path).documents())) == 2
    (tmp_path / "b.md").write_text("Words.")
    with pytest.raises(InputError, match=r"has a\.txt, read a document a line, and b\.md, .*--format lines, or"):
        open_collection(tmp_path)
    assert len(list(open_collection(tmp_path, Reading(format="files")).documents())) == 3


def test_one_page(notes):
    assert list(open_collection(notes / "b.md").documents()) == [Document("b.md", "Install it", "# Install\nuse apt\n")]


def test_a_file_that_is_not_utf8_is_named(notes):
    (notes / "sub/u.txt").write_bytes(b"one\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"sub/u\.txt:2 is not UTF-8"):
        list(open_collection(notes).documents())


def test_html_is_what_a_reader_sees():
    page = """<!doctype html><html><head><title>A &amp; B</title><style>p {}</style></head><body>
    <h2>Use<br>it</h2><p>one
    two<b>three</b></p><script>if (1 < 2) {}</script><ul><li>x</li><li>y</ul><noscript>no</noscript></body>"""
    assert html_text(page) == ("A & B", "## Use\nit\none two" + "three\nx\ny")
    assert html_text("<head><title>T</title><body>seen") == ("T", "seen")
    assert html_text("<html><head>\n<title>T</title>\n<meta charset=utf-8>\n<p>seen <b>too</b>") == ("T", "seen too")
    assert html_text("<head><title>T</title><template><p>no</template>seen<h1>Tea</h1>") == ("T", "seen\n# Tea")


TEXT = """Before.

# Install
## Linux
use apt

```sh
# no heading
```
## Mac
use brew
# Use
run it"""


def test_passages_by_heading():
    found = list(cut_passages([Document("d", "T", TEXT)], 0, 0, "headings"))
    assert [document.doc_id for document in found] == ["d#0", "d#1", "d#2", "d#3"]
    assert [document.text for document in found] == [
        "Before.",
        "# Install\n## Linux\nuse apt\n\n```sh\n# no heading\n```",
        "# Install\n## Mac\nuse brew",
        "# Use\nrun it",
    ]


def test_sections_that_are_too_long_are_cut_further_and_none_is_lost():
    found = [d.text for d in cut_passages([Document("d", "", "# A\nb c d e\n# F\ng")], 3, 0, "headings")]
    assert found == ["# A\nb", "c d e", "# F\ng"]
    assert list(cut_passages([Document("d", "T", "")], 0, 0, "headings")) == [Document("d#0", "T", "")]
    assert list(cut_passages([Document("d", "", "# Only")], 0, 0, "headings")) == [Document("d#0", "", "# Only")]
