"""Training and validation pairs that are made of the texts themselves, where nobody has judged any."""
