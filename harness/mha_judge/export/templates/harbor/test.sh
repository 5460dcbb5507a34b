#!/bin/sh
# Writes the reward. Without a verdict there is none, and the exit code is not 0.
/opt/mha-judge/bin/mha-judge run /app/{{ one.file }} --problem {{ one.problem }} \
    --json /logs/verifier/report.json --as harbor /logs/verifier/reward.json
test -f /logs/verifier/reward.json
