"""What the papers ask: five studies with verdicts (`papers`), wackiness, expansion."""
