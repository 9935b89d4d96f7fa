"""First person, resolved to the speaker's name where grammar allows; else a sentence stays as it was said."""

from __future__ import annotations

import re

from shared.extraction.rules.verbs import ADVERBS, COORDINATED, MODALS, third_person
from shared.extraction.script import is_chinese, words

_NO_NAME = frozenset(
    words(
        "user assistant system human ai bot me i you we agent client customer anonymous unknown test guest admin "
        "none null default speaker demo-user tool model nobody 用户 助手 系统 我 你 机器人 未知 匿名 客户 客服"
    )
)
_NAME = re.compile(r"(?:[^\W\d_a-z][^\W\d_]*\.?)(?:[ '\u2019\u00b7-][^\W\d_]+\.?){0,3}$")
_LONGEST_NAME = 40
_UNSAFE = re.compile(
    r"\b(?:myself|mine|I/O|am I|do I|did I|have I|can I|will I|was I|should I|nor I|I['\u2019]d)\b|\b(?:[A-Z]\w+"
    r"|\d) I\b|[\"\u201c\u201d]"
)
_ME = re.compile(r"\b(?:(my)|(me))\b", re.IGNORECASE)
_I = re.compile(r"\bI\b(?:['\u2019](m|ve|ll)\b)?(\s+)?", re.ASCII)
_VERB_PHRASE = re.compile(
    rf"(?P<adverbs>(?:(?:{'|'.join(ADVERBS)}|[a-z]{{2,20}}ly)\s+){{0,4}})(?P<verb>[A-Za-z]+(?:['\u2019][a-z]+)?)"
)
_BESIDE = re.compile(r"(?:^|[,.;]\s)(?:\w+\s){0,1}(?:my|our|his|her|the|[A-Z]\w+)(?: \w+){0,2} and\s$", re.IGNORECASE)
_CONTRACTED = {"m": "is", "ve": "has", "ll": "will"}
_WE_ZH = re.compile("(?<![自忘你大小无])我(?!们|国|方|校|司|行我素)")
_SPACED = re.compile(r"[^\W\u2e80-\u9fff]")
_AND_VERB = re.compile(
    r"\b(and|but|or)\s+((?:(?:also|still|often|usually|always|really|never)\s+)?)([a-z]+)(?=\s+(?:at|in|for|with|on"
    r"|as|to|the|a|an|my|our|every|from|about)\b)"
)
_INFINITIVE = re.compile(r"\b(?:to|can|could|will|would|should|must|may|might|shall|cannot|n't|not|[a-z]+ing)\b")
_PAST_WORDS = re.compile(
    r"\b(?:yesterday|last|ago|was|were|had|did|once|recently|earlier|in (?:19|20)\d\d)\b|\b\w{2,}ed\b"
)


def name_of(speaker: str | None) -> str | None:
    """Return the speaker's name, unless it is a role, an address or an opaque id."""
    bare = " ".join((speaker or "")[: _LONGEST_NAME + 1].split())
    if not bare or len(bare) > _LONGEST_NAME or not _NAME.match(bare):
        return None
    return None if any(part.lower() in _NO_NAME for part in [bare, *bare.split()]) else bare


def named(sentence: str, name: str | None) -> str:
    """Return the sentence with its first person replaced by the name, its verbs agreeing; or as it was said."""
    if name is None or name.lower() in sentence.lower():
        return sentence
    if is_chinese(sentence):
        return sentence if re.search(r"[\"“”「」『』]", sentence) else _named_zh(sentence, name)
    if _UNSAFE.search(sentence):
        return sentence
    resolved = _subjects(sentence, name)
    return sentence if resolved is None else _ME.sub(lambda m: f"{name}'s" if m[1] else name, resolved)


def _named_zh(sentence: str, name: str) -> str:
    """Put the name for 我, parted from a word in Latin letters beside it."""

    def put(match: re.Match[str]) -> str:
        before, after = sentence[: match.start()][-1:], sentence[match.end() :][:1]
        left = " " if _SPACED.match(before) and _SPACED.match(name[0]) else ""
        return left + name + (" " if _SPACED.match(after) and _SPACED.match(name[-1]) else "")

    return _WE_ZH.sub(put, sentence)


def _subjects(sentence: str, name: str) -> str | None:
    """Put the name where "I" is a verb's subject; None where one is not understood."""
    done: list[str] = []
    at = 0
    for match in _I.finditer(sentence):
        clause = _agreed(sentence, match)
        if clause is None:
            return None
        verb, end = clause
        done += [sentence[at : match.start()], name, " ", verb] if verb else [sentence[at : match.start()], name]
        at = end
    return "".join([*done, sentence[at:]])


def _agreed(sentence: str, subject: re.Match[str]) -> tuple[str, int] | None:
    """Return the adverbs and the verb after "I" as they follow a name, and where they end; None: not understood."""
    if subject[1]:
        return _CONTRACTED[subject[1]] + (subject[2] or ""), subject.end()
    if not subject[2]:
        return None
    if _BESIDE.search(sentence[max(0, subject.start() - 60) : subject.start()]):  # "my wife and I moved": plural stays
        return None if sentence.startswith("am", subject.end()) else ("", subject.end() - len(subject[2]))
    verb = _VERB_PHRASE.match(sentence, subject.end())
    return None if verb is None else _agreed_verb(sentence, verb)


def _agreed_verb(sentence: str, phrase: re.Match[str]) -> tuple[str, int] | None:
    word = phrase["verb"]
    past = bool(_PAST_WORDS.search(sentence[phrase.end() : phrase.end() + 120]))
    verb = third_person(word, past=past, habit=_is_habit(sentence))
    if verb is None:
        return None
    if verb == word or word.lower() in MODALS:
        return phrase["adverbs"] + verb, phrase.end()
    tail, end = _coordinated(sentence, phrase.end())
    return phrase["adverbs"] + verb + tail, end


def _is_habit(sentence: str) -> bool:
    return bool(re.search(r"\b(?:usually|often|always|every|sometimes|never|each|daily|weekly)\b", sentence))


def _coordinated(sentence: str, at: int) -> tuple[str, int]:
    """Let the verbs that "and" joins to one agree too ("I live here and work there")."""
    until = re.search(r"[,;.:]|\b(?:I|who|which|that|because|when|if)\b", sentence[at : at + 200])
    end = at + until.start() if until else min(len(sentence), at + 200)
    clause = sentence[at:end]
    if _INFINITIVE.search(clause):
        return clause, end
    return _AND_VERB.sub(lambda m: f"{m[1]} {m[2]}{COORDINATED.get(m[3], m[3])}", clause), end
