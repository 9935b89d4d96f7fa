const base = process.env.MEMORAX_BASE_URL.replace(/\/$/, "");
const headers = { Authorization: `Token ${process.env.MEMORAX_API_KEY}` };
const payload = {
"user_id": "quickstart-user",
"async_mode": true,
"content_type": "code", // content_type: use auto for mixed scenarios and work for office productivity scenarios.
"mode": "default",
"session_id": "cedar-coding-session",
"metadata": {
"source": "memorax-code" // metadata.source: currently required for code scenarios and must be memorax-code; this requirement will be removed soon.
},
"messages": [
{
"role": "user",
"content": "The Cedar callback module permits at most 3 delivery attempts. Retries reuse the same event_id, with a unique constraint preventing duplicate effects.",
"timestamp": -1
}
]
};
const response = await fetch(`${base}/v1/memories/add`, {
method: "POST",
headers: { ...headers, "Content-Type": "application/json" },
body: JSON.stringify(payload),
signal: AbortSignal.timeout(120000),
});
if (!response.ok) throw new Error(`HTTP ${response.status}`);
console.log(await response.json());
