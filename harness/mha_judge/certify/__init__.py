"""Certifying a bank: proof that its references pass, and that known mistakes do not."""
