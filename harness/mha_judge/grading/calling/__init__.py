"""Asking a candidate's functions and layers in the worker, and the reference beside them."""
