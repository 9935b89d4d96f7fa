"""How English verbs after "I" agree with a name."""

from __future__ import annotations

from shared.extraction.script import words

MODALS = frozenset(
    words(
        "can could will would should must may might shall cannot can't couldn't won't wouldn't shouldn't mustn't used"
    )
)
ADVERBS = frozenset(
    words(
        "always never often also still just already now then only even sometimes both currently soon once again "
        "ever almost quite rather not"
    )
)
_ONLY_PAST = frozenset(
    words(
        "was were had did went saw made took came got gave found told felt left kept met bought brought thought "
        "taught caught sold said sent spent built lost won ran began drank ate drove wrote rode flew grew knew "
        "threw drew wore tore spoke broke chose forgot woke stole froze became stood understood sat slept swept "
        "dealt dreamt learnt heard held paid laid led fed shot lit hid bit fell sang rang swam sank hung dug stuck "
        "struck spun swung slid shook lent bent meant leant blew rose withdrew overcame undertook burnt spilt"
    )
)
_SAME_FORMS = frozenset(words("read put set cut hit let quit cost hurt shut split spread bet beat upset reset"))
_BASE_IN_ED = frozenset(words("need feed proceed succeed exceed embed shed wed bleed breed speed heed seed weed"))
_IRREGULAR = {
    "am": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "don't": "doesn't",
    "don\u2019t": "doesn\u2019t",
    "haven't": "hasn't",
    "haven\u2019t": "hasn\u2019t",
    "undergo": "undergoes",
    "wasn't": "wasn't",
    "didn't": "didn't",
    "hadn't": "hadn't",
}
_NO_VERB = frozenset(
    words(
        "and or but in on at of to for with from by as the a an my me you he she it we they is are who that this "
        "which if when"
    )
)
_COMMON = words(
    "work love like play enjoy want need study live teach run write read use prefer hate think plan hope speak "
    "cook paint sing dance travel swim drive ride sell own eat drink wear know believe try help take make "
    "collect practice practise feel get volunteer manage lead design train watch listen"
)


def third_person(verb: str, *, past: bool, habit: bool) -> str | None:
    """Return the verb as it follows a name, or None where it may be no verb; `past`: the clause speaks of the past."""
    word = verb.lower()
    if word in _NO_VERB:
        return None
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in MODALS or word in _ONLY_PAST or (word.endswith("ed") and word not in _BASE_IN_ED):
        return verb
    if word in _SAME_FORMS and (past or not habit):
        return verb
    if "'" in word or "\u2019" in word or verb != word or (word.endswith("s") and not word.endswith("ss")):
        return None
    return _with_s(word)


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in ("a", "e", "i", "o", "u", ""):
        return f"{word[:-1]}ies"
    return f"{word}s"


COORDINATED = {verb: _with_s(verb) for verb in _COMMON} | {"am": "is", "have": "has", "go": "goes", "do": "does"}
"""Verbs that, joined by "and" to one that agrees, agree too."""
