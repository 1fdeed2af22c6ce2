from collections import Counter

import pytest

from lexigraft.core.errors import InputError
from lexigraft.data.docstrings import DocumentedObject, documented_objects, name_words, split_docstring
from lexigraft.data.pydocs import full_view, installed_packages, judged_view, read_objects, source_files, split_packages

SOURCE = '''"""A module. About things.

More of it.
"""
if True:
    def one():
        """Do one. Then another, e.g. this."""
        def inner():
            """Hidden."""
try:
    class Two:
        """A class"""
        def three(self):
            """Three things
            on two lines.

            Body here.
            """
        def _private(self):
            """Not shown."""
        def bare(self): ...
except ImportError:
    async def four():
        "Waits. For 5 seconds."
'''


def test_objects_of_a_file(tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    found = [(item.qualified_name, item.summary, item.body) for item in documented_objects(tmp_path / "m.py", "pkg.m")]
    assert found == [
        ("pkg.m", "A module.", "About things.\n\nMore of it."),
        ("pkg.m.one", "Do one.", "Then another, e.g. this."),
        ("pkg.m.Two", "A class", ""),
        ("pkg.m.Two.three", "Three things on two lines.", "Body here."),
        ("pkg.m.four", "Waits.", "For 5 seconds."),
    ]


def test_a_file_that_does_not_parse_has_no_objects(tmp_path):
    (tmp_path / "m.py").write_text("def (:")
    assert documented_objects(tmp_path / "m.py", "m") == []


@pytest.mark.parametrize(
    ("docstring", "summary", "body"),
    [
        ("Use e.g. this one. And that.", "Use e.g. this one.", "And that."),
        ("arange(stop) -> array\n\nEven values. Always.", "Even values.", "Always."),
        ("pkg.mod\n~~~~~~~\n\nLexers for Ada.", "Lexers for Ada.", ""),
        ("Version 3.5 is new. Use it", "Version 3.5 is new.", "Use it"),
        ("Args:\n    x: a thing", "", "Args:\n    x: a thing"),
        ("Only this", "Only this", ""),
    ],
)
def test_summaries(docstring, summary, body):
    assert split_docstring(docstring) == (summary, body)


def test_names_become_words():
    assert name_words("collections.OrderedDict.move_to_end") == "collections Ordered Dict move to end"
    assert name_words("torch.nn.HTTPServer2d") == "torch nn HTTP Server2d"


def item(name, summary, body="one two three four five six seven eight nine"):
    return DocumentedObject(name, name.partition(".")[0], summary, body)


def test_judged_view_removes_the_summary_and_every_copy():
    objects = [
        item("a.f", "Compute the mean of it.", "first body of eight words or a few more"),
        item("a.g", "compute the MEAN of it", "another body of eight words or a few more"),  # the same summary
        item("a.h", "Something else of it.", "First body, of eight words or a few more!"),  # the same body
        item("a.i", "Short."),
        item("a.j", "A body is missing here.", "too short"),
        item("a.k", "Numbered layer 2 of it."),
        item("a.l", "Numbered layer 3 of it.", "second body of eight words or a few more"),  # the same but for a number
    ]
    view = judged_view(objects)
    assert [document.doc_id for document in view.documents] == ["a.f", "a.k"]
    assert [query.text for query in view.queries] == ["Compute the mean of it.", "Numbered layer 2 of it."]
    assert "mean" not in view.documents[0].contents
    assert view.dropped == {
        "body seen before": 1, "body too short": 1, "summary seen before": 2, "summary too short or too long": 1,
    }  # fmt: skip


def test_full_view_keeps_everything():
    documents = list(full_view([item("a.f", "Compute the mean."), item("a.g", "", "")]))
    assert documents[0].title == "Compute the mean."
    assert documents[0].text.startswith("a f\n")
    assert documents[1].contents == "a g"


def test_packages_are_never_shared_between_splits():
    objects = [
        item(f"pkg{p}.f{n}", f"Object {chr(97 + n)}{'x' * p} of the package.", f"{'y' * p} {'z ' * n} a b c d e f g h")
        for p in range(1, 40)
        for n in range(20)
    ]
    view = judged_view(objects)
    packages = {split: {qrel.doc_id.partition(".")[0] for qrel in rows} for split, rows in view.qrels.items()}
    assert all(packages.values())
    assert not packages["test"] & packages["train"]
    assert not packages["test"] & packages["dev"]
    assert not packages["dev"] & packages["train"]
    assert sum(map(len, view.qrels.values())) == len(view.documents)


def test_a_large_package_always_trains():
    sizes = Counter({"large": 900, **{f"p{n}": 10 for n in range(50)}})
    split_of = split_packages(sizes)
    assert split_of["large"] == "train"
    held_out = sum(sizes[package] for package, split in split_of.items() if split == "test")
    assert 0.12 * 1400 <= held_out < 0.12 * 1400 + 10


def test_this_machine():
    files, others = source_files(["json", "regex"])
    assert not others
    objects = read_objects(files, processes=1)
    names = {found.qualified_name for found in objects}
    assert {"json.loads", "json.decoder.JSONDecoder"} <= names
    assert read_objects(files, processes=2) == objects
    assert "python" in installed_packages()
    with pytest.raises(InputError, match="no_such_package"):
        source_files(["no_such_package"])
