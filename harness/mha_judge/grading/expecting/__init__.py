"""What the reference gives, and how an answer is compared with it."""
