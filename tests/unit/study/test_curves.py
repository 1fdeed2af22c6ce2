from lexigraft.study.curves import unbeaten


def test_points_are_joined_that_no_cheaper_one_beats():
    places = [(0.4, 0.7), (0.1, 0.5), (0.2, 0.45), (0.3, 0.6), (0.1, 0.4), (0.5, 0.7)]
    assert unbeaten(places) == [(0.1, 0.5), (0.3, 0.6), (0.4, 0.7)]
    assert unbeaten([]) == []
