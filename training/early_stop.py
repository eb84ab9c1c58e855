"""When the evaluations of a run end it before its last step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .config import EvaluationConfig


@dataclass
class EarlyStop:
    """Watch the mean win shares of evaluations.

    Whether to stop depends on nothing but the settings and the two numbers, so a run that was
    resumed stops where an unbroken one does, and one that has stopped goes on with other settings.
    With other matches the numbers mean something else, and begin anew.

    Args:
        settings: of the run.
        best: the best mean win share so far; minus infinity before the first.
        since_best: how many evaluations have followed it.
    """

    settings: EvaluationConfig
    best: float = float("-inf")
    since_best: int = 0

    def note(self, score: float) -> None:
        """Take an evaluation's mean win share in."""
        self.since_best = 0 if score > self.best else self.since_best + 1
        self.best = max(self.best, score)

    @property
    def reason(self) -> str:
        """Why to stop; empty where there is no reason."""
        stop_at = self.settings.stop_at
        patience = self.settings.patience
        if stop_at is not None and self.best >= stop_at:
            return f"the mean win share {self.best:.1%} has reached evaluation.stop_at = {stop_at}"
        if patience is not None and self.since_best >= patience:
            return f"{self.since_best} evaluations have not been better than {self.best:.1%}, evaluation.patience = {patience}"
        return ""

    @property
    def matches(self) -> dict[str, Any]:
        """What the win shares are of: only those of the same matches can be compared."""
        return self.settings.model_dump(include={"against", "deals", "seed"})

    def state(self) -> dict[str, Any]:
        """Give what `restore` needs."""
        return {"best": self.best, "since_best": self.since_best, "matches": self.matches}

    def restore(self, state: dict[str, Any]) -> bool:
        """Go on from a state, if it is of the same matches, and tell whether it is; whatever does
        not fit raises an error of any kind.
        """
        best = float(state["best"])
        since_best = int(state["since_best"])
        same: bool = state.get("matches", self.matches) == self.matches  # older checkpoints have none
        if same:
            self.best = best
            self.since_best = since_best
        return same
