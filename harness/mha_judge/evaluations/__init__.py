"""The problems as an evaluation of language models: in Inspect, and for training with verifiers."""
