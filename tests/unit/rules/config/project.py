"""A configuration as a value, from what people write."""

import json

import tomli_w

from keel.core.model import Manifest
from keel.manifest.clients import parse_client
from keel.manifest.config import ProjectConfig, parse_config
from keel.manifest.parse import parse_manifest
from keel.manifest.servers import effective_servers
from keel.rules.config.interface import ConfigContext


def context(client=None, manifest=None, config=None, **rest):
    granted = parse_manifest(json.dumps(manifest), "keel.yaml") if manifest else Manifest()
    settings = parse_config(tomli_w.dumps(config), "keel.toml") if config else ProjectConfig()
    clients = [parse_client(json.dumps(client), ".mcp.json")] if client else []
    servers, found = effective_servers(granted, clients)
    assert not [item for item in found if item.severity == "error"]
    return ConfigContext(servers, granted, settings, **rest)


def launching(*command, **rest):
    return context({"mcpServers": {"s": {"command": command[0], "args": list(command[1:])}}}, **rest)
