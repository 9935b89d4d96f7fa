const base = process.env.MEMORAX_BASE_URL.replace(/\/$/, "");
const headers = { Authorization: `Token ${process.env.MEMORAX_API_KEY}` };
const taskId = "TASK_ID"; // Replace with data.task_id returned by Add
const response = await fetch(`${base}/v1/memories/add/status/${encodeURIComponent(taskId)}`, {
headers,
signal: AbortSignal.timeout(30000),
});
if (!response.ok) throw new Error(`HTTP ${response.status}`);
console.log(await response.json());
