"""Routes of single memories and of lists: read, change, tell the history, forget (contract, "Beyond the document")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from functions.memories.add_routes import ROOT, admitted
from functions.memories.answers import success
from functions.memories.change_body import change_wish
from functions.memories.limits import Limits
from shared.http.answers import empty_answer
from shared.http.routing import new_router, request_of
from shared.http.validation import integer_in
from shared.kernel.errors import InvalidInput
from shared.kernel.preconditions import Preconditions
from shared.kernel.strict_json import parse
from shared.memories.changing import Changing
from shared.memories.erasing import Erasing
from shared.memories.filters import FIELDS, condition_of
from shared.memories.forgetting import Forgetting
from shared.memories.history import Histories, HistoryWish
from shared.memories.listing import Listing, ListWish
from shared.memories.models import KINDS
from shared.memories.reading import Reading
from shared.memories.records import UserAddress

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.http.request import Request
    from shared.wiring.memories import Memories

MEMORY: Final = f"{ROOT}/<memory_id>"
BODY_BYTES: Final = 1 << 20
USER_CHARACTERS: Final = 255


def memory_routes(composed: Memories) -> Router:
    """Return the routes; index and embedder are asked for only by those that need them."""
    router = new_router()
    _add_reads(router, composed)
    _add_writes(router, composed)
    return router


def _add_reads(router: Router, composed: Memories) -> None:
    @router.get(ROOT)
    def list_user_memories() -> Response[Any]:
        request = request_of(router)
        return success(request, Listing(composed.backing).page(_list_wish(request)))

    @router.get(f"{ROOT}/erasures/<task_id>")
    def get_erasure(task_id: str) -> Response[Any]:
        request = request_of(router)
        return success(request, Erasing(composed.backing).receipt(admitted(request).scope, task_id.lower()))

    @router.get(MEMORY)
    def get_memory(memory_id: str) -> Response[Any]:
        request = request_of(router)
        conditions = Preconditions.of(request.headers)
        shown = Reading(composed.backing).retrieve(admitted(request).scope, memory_id.lower(), conditions)
        if shown.view is None:
            return empty_answer(304, ETag=shown.etag)
        return success(request, shown.view, ETag=shown.etag)

    @router.get(f"{MEMORY}/history")
    def get_memory_history(memory_id: str) -> Response[Any]:
        request = request_of(router)
        wish = HistoryWish(memory_id.lower(), limit_in(request), request.query.get("cursor"))
        return success(request, Histories(composed.backing).page(admitted(request).scope, wish))


def _add_writes(router: Router, composed: Memories) -> None:
    limits = Limits.of(composed.environ)

    @router.patch(MEMORY)
    def change_memory(memory_id: str) -> Response[Any]:
        request = request_of(router)
        wish = change_wish(request.json_within(BODY_BYTES), limits)
        changing = Changing(composed.backing, composed.index, composed.embedder)
        conditions = Preconditions.of(request.headers)
        shown = changing.change(admitted(request).scope, memory_id.lower(), wish, conditions=conditions)
        return success(request, shown.view, ETag=shown.etag)

    @router.delete(MEMORY)
    def forget_memory(memory_id: str) -> Response[Any]:
        request = request_of(router)
        source = _with_source(request)
        forgetting = Forgetting(composed.backing, composed.index)
        scope, correlation_id = admitted(request).scope, request.correlation_id
        gone = forgetting.forget(scope, memory_id.lower(), source=source, correlation_id=correlation_id)
        receipts = {"erasures": gone.erasures} if gone.erasures else {}
        return success(request, {"id": memory_id.lower(), "deleted": list(gone.ids), **receipts})

    @router.delete(ROOT)
    def forget_user() -> Response[Any]:
        request = request_of(router)
        for name in request.query:
            if name != "user_id":
                message = "All of a user is deleted, which nothing narrows; delete single memories by their ids"
                raise InvalidInput.at("query", name, message=message)
        told = Erasing(composed.backing).erase(user_in(request), request.correlation_id)
        return success(request, told, 202)


def _list_wish(request: Request) -> ListWish:
    address, kind, limit = user_in(request), request.query.get("kind"), limit_in(request)
    if kind is not None and kind not in KINDS:
        raise InvalidInput.at("query", "kind", message=f"One of {', '.join(KINDS)}", value=kind[:200])
    for name in FIELDS:
        if name in request.query:
            raise InvalidInput.at("query", name, message="Give it in filters, as JSON")
    filters = _filters(request)
    where = condition_of(filters, "query", "filters")
    return ListWish(address, limit, kind, where=where, filters=filters, cursor=request.query.get("cursor"))


def _filters(request: Request) -> Any:
    text = request.query.get("filters")
    if text is None:
        return None
    try:
        return parse(text.encode("utf-8", "surrogatepass"))
    except InvalidInput:
        message = "Input should be JSON, percent-encoded"
        raise InvalidInput.at("query", "filters", message=message, value=text[:200]) from None


def user_in(request: Request) -> UserAddress:
    """Return the user that a request's query names.

    Raises:
        InvalidInput: it names none, or has more than 255 characters, or a NUL.
    """
    user_id = request.query.get("user_id", "").strip()
    rule = None if 0 < len(user_id) <= USER_CHARACTERS else f"1 to {USER_CHARACTERS} characters after trimming"
    if "\x00" in user_id:
        rule = "no NUL characters"
    if rule:
        raise InvalidInput.at("query", "user_id", message=f"String should have {rule}", value=user_id[:200])
    return UserAddress(admitted(request).scope, user_id)


def limit_in(request: Request) -> int:
    """Return how many things a page is to have.

    Raises:
        InvalidInput: not a number from 1 to 100.
    """
    return integer_in(request.query, "limit", within=(1, 100), default=50)


def _with_source(request: Request) -> bool:
    scope = request.query.get("scope")
    if scope not in (None, "memory", "source"):
        raise InvalidInput.at("query", "scope", message="memory or source", value=scope[:200])
    return scope == "source"
