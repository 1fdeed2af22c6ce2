"""Words that say nothing by themselves: no terms of BM25, and in a model read but not pooled."""

NO_STOPWORDS = "none"

# Lucene's classic English list, the one BM25 baselines are usually reported with.
ENGLISH = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such "
    "that the their then there these they this to was will with".split()
)


def stopwords(name: str) -> frozenset[str]:
    """The list called `name`: english or none."""
    return ENGLISH if name == "english" else frozenset()
