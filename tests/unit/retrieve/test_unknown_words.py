"""Words that find nothing are named, in searches and explanations; stop-words are not."""

import lexigraft as lg
from lexigraft.retrieve.explaining import Explainer


def test_words_without_a_term_are_named_once_and_in_order():
    with lg.Retriever.from_texts(["The quick brown fox", "lazy dogs sleep"], ids=["a", "b"]) as retriever:
        assert retriever.unknown_words("the Wombat of quick dogs and a wombat xyzzy") == ["Wombat", "xyzzy"]
        assert retriever.unknown_words("the quick dogs") == []
        explained = Explainer(retriever).explain_text("quick wombat")
        assert explained.unknown == ("wombat",)
        assert explained.said_of_unknown == "the vocabulary does not know: wombat"
        assert Explainer(retriever).explain_text("quick").said_of_unknown == ""


def test_a_search_says_which(tmp_path, lexigraft):
    with lg.Retriever.from_texts(["The quick brown fox", "lazy dogs sleep"], ids=["a", "b"]) as retriever:
        retriever.save(tmp_path / "saved")
    found = lexigraft("search", "--index", tmp_path / "saved", "quick wombat")
    assert "the vocabulary does not know: wombat" in found.stderr
    assert "wombat" not in lexigraft("search", "--index", tmp_path / "saved", "quick fox").stderr
    assert (
        "does not know: wombat" in lexigraft("explain", "--index", tmp_path / "saved", "--text", "quick wombat").stdout
    )
