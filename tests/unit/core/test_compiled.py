import os
import subprocess
import sys

import numba
import pytest

from lexigraft.core.compiled import compiled


def twice(number: int) -> int:
    return 2 * number


def test_kernels_compile_where_nothing_can_be_cached(monkeypatch):
    """numba raises for cache=True where neither the package nor the home folder can be written."""
    original = numba.njit

    def njit(*functions, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function 'twice': no locator available for file")
        return original(*functions, **options)  # numba itself imports and compiles more on first use

    monkeypatch.setattr(numba, "njit", njit)
    assert compiled(twice)(21) == 42


def test_other_errors_are_not_hidden(monkeypatch):
    monkeypatch.setattr(numba, "njit", lambda **_: (_ for _ in ()).throw(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        compiled(twice)(21)


CALLED = """
from lexigraft.core.compiled import compiled, inlined
{constant}

@compiled
def step(number):
    return number + {by}

@inlined
def half(number):
    return number // {divisor}
"""
BETWEEN = """
from called import half, step
from lexigraft.core.compiled import compiled

@compiled
def two_steps(number):
    return step(step(number))

@compiled
def step_of_half(number):
    return step(half(number))
"""
CALLING = """
from between import step_of_half, two_steps
from called import FIRST
from lexigraft.core.compiled import compiled

@compiled
def walk(number):
    return two_steps(number) * 1000 + step_of_half(number) + FIRST

def main():
    print(walk(10), sum(walk.stats.cache_hits.values()))
"""


@pytest.mark.integration  # six processes, four of which compile
def test_an_edit_in_a_file_whose_kernel_is_called_takes_effect(tmp_path):
    """Also where another file stands between, and where only a number changed; and nothing is compiled needlessly."""

    def walk(**edit):
        values = {"constant": "FIRST = 0", "by": 1, "divisor": 2, **edit}
        (tmp_path / "called.py").write_text(CALLED.format(**values))
        os.utime(tmp_path / "called.py", ns=(0, sum(map(ord, str(values)))))  # a time of its own for each text
        found = subprocess.run(
            [sys.executable, "-c", "import calling; calling.main()"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return tuple(map(int, found.stdout.split()))

    (tmp_path / "between.py").write_text(BETWEEN)
    (tmp_path / "calling.py").write_text(CALLING)
    assert walk() == (12_006, 0)
    assert walk() == (12_006, 1)
    assert walk(by=2) == (14_007, 0)
    assert walk(by=2, divisor=5) == (14_004, 0)
    assert walk(by=2, divisor=5, constant="FIRST = 9") == (14_013, 0)
    assert walk(by=2, divisor=5, constant="FIRST = 9") == (14_013, 1)


def test_numpy_goes_on_while_kernels_are_compiled_elsewhere():
    code = """
from lexigraft.core import compiled
with compiled.leaving_kernels():
    compiled.load_kernels()
    print(compiled.worth_loading(2 * compiled.LOADING))
print(compiled.worth_loading(1))
compiled.load_kernels()
with compiled.leaving_kernels():
    print(compiled.worth_loading(1))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", "True", "True"]  # what is loaded already is never left again
