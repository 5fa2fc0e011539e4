"""What travels, for programs in other languages: JSON Schema, OpenAPI and AsyncAPI.

``chaosops wire FOLDER`` writes the three documents from the models that the server uses.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from chaosops.core.files import open_folder, write_text
from chaosops.server import messages, seats
from chaosops.version import VERSION
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState

if TYPE_CHECKING:
    from fastapi import FastAPI

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
Model = type[BaseModel]


class Channel(NamedTuple):
    """A WebSocket route, the messages that a client may send there, and the server's."""

    address: str
    text: str
    received: tuple[Model, ...]
    sent: tuple[Model, ...]


CHANNELS = {
    "ws": Channel(
        "/ws",
        "One client plays all four roles, or one role while the server plays its partners. Each "
        "message has one answer.",
        (
            messages.ResetMessage,
            messages.StepMessage,
            messages.StateMessage,
            messages.McpMessage,
            messages.CloseMessage,
        ),
        (
            messages.ObservationAnswer,
            messages.StateAnswer,
            messages.McpAnswer,
            messages.ErrorAnswer,
        ),
    ),
    "seat": Channel(
        "/seat",
        "One role of a table. `POST /tables` opens a table and gives a token for each seat.",
        (messages.SitMessage, messages.ActMessage),
        (
            messages.SeatedAnswer,
            messages.TurnAnswer,
            messages.ActedAnswer,
            messages.OverAnswer,
            messages.AbandonedAnswer,
            messages.ErrorAnswer,
        ),
    ),
}
_HTTP: tuple[Model, ...] = (
    messages.ResetRequest,
    messages.StepRequest,
    messages.Observed,
    seats.TableRequest,
    seats.OpenedTable,
    seats.TableState,
    ChaosOpsAction,
    ChaosOpsObservation,
    ChaosOpsState,
)


def kind_of(model: Model) -> str:
    """The ``type`` of a message.

    >>> kind_of(messages.StepMessage)
    'step'
    """
    (kind,) = model.model_fields["type"].annotation.__args__  # type: ignore[union-attr]
    return str(kind)


def _schemas(models: Iterable[Model], place: str) -> dict[str, Any]:
    """The schemas of these models and of their parts, by name."""
    wanted = [(model, "validation") for model in dict.fromkeys(models)]
    _, whole = models_json_schema(wanted, ref_template=f"#/{place}/{{model}}")  # type: ignore[arg-type]
    return _each_once(whole["$defs"], place)


def _each_once(schemas: dict[str, Any], place: str) -> dict[str, Any]:
    """Where a schema repeats another model's, a reference to it."""
    names = {model.__name__ for model in messages.SHAPES}
    lifted: dict[str, Any] = {}

    def referred(part: Any) -> Any:
        if isinstance(part, list):
            return [referred(item) for item in part]
        if not isinstance(part, dict):
            return part
        name = part.get("title")
        if name in names and "properties" in part:
            lifted[name] = {key: referred(value) for key, value in part.items()}
            return {"$ref": f"#/{place}/{name}"}
        return {key: referred(value) for key, value in part.items()}

    for name, schema in schemas.items():
        found = referred(schema)
        if name not in names:
            lifted[name] = found
    return dict(sorted(lifted.items()))


def _on_sockets() -> list[Model]:
    return [model for _, _, *both in CHANNELS.values() for side in both for model in side]


def json_schema() -> dict[str, Any]:
    return {
        "$schema": _DRAFT,
        "title": "ChaosOps AI, the wire",
        "description": f"Messages of version {VERSION}. Refer to one as #/$defs/NAME.",
        "$defs": _schemas((*_on_sockets(), *_HTTP), "$defs"),
    }


@cache
def asyncapi() -> dict[str, Any]:
    """AsyncAPI 3: an operation says what the server does, so it receives what a client sends."""
    channels, operations = {}, {}
    for name, channel in CHANNELS.items():
        place = {"$ref": f"#/channels/{name}"}
        sides = {"receive": channel.received, "send": channel.sent}
        channels[name] = {
            "address": channel.address,
            "description": channel.text,
            "servers": [{"$ref": "#/servers/local"}],
            "messages": {
                model.__name__: {"$ref": f"#/components/messages/{model.__name__}"}
                for side in sides.values()
                for model in side
            },
        }
        for action, models in sides.items():
            refs = [{"$ref": f"#/channels/{name}/messages/{model.__name__}"} for model in models]
            operations[f"{action}_{name}"] = {"action": action, "channel": place, "messages": refs}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "ChaosOps AI",
            "version": VERSION,
            "description": "Episodes on WebSockets. openapi.json describes the HTTP routes.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {"local": {"host": "127.0.0.1:8000", "protocol": "ws"}},
        "channels": channels,
        "operations": operations,
        "components": {
            "messages": {model.__name__: _message(model) for model in _on_sockets()},
            "schemas": _schemas(_on_sockets(), "components/schemas"),
        },
    }


def _message(model: Model) -> dict[str, Any]:
    told = {"summary": " ".join(model.__doc__.split())} if model.__doc__ else {}
    payload = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"name": kind_of(model), **told, "payload": payload}


def describe_http(app: FastAPI) -> None:
    """FastAPI's description, without the examples of OpenEnv's that do not fit this server."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        document = made()
        problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
        for route in document["paths"].values():
            for operation in route.values():
                for status, answer in operation["responses"].items():
                    content = answer.get("content", {}).get("application/json", {})
                    content.pop("example", None)
                    if status == "422":
                        answer["content"] = {"application/json": problem}
        components = document["components"]
        components["schemas"] = _each_once(components["schemas"], "components/schemas")
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def documents(app: FastAPI) -> dict[str, dict[str, Any]]:
    return {
        "schema.json": json_schema(),
        "openapi.json": app.openapi(),
        "asyncapi.json": asyncapi(),
    }


def write_documents(folder: Path, app: FastAPI) -> list[Path]:
    open_folder(folder, "FOLDER")
    for name, content in documents(app).items():
        write_text(folder / name, json.dumps(content, indent=1) + "\n")
    return [folder / name for name in documents(app)]
