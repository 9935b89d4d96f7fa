"""Routes of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.stores.asking import ROOT, STORE, Asked
from shared.http.answers import json_answer
from shared.http.routing import new_router, request_of
from shared.http.validation import flag_in
from shared.stores.models import NewStore, StoreChange, check_nothing
from shared.stores.stores import StoreList

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.stores.stores import Stores


def store_routes(stores: Stores) -> Router:
    """Return the routes of stores."""
    router = new_router()

    @router.post(ROOT)
    def create_store() -> Response[Any]:
        asked = Asked.of(request_of(router))
        return json_answer(stores.create(asked.caller.scope, NewStore.of(asked.body())))

    @router.get(ROOT)
    def list_stores() -> Response[Any]:
        asked = Asked.of(request_of(router))
        archived = flag_in(asked.request.query, "include_archived")
        wanted = StoreList(asked.limit(), asked.text("page"), asked.moments(), archived)
        return json_answer(stores.page(asked.caller.scope, wanted).view())

    @router.get(STORE)
    def retrieve_store(memory_store_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        return json_answer(stores.retrieve(asked.store(memory_store_id)))

    @router.post(STORE)
    def update_store(memory_store_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        change = StoreChange.of(asked.body())
        return json_answer(stores.update(asked.store(memory_store_id), change))

    @router.post(f"{STORE}/archive")
    def archive_store(memory_store_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        check_nothing(asked.body())
        return json_answer(stores.archive(asked.store(memory_store_id)))

    @router.delete(STORE)
    def delete_store(memory_store_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        address = asked.store(memory_store_id)
        stores.delete(address)
        return json_answer({"id": address.store_id, "type": "memory_store_deleted"})

    return router
