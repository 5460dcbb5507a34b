"""`python -m mha_judge`."""

from mha_judge.cli import entry

if __name__ == "__main__":
    entry()
