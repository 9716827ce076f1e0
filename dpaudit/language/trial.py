"""Test a utility claim with the interpreters of mechanisms: by sampling or by its exact distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language.mechanism import Mechanism, Program
from dpaudit.language.utility import Goal, Instance


@dataclass(frozen=True)
class Fixed(Mechanism):
    """The same instance every time: for guarantees that hold for every dataset."""

    dataset: Any
    truth: Any = None
    label: str = ""

    def run(self, dataset: object) -> Instance:
        return Instance(self.dataset, self.truth)

    def __str__(self) -> str:
        return self.label or repr(self.dataset)


@dataclass(frozen=True)
class Trial(Mechanism):
    """Draw an instance, run the algorithm on its dataset, return whether the goal was reached.

    Args:
        instances: a mechanism that takes () and returns an `Instance`.
        subject: the algorithm.
        goal: what a good output is.
    """

    instances: Mechanism
    subject: Mechanism
    goal: Goal

    def run(self, dataset: object) -> Program:
        instance = yield self.instances.on(())
        output = yield self.subject.on(instance.dataset)
        return self.goal.reached(instance, output)
