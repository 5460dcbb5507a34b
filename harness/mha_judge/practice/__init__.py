"""Practising alone: what one has done, what comes next, hints with a price, reviews."""
