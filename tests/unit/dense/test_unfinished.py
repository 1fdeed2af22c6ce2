import numpy as np

from lexigraft.dense.unfinished import UnfinishedVectors


def test_what_is_kept_is_of_these_texts_and_this_encoder(tmp_path):
    kept, vectors = UnfinishedVectors(tmp_path / "parts", "encoder"), np.arange(6, dtype=np.float16).reshape(2, 3)
    kept.keep(["a", "bc"], vectors)
    found = np.zeros((2, 3), np.float16)
    assert kept.read(["a", "bc"], found) and (found == vectors).all()
    assert not kept.read(["ab", "c"], found)  # where one text ends is a part of what they are
    assert not UnfinishedVectors(tmp_path / "parts", "another").read(["a", "bc"], found)
    assert not kept.read(["a", "bc"], np.zeros((2, 4), np.float16))


def test_files_that_are_not_whole_are_made_again(tmp_path):
    kept, vectors = UnfinishedVectors(tmp_path / "parts", "encoder"), np.ones((1, 3), np.float16)
    kept.keep(["a"], vectors)
    (file,) = (tmp_path / "parts").iterdir()
    file.write_bytes(file.read_bytes()[:-2])
    assert not kept.read(["a"], np.zeros((1, 3), np.float16))
    kept.keep(["a"], vectors)
    assert kept.read(["a"], np.zeros((1, 3), np.float16))
    assert [one.name for one in (tmp_path / "parts").iterdir()] == [file.name]  # nothing is left beside it
