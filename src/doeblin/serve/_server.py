"""Runs the application on a port of this machine."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from fastapi import FastAPI

from .._errors import InputError
from ._app import create_app
from ._limits import MOST_UNREAD, READ_SECONDS, Limits
from ._punctual import punctual
from ._safety import LOOPBACK

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def serve(
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    *,
    names: Sequence[str] = (),
    on_start: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until interrupted. `on_start` gets the address once the port is ours.

    On another `host` than loopback, everybody who reaches the port is served; `names` are the names
    under which they may call. Port 0 takes any that is free. Raises `InputError` if the port cannot
    be had.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise InputError(f"name {name!r} is no name of a machine; one is like mybox.local")
    listener = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}"
    app = create_app(limits, loopback=host in LOOPBACK, names=(host, *names))
    config = uvicorn.Config(
        app,
        http=punctual(READ_SECONDS, MOST_UNREAD),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=1000,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=64 * 1024,
    )
    on_start(address)
    with contextlib.suppress(KeyboardInterrupt):  # which is how one stops it
        _Server(config, app).run(sockets=[listener])


class _Server(uvicorn.Server):
    """It ends all work before it waits for connections: who follows a proof is told."""

    def __init__(self, config: uvicorn.Config, app: FastAPI):
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        for pool in self._app.state.pools.values():
            await pool.close()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    if not host:
        raise InputError("host is empty; 127.0.0.1 is this machine only, 0.0.0.0 all networks")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot listen on {host} port {port}: {reason}; choose another with --port, "
            "or --port 0 for any that is free"
        ) from None
    return listener
