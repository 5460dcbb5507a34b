"""What a grade says: the model, and one renderer a format."""
