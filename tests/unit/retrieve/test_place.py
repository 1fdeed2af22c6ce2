import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.retrieve.place import require_made_of


def test_an_index_knows_the_vectors_that_it_was_made_of(tmp_path):
    index, others, made_of = tmp_path / "index", tmp_path / "others", {"vectors": "ab"}
    require_made_of(made_of, "ab", index, tmp_path / "vectors")
    with pytest.raises(ArtifactError, match=r"index was not made of the vectors at .*others"):
        require_made_of(made_of, "cd", index, others)
    require_made_of({}, "cd", index, others)  # it does not say what it was made of
