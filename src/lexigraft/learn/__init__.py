"""Everything that makes a model: vocabulary, backbone, pre-training, fine-tuning."""
