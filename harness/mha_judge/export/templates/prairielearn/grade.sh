#!/bin/sh
# Writes results.json, which says so where there is no verdict.
mkdir -p /grade/results
cp /grade/tests/no-verdict.json /grade/results/results.json
/opt/mha-judge/bin/mha-judge run /grade/student/{{ one.file }} --problem {{ one.problem }} \
    --reveal {{ choices.reveal }} --lang {{ choices.language }} \
    --as prairielearn /grade/results/results.json
exit 0
