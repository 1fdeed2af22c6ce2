"""What a search did (S5): counted by kernels that are given an array for it, and by no machine code of those that are
given None, which are compiled apart."""

SCORE, INSERT, NEXT, NEXT_GEQ = 0, 1, 2, 3
COUNTERS = ("SCORE", "INSERT", "NEXT", "NEXT-GEQ")
