"""The checks of a grader: how they are declared, collected and run, and what they assert."""
