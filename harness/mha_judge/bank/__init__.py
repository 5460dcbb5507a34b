"""The bank: the problems of a folder with all that belongs to them, read and validated."""

from mha_judge.bank.bank import LANGUAGES, VOCABULARY, Bank, module_name, none_such

__all__ = ["LANGUAGES", "VOCABULARY", "Bank", "module_name", "none_such"]
