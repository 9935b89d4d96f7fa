"""The attributes that have one value at a time, and the words of what people are by trade or state."""

from __future__ import annotations

from shared.extraction.claims.wording import stem
from shared.extraction.script import words

HEADS = frozenset(
    stem(word)
    for word in words(
        "name number email mail address birthday age job title role position boss manager employer company "
        "favourite preferred deadline date salary budget weight height password pin goal target limit "
        "language timezone zone size colour plan phone diet major school university status time schedule "
        "price rate version port host url branch database framework editor ide stack os timeout maximum "
        "minimum threshold quota username handle nickname hometown nationality occupation profession pronouns "
        "allergy rent bedtime dentist doctor landlord bank car laptop bike policy quantity capacity interval "
        "ttl region"
    )
)
"""What somebody has one of: "my phone number is ..." replaces the number before."""

STATUSES = dict.fromkeys(("single", "married", "engaged", "divorced", "widowed"), "marital status")
STATUSES |= dict.fromkeys(("vegetarian", "vegan", "pescatarian", "omnivore"), "diet")
STATUSES |= dict.fromkeys(("employed", "unemployed", "retired"), "employment")

_OCCUPATIONS = frozenset(
    words(
        "engineer developer programmer designer teacher professor lecturer doctor nurse surgeon dentist "
        "pharmacist lawyer attorney judge writer author journalist editor artist painter musician singer "
        "actor actress dancer manager director president ceo cto cfo founder scientist researcher physicist "
        "chemist biologist economist analyst consultant accountant auditor banker trader architect builder "
        "carpenter electrician plumber mechanic driver pilot chef cook baker waiter waitress barista "
        "bartender farmer gardener photographer translator interpreter librarian secretary assistant clerk "
        "cashier salesman saleswoman salesperson marketer recruiter student intern apprentice postdoc "
        "firefighter paramedic soldier officer therapist psychologist psychiatrist counselor coach trainer "
        "tutor veterinarian vet contractor freelancer admin administrator lead principal technician operator "
        "supervisor receptionist tailor hairdresser policeman detective"
    )
)
_LEVELS = frozenset(words("senior junior staff lead chief head vice assistant associate principal freelance"))


def is_occupation(said: str) -> bool:
    """Tell whether words in lower case name a trade or post."""
    named = said.split()
    return 0 < len(named) <= 6 and (named[-1] in _OCCUPATIONS or (named[0] in _LEVELS and len(named) > 1))
