"""Ten faults that experts make. The tests of the package must catch each of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    before: str
    after: str

    @property
    def package(self) -> str:
        return self.file.split("/")[2]

    def apply(self, text: str) -> str:
        if text.count(self.before) != 1:
            raise ValueError(f"{self.file} has not exactly one {self.before!r}: mend {self.name!r}")
        return text.replace(self.before, self.after)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "keys reused between start and walk",
        "src/doeblin/chains/_keys.py",
        "reshape(-1, 3)\n    return TourKeys(keys[:, 0], keys[:, 1], keys[:, 2])",
        "reshape(-1, 3)\n    return TourKeys(keys[:, 1], keys[:, 1], keys[:, 2])",
    ),
    Fault(
        "T counted from 1",
        "src/doeblin/learning/_horizons.py",
        "return jnp.floor(variates / -math.log1p(-epsilon))",
        "return 1 + jnp.floor(variates / -math.log1p(-epsilon))",
    ),
    Fault(
        "a missing (1-ε)^t",
        "src/doeblin/learning/_prefixes.py",
        "log_mass = fixed.log_start + tape.running(log_moves - log_proposed)",
        "log_mass = fixed.log_start - tape.running(log_proposed)",
    ),
    Fault(
        "the proposal ratio upside down",
        "src/doeblin/kernels/_metropolis.py",
        "forward += self.proposal.log_prob(new, old, x)\n"
        "            backward += self.proposal.log_prob(old, new, x)",
        "forward += self.proposal.log_prob(old, new, x)\n"
        "            backward += self.proposal.log_prob(new, old, x)",
    ),
    Fault(
        "the probability of staying put left out",
        "src/doeblin/kernels/_metropolis.py",
        "return jax.lax.cond(same_state(new, old), stay, lambda: log_move(new))",
        "return log_move(new)",
    ),
    Fault(
        "the stage drawn after the move instead of before",
        "src/doeblin/chains/_chain.py",
        "jax.lax.switch(stage, moves),",
        "jax.lax.switch(position.stage, moves),",
    ),
    Fault(
        "an unweighted restart term",
        "src/doeblin/learning/_likelihood.py",
        "log_direct = fixed.log_start + frozen(endpoints.each(fixed.log_u))",
        "log_direct = frozen(endpoints.each(fixed.log_u))",
    ),
    Fault(
        "a baseline that looks at its own walk",
        "src/doeblin/learning/_likelihood.py",
        "earned, paid = earned.sum() - earned, own.paid.sum() - own.paid",
        "earned, paid = earned + 0 * earned.sum(), own.paid",
    ),
    Fault(
        "a detached gradient",
        "src/doeblin/learning/_prefixes.py",
        "jnp.sum(begin * model.log_u(self.start))",
        "jnp.sum(begin * frozen(model).log_u(self.start))",
    ),
    Fault(
        "a tail of the horizon cut off",
        "src/doeblin/learning/_horizons.py",
        "tail = Segment(self.tails(num_walks), 1 + _longest(self.epsilon))",
        "tail = Segment(self.tails(num_walks), 1)",
    ),
)
