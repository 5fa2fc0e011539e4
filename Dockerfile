# The server with the page for people, as `chaosops serve` starts it.
#
# python:3.12-slim, that is 3.12.14-slim-trixie, by its digest. The digest was taken from public
# repositories that pin this image for amd64 and arm64, not from a registry. A wrong digest fails
# the build. To update it:
#   docker buildx imagetools inspect python:3.12-slim
ARG BASE=python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
FROM ${BASE}

# llama.cpp needs libgomp1. It comes from the signed Debian snapshot of the day of the base image.
ARG DEBIAN_SNAPSHOT=20260824T000000Z
RUN sed -i -E "s#^URIs: .*/(debian|debian-security)/?\$#URIs: http://snapshot.debian.org/archive/\\1/${DEBIAN_SNAPSHOT}#" \
        /etc/apt/sources.list.d/debian.sources \
    && ! grep --quiet deb.debian.org /etc/apt/sources.list.d/debian.sources \
    && apt-get -o Acquire::Check-Valid-Until=false update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# uv.txt is uv with the hashes of the lock file.
COPY scripts/uv.txt ./scripts/uv.txt
RUN pip install --no-cache-dir --require-hashes --no-deps -r scripts/uv.txt
COPY pyproject.toml uv.lock README.md LICENSE ./
# Install what the lock file lists, by its hashes, with the build tools and pip, which fetches the
# model.
RUN uv sync --frozen --no-cache --no-install-project --no-default-groups \
        --group image --extra server --extra local
COPY src ./src
COPY scripts ./scripts
COPY server ./server
# OpenEnv's tools read its release from this line. It is installed already, so nothing is fetched.
RUN uv pip install --offline --no-deps --no-build-isolation . "openenv==0.10.0"
ENV PATH="/app/.venv/bin:$PATH"

# Spaces run as this user, and show the page in a frame of the hub.
RUN useradd --create-home --uid 1000 chaosops
USER chaosops
ENV CHAOSOPS_HOME=/home/chaosops/models \
    CHAOSOPS_THREADS=2 \
    CHAOSOPS_WEB_FRAME_ANCESTORS="'self' https://huggingface.co"
# One episode shows that the model plays here.
RUN chaosops weights && chaosops run --policy trained --max-steps 3
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health')"]
CMD ["chaosops", "serve", "--host", "0.0.0.0", "--port", "8000"]
