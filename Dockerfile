# The server with the page for people, as `chaosops serve` starts it.
FROM python:3.12-slim

# llama.cpp computes with it.
RUN apt-get update && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir uv==0.13.7
WORKDIR /app
COPY pyproject.toml uv.lock README.md LICENSE ./
COPY src ./src
COPY scripts ./scripts
COPY server ./server
# What the lock file says; the second line tells OpenEnv's tools which release that is, and
# brings pip, which fetches the model.
RUN uv sync --frozen --no-cache --no-editable --extra server --extra local \
    && uv pip install --no-cache "openenv==0.10.0" pip
ENV PATH="/app/.venv/bin:$PATH"

# Spaces run as this user, and show the page in a frame of the hub.
RUN useradd --create-home --uid 1000 chaosops
USER chaosops
ENV CHAOSOPS_HOME=/home/chaosops/models \
    CHAOSOPS_THREADS=2 \
    CHAOSOPS_WEB_FRAME_ANCESTORS="'self' https://huggingface.co"
# One episode converts the adapter as well, so that no visitor waits for it.
RUN chaosops weights && chaosops run --policy trained --max-steps 3
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health')"]
CMD ["chaosops", "serve", "--host", "0.0.0.0", "--port", "8000"]
