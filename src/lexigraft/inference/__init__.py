"""A trained model without torch: what it says of itself, how it reads texts, and its graph for onnxruntime."""
