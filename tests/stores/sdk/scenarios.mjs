// What users do with `@anthropic-ai/sdk`. Run in a folder where the package is installed:
//
//     node scenarios.mjs BASE_URL KEYS_JSON
//
// prints one JSON line a scenario: its name, and null or what went wrong.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import Anthropic, {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from "@anthropic-ai/sdk";

const [baseURL, keysJson] = process.argv.slice(2);
const KEYS = JSON.parse(keysJson);
const UNKNOWN = "memstore_01M3250V06YW639FSPCZQ3TJW5";
const CONTENTS = ["", "\r\n", "e\u0301", "\ufeffBOM", "a\u2028b", "nul \u0000", "😀", "x".repeat(102_400)];

function caller(apiKey = KEYS.admin, url = baseURL, options = {}) {
  const sent = [];
  const noted = async (input, init) => {
    sent.push(new Request(input, { ...init, body: undefined }));
    return fetch(input, init);
  };
  const client = new Anthropic({ apiKey, baseURL: url, fetch: noted, ...options });
  const stores = client.beta.memoryStores;
  return { client, sent, stores, memories: stores.memories, versions: stores.memoryVersions };
}

const sha = (text) => createHash("sha256").update(text, "utf8").digest("hex");

async function every(pages) {
  const found = [];
  for await (const item of pages) found.push(item);
  return found;
}

async function refused(kind, call) {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof kind, `${error}`);
    return error;
  }
  assert.fail(`no ${kind.name}`);
}

async function everyMethod({ stores, memories, versions }) {
  const store = await stores.create({ name: "Notes", description: "Of the team", metadata: { a: "1" } });
  assert.deepEqual([store.type, store.archived_at, store.metadata], ["memory_store", null, { a: "1" }]);
  assert.deepEqual(await stores.retrieve(store.id), store);
  const changed = await stores.update(store.id, { name: "Other", metadata: { a: null, b: "2" } });
  assert.deepEqual([changed.name, changed.metadata], ["Other", { b: "2" }]);
  assert.ok((await every(stores.list())).some((s) => s.id === store.id));

  const where = { memory_store_id: store.id };
  const memory = await memories.create(store.id, { path: "/a/b.md", content: "one" });
  assert.deepEqual([memory.path, memory.content, memory.content_sha256], ["/a/b.md", null, sha("one")]);
  assert.equal((await memories.retrieve(memory.id, where)).content, "one");
  const updated = await memories.update(memory.id, { ...where, content: "two", path: "/c.md", view: "full" });
  assert.deepEqual([updated.id, updated.path, updated.content], [memory.id, "/c.md", "two"]);
  assert.deepEqual((await every(memories.list(store.id))).map((m) => m.id), [memory.id]);

  const listed = await every(versions.list(store.id, { memory_id: memory.id }));
  assert.deepEqual(listed.map((v) => v.operation), ["modified", "created"]);
  assert.equal((await versions.retrieve(listed[1].id, where)).content, "one");
  const gone = await versions.redact(listed[1].id, where);
  assert.deepEqual([gone.path, gone.content, gone.redacted_by.type], [null, null, "api_actor"]);

  const deleted = await memories.delete(memory.id, { ...where, expected_content_sha256: sha("two") });
  assert.deepEqual(deleted, { id: memory.id, type: "memory_deleted" });
  assert.ok((await stores.archive(store.id)).archived_at);
  assert.deepEqual(await stores.delete(store.id), { id: store.id, type: "memory_store_deleted" });
}

async function pagination({ stores, memories, versions }) {
  const store = (await stores.create({ name: "paged" })).id;
  for (let n = 0; n < 13; n++) await memories.create(store, { path: `/d${n % 3}/${10 + n}`, content: "text" });
  assert.equal((await every(memories.list(store, { limit: 5 }))).length, 13);
  const page = await memories.list(store, { limit: 10 });
  assert.ok(page.hasNextPage() && page.next_page.startsWith("page_"));
  assert.equal((await page.getNextPage()).data.length, 3);
  const rolled = await every(memories.list(store, { depth: 1, limit: 2 }));
  assert.deepEqual(rolled.map((e) => [e.type, e.path]), [0, 1, 2].map((n) => ["memory_prefix", `/d${n}/`]));
  const below = await every(memories.list(store, { path_prefix: "/d1/", view: "full", limit: 3 }));
  assert.deepEqual(below.map((e) => e.content), ["text", "text", "text", "text"]);
  assert.equal((await every(versions.list(store, { limit: 4 }))).length, 13);
  const since = { "created_at[gte]": new Date(Date.now() - 60_000).toISOString(), limit: 1 };
  assert.ok((await every(stores.list(since))).some((s) => s.id === store));
}

async function contents({ stores, memories }) {
  const store = (await stores.create({ name: "contents" })).id;
  for (const [n, content] of CONTENTS.entries()) {
    const memory = await memories.create(store, { path: `/${n} +%25?#é`, content, view: "full" });
    assert.deepEqual([memory.content, memory.content_sha256], [content, sha(content)]);
    assert.equal((await memories.retrieve(memory.id, { memory_store_id: store })).content, content);
  }
  await refused(BadRequestError, () => memories.create(store, { path: "/half", content: "\ud800" }));
}

async function conflicts({ stores, memories, sent }) {
  const store = (await stores.create({ name: "conflicts" })).id;
  const memory = await memories.create(store, { path: "/a/b", content: "one" });
  const where = { memory_store_id: store };
  for (const path of ["/a/b", "/a", "/a/b/c"]) {
    sent.length = 0;
    const error = await refused(ConflictError, () => memories.create(store, { path, content: "" }));
    assert.equal(sent.length, 1, "a conflict that trying again can't solve was tried again");
    const told = error.error.error;
    assert.deepEqual(
      [told.type, told.conflicting_path, told.conflicting_memory_id],
      ["memory_path_conflict_error", "/a/b", memory.id],
    );
    assert.equal(error.requestID, error.error.request_id);
  }
  const precondition = { type: "content_sha256", content_sha256: "0".repeat(64) };
  for (const call of [
    () => memories.update(memory.id, { ...where, content: "x", precondition }),
    () => memories.delete(memory.id, { ...where, expected_content_sha256: "0".repeat(64) }),
  ]) {
    sent.length = 0;
    const error = await refused(ConflictError, call);
    assert.deepEqual([sent.length, error.error.error.type], [1, "memory_precondition_failed_error"]);
  }
  const again = await memories.update(memory.id, { ...where, content: "one", precondition });
  assert.equal(again.memory_version_id, memory.memory_version_id);
}

async function errors({ stores, memories, versions, client }) {
  const store = (await stores.create({ name: "errors" })).id;
  const memory = await memories.create(store, { path: "/a", content: "" });
  const [stranger, reader] = [caller("lsk_wrong"), caller(KEYS.reader)];
  const cases = [
    [BadRequestError, 400, "invalid_request_error", () => memories.create(store, { path: "a", content: "" })],
    [BadRequestError, 400, "invalid_request_error", () => memories.list(store, { path_prefix: "/no" })],
    [
      BadRequestError, 400, "invalid_request_error",
      () => versions.redact(memory.memory_version_id, { memory_store_id: store }),
    ],
    [
      BadRequestError, 400, "invalid_request_error",
      () => memories.list(store, { betas: ["managed-agents-2026-04-01"] }),
    ],
    [AuthenticationError, 401, "authentication_error", () => stranger.stores.list()],
    [PermissionDeniedError, 403, "permission_error", () => reader.stores.create({ name: "n" })],
    [NotFoundError, 404, "not_found_error", () => stores.retrieve(UNKNOWN)],
    [
      Anthropic.APIError, 413, "request_too_large",
      () => memories.create(store, { path: "/b", content: "x".repeat(1_100_000) }),
    ],
  ];
  for (const [kind, status, type, call] of cases) {
    const error = await refused(kind, call);
    assert.deepEqual([error.status, error.error.error.type], [status, type]);
    assert.equal(error.requestID, error.error.request_id);
  }
  await assert.rejects(async () => {
    const limited = caller(KEYS.limited, baseURL, { maxRetries: 0 });
    for (let n = 0; n < 3; n++) await limited.stores.list();
  }, RateLimitError);
  assert.ok(client);
}

async function whatTheWireCarries({ stores, sent }) {
  const store = await stores.create({ name: "wire" });
  await stores.archive(store.id);
  const [created, archived] = sent;
  assert.ok(created.headers.get("authorization").startsWith("Bearer "));
  assert.equal(created.headers.get("anthropic-beta"), "agent-memory-2026-07-22");
  assert.equal(archived.headers.get("content-type"), null);
  const { response } = await stores.retrieve(store.id).withResponse();
  assert.ok(response.headers.get("request-id").startsWith("req_"));
}

async function whatIsDown() {
  const down = caller(KEYS.faulty, KEYS.faulty_url);
  const error = await refused(InternalServerError, () =>
    down.memories.create(KEYS.faulty_store, { path: "/a", content: "" }),
  );
  assert.deepEqual([error.status, error.error.error.type, down.sent.length], [503, "api_error", 3]);
}

const SCENARIOS = [everyMethod, pagination, contents, conflicts, errors, whatTheWireCarries, whatIsDown];

for (const scenario of SCENARIOS) {
  let wrong = null;
  try {
    await scenario(caller());
  } catch (error) {
    wrong = error.stack ?? `${error}`;
  }
  console.log(JSON.stringify({ name: scenario.name, wrong }));
}
