"""How many clusters the queries of a log are put into, and how many of each are held out, where nobody says so.

The vocabulary study has some 300 queries in a cluster, of which 30 are tested, 90 make the test harder, and 4 are for
validation. A smaller log keeps that proportion by having fewer clusters, and by taking fewer of clusters that hold less
than 300. The study's validation queries, one in 300, are too few to choose anything by in a small log: there, a tenth
of all queries validates, as many as are tested, until there are 100.
"""

from collections.abc import Mapping
from dataclasses import asdict
from math import ceil

from lexigraft.data.clicks.settings import SetSizes

QUERIES_A_CLUSTER = 300
MOST_CLUSTERS = 10_000
VALIDATION_QUERIES = 100  # wanted of all clusters together
VALIDATION_SHARE = 0.1  # of all queries, at most


def clusters_for(n_queries: int) -> int:
    """One cluster for every 300 queries, rounded up; at least 1, at most 10,000."""
    return min(MOST_CLUSTERS, max(1, ceil(n_queries / QUERIES_A_CLUSTER)))


def sizes_for(n_queries: int, n_clusters: int, given: Mapping[str, int]) -> SetSizes:
    """What each cluster gives to the sets: what is `given` (by the fields of `SetSizes`), and for the rest the study's
    numbers, in proportion where a mean cluster has fewer than 300 queries; at least one to test and one to validate."""
    share = min(1.0, n_queries / n_clusters / QUERIES_A_CLUSTER)
    scaled = {role: int(count * share) for role, count in asdict(SetSizes()).items()}
    scaled["test_queries"] = max(1, scaled["test_queries"])
    validation = min(VALIDATION_QUERIES, VALIDATION_SHARE * n_queries)
    scaled["valid_queries"] = max(SetSizes.valid_queries, round(validation / n_clusters))
    return SetSizes(**{**scaled, **given})
