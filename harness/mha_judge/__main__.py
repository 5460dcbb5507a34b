"""`python -m mha_judge`."""

from mha_judge.cli import main

if __name__ == "__main__":
    main()
