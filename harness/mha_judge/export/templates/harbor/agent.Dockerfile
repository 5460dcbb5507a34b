# Where the solution is written: torch and the starter, and nothing of the judge.
FROM python:3.11-slim-bookworm
COPY constraints.txt /tmp/
RUN pip install --no-cache-dir -c /tmp/constraints.txt{% if choices.torch_index %} --extra-index-url {{ choices.torch_index | quote }}{% endif %} torch numpy einops
WORKDIR /app
COPY {{ one.file }} /app/{{ one.file }}
