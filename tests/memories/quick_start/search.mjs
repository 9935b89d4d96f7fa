const base = process.env.MEMORAX_BASE_URL.replace(/\/$/, "");
const headers = { Authorization: `Token ${process.env.MEMORAX_API_KEY}` };
const payload = {
"user_id": "quickstart-user",
"query": "What retry and idempotency requirements apply to the Cedar callback module?",
"mode": "fast",
"output_mode": "summary",
"top_k": 5
};
const response = await fetch(`${base}/v1/memories/search`, {
method: "POST",
headers: { ...headers, "Content-Type": "application/json" },
body: JSON.stringify(payload),
signal: AbortSignal.timeout(120000),
});
if (!response.ok) throw new Error(`HTTP ${response.status}`);
console.log(await response.json());
