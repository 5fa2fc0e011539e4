# The server with the page for people, as `chaosops serve` starts it.
FROM python:3.12-slim

RUN pip install --no-cache-dir uv==0.13.7
WORKDIR /app
COPY pyproject.toml uv.lock README.md LICENSE ./
COPY src ./src
COPY scripts ./scripts
COPY server ./server
# What the lock file says; the second line tells OpenEnv's tools which release that is.
RUN uv sync --frozen --no-cache --no-editable --extra server \
    && uv pip install --no-cache "openenv==0.10.0"
ENV PATH="/app/.venv/bin:$PATH"

# Spaces run as this user.
RUN useradd --create-home --uid 1000 chaosops
USER chaosops
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health')"]
CMD ["chaosops", "serve", "--host", "0.0.0.0", "--port", "8000"]
