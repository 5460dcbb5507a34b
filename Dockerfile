# The sandbox image: Python, torch and the part of mha-judge that runs inside. It holds no grader,
# no reference, no problem, no compiler and no pip. `mha-judge sandbox build` builds it.
#
# By hand, from the root of a checkout, with the CPU index that PyTorch documents:
#
#   docker build -t mha-judge-sandbox:VERSION --build-arg VERSION=… --build-arg TORCH_INDEX=… .
#
# BASE is any image with Python 3.11 or later, its venv module and libseccomp 2.5. A tag can come to
# mean another image; for a build that can be repeated, name a digest: BASE=python@sha256:….

ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS dependencies
# An index that has torch's CPU build; without one, Linux gets the CUDA build, some gigabytes.
ARG TORCH_INDEX=""
# --no-index where the folder wheels/ of the context holds all that is needed.
ARG PIP_OPTIONS=""
COPY constraints.txt wheel[s] /context/
RUN python3 -m venv /opt/mha-judge \
 && /opt/mha-judge/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
      --find-links /context -c /context/constraints.txt ${PIP_OPTIONS} \
      ${TORCH_INDEX:+--extra-index-url "${TORCH_INDEX}"} \
      einops numpy py-landlock pyseccomp safetensors torch \
 && /opt/mha-judge/bin/python -m pip uninstall --quiet --yes pip setuptools \
 && cd /opt/mha-judge/lib/python3.*/site-packages/torch \
 && rm -rf include share test \
 && find bin -type f ! -name torch_shm_manager -delete \
 && find /opt/mha-judge -name '*.a' -delete

FROM dependencies AS worker
COPY harness/mha_judge/__init__.py /worker/mha_judge/
COPY harness/mha_judge/wire /worker/mha_judge/wire
COPY harness/mha_judge/worker /worker/mha_judge/worker
# The import proves that nothing else of the package, and nothing that is missing, is needed.
RUN packages=$(echo /opt/mha-judge/lib/python3.*/site-packages) \
 && mkdir -p "/out${packages}" \
 && cp -r /worker/mha_judge "/out${packages}/" \
 && cp -r /worker/mha_judge "${packages}/" \
 && /opt/mha-judge/bin/python -m compileall -q -s /out "/out${packages}" \
 && /opt/mha-judge/bin/python -I -B -c 'import mha_judge.worker.serve, mha_judge.worker.supervisor'

FROM ${BASE}
# Official Python images come without bytecode, and a read-only container could not keep its own.
RUN python3 -m compileall -q -x '/(site-packages|dist-packages|test|tests)/' \
      "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" || true
COPY --from=dependencies /opt/mha-judge /opt/mha-judge
COPY --from=worker /out/opt/mha-judge /opt/mha-judge
ENV PATH=/opt/mha-judge/bin:$PATH
USER 65534:65534
WORKDIR /
CMD ["python", "-I", "-B", "-X", "utf8", "-m", "mha_judge.worker.supervisor"]
ARG VERSION=""
LABEL org.opencontainers.image.title="mha-judge-sandbox" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      mha-judge.protocol="12"
