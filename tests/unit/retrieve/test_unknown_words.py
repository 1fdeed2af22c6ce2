"""Words that find nothing are named, in searches and explanations; stop-words are not. Where no word of a query is in
the collection, the words that are near are named, too. What is told changes no ranking."""

import pytest

import lexigraft as lg
from lexigraft.core.settings import LexicalSettings
from lexigraft.retrieve.explaining import Explainer

TEXTS = ["The quick brown fox", "lazy dogs sleep", "packages are sent", "a package", "one package of foxes"]


@pytest.fixture(scope="module")
def retriever():
    with lg.Retriever.from_texts(TEXTS, ids=["a", "b", "c", "d", "e"]) as found:
        yield found


def test_words_without_a_term_are_named_once_and_in_order(retriever):
    assert retriever.unknown_words("the Wombat of quick dogs and a wombat xyzzy") == ["Wombat", "xyzzy"]
    assert retriever.unknown_words("the quick dogs") == []
    explained = Explainer(retriever).explain_text("quick wombat")
    assert explained.unknown == ("wombat",)
    assert explained.notices == ("the vocabulary does not know: wombat",)
    assert Explainer(retriever).explain_text("quick").notices == ()


def test_where_no_word_is_known_near_words_are_named_and_not_stems(retriever):
    said = "no word of the query is in the collection: "
    assert retriever.notices("Packge") == (f"{said}Packge; did you mean package or packages?",)
    assert retriever.notices("the fxo of the packge") == (f"{said}fxo, packge; did you mean fox, package?",)
    assert retriever.notices("qqqqqqqq") == (f"{said}qqqqqqqq",)
    assert retriever.notices("zq") == (f"{said}zq",)  # too short to be near anything
    assert retriever.notices("the of and") == retriever.notices(" ?! ") == retriever.notices("quick") == ()
    assert retriever.search("packge") == []  # never looked for by itself


def test_deleted_words_are_not_proposed():
    with lg.Retriever.from_texts(["red apples", "green pears"], ids=["a", "b"]) as retriever:
        assert retriever.notices("aples")[0].endswith("did you mean apples?")
        retriever.delete(["a"])
        assert retriever.notices("aples") == ("no word of the query is in the collection: aples",)


def test_words_that_are_terms_as_they_stand_need_no_text():
    with lg.Retriever.from_texts(["packages are sent"], settings=LexicalSettings(stemmer="none")) as retriever:
        assert retriever.notices("packges")[0].endswith("did you mean packages?")


def test_operators_are_told_and_change_nothing(retriever):
    assert retriever.notices('"quick fox" -dogs') == (
        'quotes and "-word" have no meaning here yet: read as plain words',
    )
    assert retriever.search('"quick fox" -dogs') == retriever.search("quick fox dogs")
    answer = retriever.answer("quick -wombat")
    assert answer.notices == (
        '"-word" has no meaning here yet: read as plain words', "the vocabulary does not know: wombat",
    )  # fmt: skip
    assert answer.as_json()["notices"] == list(answer.notices)


def test_a_search_says_which(tmp_path, lexigraft, retriever):
    retriever.save(tmp_path / "saved")
    call = ("search", "--index", tmp_path / "saved")
    assert lexigraft(*call, "quick wombat").stderr == "the vocabulary does not know: wombat\n"
    assert lexigraft(*call, "quick fox").stderr == ""
    nothing = lexigraft(*call, "packge")
    assert nothing.stdout == ""
    assert nothing.stderr == (
        "nothing found: no word of the query is in the collection: packge; did you mean package or packages?\n"
    )
    assert lexigraft(*call, "packge", "--json").json["notices"] == [nothing.stderr.removeprefix("nothing found: ")[:-1]]
    explained = lexigraft("explain", "--index", tmp_path / "saved", "--text", "quick wombat")
    assert "does not know: wombat" in explained.stdout


def test_a_query_may_begin_with_a_dash(tmp_path, lexigraft, retriever):
    retriever.save(tmp_path / "saved")
    call = ("search", "--index", tmp_path / "saved", "--json")
    plain = lexigraft(*call, "quick").json["hits"]
    for query in ("-quick", "--quick wombat", "-quick wombat", '-"quick"'):
        assert lexigraft(*call, query, "--k", 1).json["hits"] == plain
    assert lexigraft(*call, "-hello").status == 0  # and not -h, which shows the help
    assert lexigraft(*call, "-1").json["hits"] == []
    explained = lexigraft("explain", "--index", tmp_path / "saved", "-quick", "a", "--json").json
    assert (explained["query"], explained["doc_id"]) == ("-quick", "a")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("--kk", "Possible options: --dk, --k, --qk"), ("-k", "did you mean --k?"), ("-k=3", "did you mean --k?"),
        ("-system", "did you mean --system?"), ("-x", "No such option: -x"), ("--quick", "No such option: --quick"),
    ],
)  # fmt: skip
def test_a_mistyped_option_is_no_query(wrong, said, lexigraft):
    answer = lexigraft("search", "--index", "nowhere", wrong, "3")
    assert answer.status == 2 and said in " ".join(answer.stderr.split())
