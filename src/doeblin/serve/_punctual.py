"""Connections whose clients must keep up: a request arrives in time, an answer is read in time."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def punctual(seconds: float, most: int) -> type[H11Protocol]:
    """uvicorn's protocol, which by itself waits for ever, with a limit on waiting.

    A request must be in `seconds` after its first byte (after connecting, if none came), however
    it trickles; an answer that the client does not read is given up after the same time. No more
    than `most` connections wait for their requests at a time: the longest waiting goes first, so
    that half-sent requests lock out each other and nobody else.
    """
    unread: dict[_Punctual, asyncio.TimerHandle] = {}  # the longest waiting first

    class _Punctual(H11Protocol):
        _clogged: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._await_request()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.transport.is_closing() or not self._is_unread():
                self._stop_waiting()
            else:
                self._await_request()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            self.resume_writing()
            super().connection_lost(exc)

        def _is_unread(self) -> bool:
            cycle = self.cycle
            return cycle is None or cycle.response_complete or cycle.more_body

        def _await_request(self) -> None:
            if self in unread:
                return
            unread[self] = self.loop.call_later(seconds, self._hang_up)
            if len(unread) > most:
                next(iter(unread))._hang_up()

        def _stop_waiting(self) -> None:
            timer = unread.pop(self, None)
            if timer is not None:
                timer.cancel()

        def _hang_up(self) -> None:
            self._stop_waiting()
            if self.cycle is None:
                self.transport.write(_LATE)
                self.transport.close()
            else:
                self.transport.abort()

        # ---- the other way

        def pause_writing(self) -> None:
            super().pause_writing()
            self._clogged = self.loop.call_later(seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._clogged is not None:
                self._clogged.cancel()
                self._clogged = None

        def timeout_keep_alive_handler(self) -> None:
            self.transport.abort()  # closing politely would wait for what the client never reads

    return _Punctual
