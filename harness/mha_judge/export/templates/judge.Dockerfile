# The judge, in an image of its own.
FROM python:3.11-slim-bookworm
{% if choices.wheel %}
COPY judge/ /judge/
{% endif %}
RUN python3 -m venv /opt/mha-judge \
 && /opt/mha-judge/bin/pip install --no-cache-dir {{ choices.pip("/judge/") }}
{% if harbor %}
COPY test.sh /tests/test.sh
{% endif %}
