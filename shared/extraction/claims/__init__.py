"""What sentences claim: which attribute of whom has which value, so that a change can be told from another fact."""

from shared.extraction.claims.claim import Claim
from shared.extraction.claims.reading import claims_of

__all__ = ["Claim", "claims_of"]
