"""The encoder: a backbone, a head over the output vocabulary, and the pooling that joins them."""
