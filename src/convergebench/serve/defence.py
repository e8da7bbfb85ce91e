"""Around every request: limits, the address, the headers of every reply, and no traceback to the outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from convergebench.serve.guard import Guard, Refusal
from convergebench.serve.limits import RequestLimits


class Defence:
    """ASGI middleware, the outermost of ours."""

    def __init__(
        self,
        app: ASGIApp,
        guard: Guard,
        limits: RequestLimits,
        tell: Callable[[str], None],
        headers: Mapping[str, str],
    ) -> None:
        self._app, self._guard, self._limits, self._tell, self._headers = app, guard, limits, tell, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] != "http":
            return
        begun = False

        async def protected(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)  # of the reply, despite its name
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope)
        try:
            if not self._limits.by_address.take(request.client.host if request.client else ""):
                raise Refusal(429, "Too many requests; wait a moment.")
            self._guard.require_own_address(request)
            await self._app(scope, receive, protected)
        except Refusal as refusal:
            await JSONResponse({"error": refusal.words}, refusal.status)(scope, receive, protected)
        except Exception as error:
            self._tell(f"{request.method} failed: {type(error).__name__}")
            if not begun:
                await JSONResponse({"error": "This did not work; try again."}, 500)(scope, receive, protected)
