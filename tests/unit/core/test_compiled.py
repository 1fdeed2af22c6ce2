import numba
import pytest

from lexigraft.core.compiled import compiled


def twice(number: int) -> int:
    return 2 * number


def test_kernels_compile_where_nothing_can_be_cached(monkeypatch):
    """numba raises for cache=True where neither the package nor the home folder can be written."""
    original = numba.njit

    def njit(*, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function 'twice': no locator available for file")
        return original(**options)

    monkeypatch.setattr(numba, "njit", njit)
    assert compiled(twice)(21) == 42


def test_other_errors_are_not_hidden(monkeypatch):
    monkeypatch.setattr(numba, "njit", lambda **_: (_ for _ in ()).throw(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        compiled(twice)
