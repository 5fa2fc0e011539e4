from __future__ import annotations

import json
from pathlib import Path

from tests.extending.checkout import Checkout

PAGE = """\
{% extends "layout.html" %}
{% block nav %}About{% endblock %}
{% block description %}About this project.{% endblock %}
{% block intro %}<h1>About this project</h1>{% endblock %}
"""
SCRIPT = 'import { byId } from "./dom.js";\n\nbyId("waiting").textContent = "Nothing to read.";\n'
# A real server on loopback, asked like a browser would.
ASK = """
import json, re, socket, threading
import httpx, uvicorn
from chaosops.web.app import build_app
from chaosops.web.routes import Settings

config = uvicorn.Config(build_app(Settings(results=())), log_level="warning", lifespan="off")
with socket.create_server(("127.0.0.1", 0)) as listener:
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
        page, home = client.get("/about"), client.get("/")
        (script,) = re.findall(r'src="[.]/(static/[^"]+/about.js)"', page.text)
        print(json.dumps({
            "page": page.text,
            "headers": dict(page.headers),
            "home": home.text,
            "script": client.get("/" + script).text,
        }))
    server.should_exit = True
    thread.join()
"""


def test_a_web_page_is_a_template_and_a_script(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.write("web/templates/pages/about.html", PAGE)
    checkout.write("web/static/about.js", SCRIPT)
    assert len(checkout.touched()) == 2
    seen = json.loads(checkout.python(ASK))
    assert "<title>About: ChaosOps</title>" in seen["page"]
    assert "<h1>About this project</h1>" in seen["page"]
    assert '<a href="./about" aria-current="page">About</a>' in seen["page"]
    assert "data-theme-button" in seen["page"], "the layout is shared"
    assert '<a href="./about">About</a>' in seen["home"], "the other pages link to it"
    assert seen["script"] == SCRIPT
    assert "default-src 'none'" in seen["headers"]["content-security-policy"]
    assert seen["headers"]["cache-control"] == "no-cache"
