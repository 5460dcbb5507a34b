"""How reports, rankings and certificates are shown: terminal, JUnit, CSV, HTML."""
