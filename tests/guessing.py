"""Tests of what guesses languages: there is not a wheel of its library for every machine, and all works without."""

from importlib.util import find_spec

import pytest

needs_cld2 = pytest.mark.skipif(find_spec("pycld2") is None, reason="pycld2 is not installed")
