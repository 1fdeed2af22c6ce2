import numpy as np

from lexigraft.core.resources import measured


def test_the_peak_is_that_of_the_block():
    with measured() as before:
        pass
    with measured() as with_array:
        np.ones(100 * 2**20, np.uint8).sum()
    with measured() as after:
        pass
    assert with_array.peak_rss_mib > before.peak_rss_mib + 90
    assert after.peak_rss_mib < with_array.peak_rss_mib - 90
    assert with_array.seconds > 0
