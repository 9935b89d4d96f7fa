# metadata.source: currently required for code scenarios and must be memorax-code; this requirement will be removed soon.
# content_type: use auto for mixed scenarios and work for office productivity scenarios.
curl --request POST "$MEMORAX_BASE_URL/v1/memories/add" \
--header "Authorization: Token $MEMORAX_API_KEY" \
--header 'Content-Type: application/json' \
--data '{
"user_id": "quickstart-user",
"async_mode": true,
"content_type": "code",
"mode": "default",
"session_id": "cedar-coding-session",
"metadata": {
"source": "memorax-code"
},
"messages": [
{
"role": "user",
"content": "The Cedar callback module permits at most 3 delivery attempts. Retries reuse the same event_id, with a unique constraint preventing duplicate effects.",
"timestamp": -1
}
]
}'
