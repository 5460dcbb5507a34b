#!/bin/bash
# Installs the judge. Grading needs {{ one.memory_mb }} MB: set as much in the assignment's settings.
set -euo pipefail
python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    python=python3.11
fi
apt-get update
apt-get install -y --no-install-recommends "$python" "$python-venv" libseccomp2
"$python" -m venv /opt/mha-judge
/opt/mha-judge/bin/pip install --no-cache-dir {{ choices.pip("/autograder/source/judge/") }}
