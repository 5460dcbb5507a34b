"""Formulas of growth and cost, as a candidate writes them."""
