import pytest

from lexigraft.vocab.words import split_pieces, split_words, words_of_piece


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop", ["don't", "stop"]),
        ("can’t", ["can't"]),
        ("co\u00adoperate", ["cooperate"]),
        ("\u200dschuh schuh\u200d sch\u200duh \u200fschuh schuh\u200e", ["schuh"] * 5),
        ("\ufeffroter \u2068schuh\u2069 schuh\ufe0f \u2060schuh", ["roter", "schuh", "schuh", "schuh"]),
        ("\u200bschuh\u200bhut", ["schuh", "hut"]),  # a zero-width space separates
        ("می\u200cخواهم میخواهم", ["میخواهم", "میخواهم"]),  # with a non-joiner and without
        ("ශ්\u200dරී ශ්රී", ["ශ්රී", "ශ්රී"]),
        ("pi is 3.14, or 1,000", ["pi", "is", "3.14", "or", "1,000"]),
        ("os.path.join(snake_case, __init__)", ["os", "path", "join", "snake", "case", "init"]),
        ("e-mail AT&T C++", ["e", "mail", "at", "t", "c"]),
        ("v2.0.1 x86_64", ["v2.0.1", "x86", "64"]),
        ("key:value 12:30", ["key", "value", "12", "30"]),
        ("ﬁne ① Ｆｕｌｌ", ["fine", "1", "full"]),
        ("영화를 보았다", ["영화를", "보았다"]),
        ("Привет, мир", ["привет", "мир"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("日本 カタカナ", ["日", "本", "カタカナ"]),
        ('צה"ל', ["צה", "ל"]),
        ("", []),
        ("... --- '", []),
    ],
)
def test_the_rule(text, words):
    assert split_words(text) == words
    assert [word for piece in split_pieces(text) for word in words_of_piece(piece)] == words
