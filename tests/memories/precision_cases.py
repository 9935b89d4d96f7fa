"""Which of PrecisionMemBench's 77 questions are not put to the memories API, and which are answered otherwise."""

from __future__ import annotations

_NO_QUESTION = "it has no question: what is there whatever is asked is a list's, and a search of nothing is refused"
_PERSONA = "it asks for a persona that is written from beliefs and put before every conversation; there is none"
_BUDGET = "it asks for a budget that what is pinned and what is found share; top_k is of what is found alone"

NOT_PUT = {
    "edge-empty-query": _NO_QUESTION,
    "edge-whitespace-query": _NO_QUESTION,
    "narrator-voice-pinned-in-own-scope": _NO_QUESTION,
    "recency-tiebreak-reinforcement": "it asks what is pinned by when it was last confirmed; memories count no repeats",
    "persona-prelude-content-present": _PERSONA,
    "universal-scope-belief-content-in-persona-prelude": _PERSONA,
    "multi-scope-prelude-uses-primary-scope-only": _PERSONA,
    "universal-scope-explicit-query-no-relevant": _PERSONA,
    "budget-ceiling-evicts-relevant-beliefs": _BUDGET,
    "budget-zero-graceful-empty": _BUDGET,
    "budget-one-pinned-wins-over-relevant": _BUDGET,
}
"""Cases of which nothing can be said with this API, and why."""

RANKED_OTHERWISE = {
    "conflict-scope-disambiguation-redis-writing": "second, by a hair: chapter 7 is as near to 'chapter three'",
    "multi-scope-redis-both-surfaces": "second and third: that the auth service depends on Redis names it more often",
    "cap-stress-compound-six-entities": "the sixth is seventh: another entry about messages and MongoDB is before it",
    "cap-stress-late-position-entity-at-risk": "the sixth is ninth: of a long question its one word weighs little",
    "relation-type-expands-participants": "the second shares no word with the question; relations are not followed",
}
"""Cases whose beliefs are not all first, and what is: ranking, nothing else."""

_NEAR = "the nearest are shown: no score divides what answers from what does not"
_WORDS = "a word of the question is in them: words have no floor, as meaning has"

ANSWERED_ANYWAY = {
    "happy-stack-repository-layer": _NEAR,
    "type-isolation-open-question-not-in-relevant": _NEAR,
    "why-it-matters-not-indexed-blind-spot": _NEAR,
    "pinned-plus-resolved-excluded-from-questions": _NEAR,
    "happy-writing-scope": _WORDS,
    "canonical-name-match-mara": _WORDS,
    "questions-pinned-active-only": _WORDS,
    "filter-resolved-at-excluded": _WORDS,
    "user-edited-cross-scope-surfaces": _WORDS,
    "user-edited-absent-without-flag": _WORDS,
    "multi-hop-supersession-chain-all-excluded": "TSLint is found by its parts, TS and lint, too",
    "superseded-chain-query-terminal-only": "TSLint is found by its parts, TS and lint, too",
    "multi-scope-code-writing-dedup-no-double-surface": _WORDS,
    "fuzzy-abbreviation-prefix-blind-spot": "k9s is near to k8s: its parts are the same but for the digit",
}
"""Cases that want nothing found, where something is: what else they ask is tested apart."""
