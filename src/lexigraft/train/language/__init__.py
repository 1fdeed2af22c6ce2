"""Training to name terms: EMLM, masked language modelling, TILDE."""
