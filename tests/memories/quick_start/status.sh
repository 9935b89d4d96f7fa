curl --request GET "$MEMORAX_BASE_URL/v1/memories/add/status/TASK_ID" \
--header "Authorization: Token $MEMORAX_API_KEY"
