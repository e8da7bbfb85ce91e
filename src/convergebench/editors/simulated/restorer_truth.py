"""What `sim-restorer` does to the quality of its answers, as numbers: a study of it has to find these again.

With `strength = 0` nothing is restored, so that the answer differs from the input by invented detail alone. Its PSNR to
the input is then exactly that of `psnr`, plus a draw per wording and a draw per call; both are normal, with the given
deviations. With `strength` above 0 the same holds for the distance to what the restoration alone would have given, and
the effects on the distance to a clean picture are smaller: what the restoration could not repair is the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass

CAREFUL = 0.3
"""How often something is invented under a request for fidelity, as a share of how often without one."""


@dataclass(frozen=True, slots=True)
class RestorerTruth:
    """The planted effects, in dB of PSNR unless they say otherwise."""

    level: float = 34.0
    """PSNR under short prompts without a request for fidelity."""
    length_effect: float = -0.5
    """What a long prompt adds."""
    fidelity_effect: float = 1.5
    """What a request for fidelity adds."""
    interaction: float = 0.5
    """What both together add beyond the sum."""
    wording: float = 0.2
    """Standard deviation between wordings: a draw per prompt, the same in every call."""
    wobble: float = 0.6
    """Standard deviation between repeats: a draw per seed."""
    invents: float = 0.1
    """Share of calls that paint in a thing of its own."""
    strength: float = 1.0
    """Share of the restoring that is done; 0 leaves the planted effects alone."""

    def psnr(self, *, long: bool, fidelity: bool) -> float:
        """Expected PSNR of answers in which nothing was painted in."""
        both = self.interaction if long and fidelity else 0.0
        return self.level + self.length_effect * long + self.fidelity_effect * fidelity + both

    def inventing(self, *, fidelity: bool) -> float:
        """Share of calls in which something is painted in."""
        return self.invents * (CAREFUL if fidelity else 1.0)
