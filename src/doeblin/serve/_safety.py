"""What every request passes: size, host and origin on the way in, headers on the way out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ._limits import BODY_BYTES

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine that no other machine can reach."""

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",
}


class Guard:
    """Turns away what is too large or comes from another site, and sets the headers.

    Only names of this machine are answered to: `localhost`, the `names` given and, unless it is on
    `loopback`, any plain address. A page elsewhere whose name is made to point here (DNS rebinding)
    sends its own name, and gets nothing.
    """

    def __init__(self, app: ASGIApp, *, loopback: bool, names: Sequence[str] = ()):
        self._app = app
        self._loopback = loopback
        self._names = {*LOOPBACK, *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refusal = self._refusal(headers)
        if refusal is not None:
            await _refuse(send_guarded, *refusal)
            return
        seen = 0

        async def receive_counted() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > BODY_BYTES:
                    raise HTTPException(413, _too_large(), {"Connection": "close"})
            return message

        await self._app(scope, receive_counted, send_guarded)

    def _refusal(self, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        name = urlsplit(f"//{host}").hostname if _plain(host) else None
        if name not in self._names and (self._loopback or not _is_address(name)):
            if self._loopback:
                return 421, "this server answers to localhost only"
            return 421, "this server answers to its address only; start it with --name for a name"
        origin = headers.get("origin")
        if origin is not None and (not _plain(origin) or urlsplit(origin).netloc != host):
            return 403, "requests from other sites are not answered"
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") not in (
            "navigate",
            None,
        ):
            return 403, "requests from other sites are not answered"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:18]) > BODY_BYTES:
            return 413, _too_large()
        return None


def _is_address(name: str | None) -> bool:
    try:
        ip_address(name or "")
    except ValueError:
        return False
    return True


def _plain(text: str) -> bool:
    """Is this something that `urlsplit` takes?"""
    try:
        urlsplit(f"//{text}")
        _ = urlsplit(text).hostname
    except ValueError:
        return False
    return True


def _too_large() -> str:
    return f"the request is larger than {BODY_BYTES // 1024} KiB"


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps({"error": {"message": message, "line": None, "column": None}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 413:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
