"""The route of search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from functions.memories.add_routes import ROOT, admitted
from functions.memories.answers import success
from functions.memories.limits import Limits
from functions.memories.search_body import search_wish
from shared.http.routing import new_router, request_of
from shared.memories.searching import Searching

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.wiring.memories import Memories

BODY_BYTES: Final = 1 << 20


def search_routes(composed: Memories) -> Router:
    """Return the route of search; index and embedder are asked for when it is used."""
    router = new_router()
    answer_bytes = Limits.of(composed.environ).answer_bytes

    @router.post(f"{ROOT}/search")
    def search_memories() -> Response[Any]:
        request = request_of(router)
        caller = admitted(request)
        wish = search_wish(request.json_within(BODY_BYTES), caller.scope)
        searching = Searching(composed.backing, composed.index, composed.embedder, composed.quotas, answer_bytes)
        return success(request, searching.search(wish, caller.key))

    return router
