curl --request POST "$MEMORAX_BASE_URL/v1/memories/search" \
--header "Authorization: Token $MEMORAX_API_KEY" \
--header 'Content-Type: application/json' \
--data '{
"user_id": "quickstart-user",
"query": "What retry and idempotency requirements apply to the Cedar callback module?",
"mode": "fast",
"output_mode": "summary",
"top_k": 5
}'
