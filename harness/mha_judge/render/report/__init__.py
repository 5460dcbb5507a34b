"""One report, for a terminal and as JUnit XML."""
