"""What a search did (S5): counted by kernels that are given an array for it, and by no machine code of those that are
given None, which are compiled apart.

SCORE is of postings, as the corpus vocabulary study counts it (its SCORE exceeds its NEXT): every impact that was added
to a document's score. How many documents got a score is DOCUMENTS.
"""

SCORE, INSERT, NEXT, NEXT_GEQ, DOCUMENTS = 0, 1, 2, 3, 4
COUNTERS = ("SCORE", "INSERT", "NEXT", "NEXT-GEQ", "DOCUMENTS")
