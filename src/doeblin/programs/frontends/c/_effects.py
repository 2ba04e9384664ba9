"""What evaluation does, beside giving a value."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Effects:
    """What evaluation reads and writes itself, and in calls; `loose` are writes that need not be
    done when the value is there."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    called_reads: set[str] = field(default_factory=set)
    called_writes: set[str] = field(default_factory=set)
    loose: set[str] = field(default_factory=set)
    ends: bool = False
    fails: bool = False
    stays: bool = False  # it may never be done, for all that the program says

    def add(self, other: Effects, *, sequenced: bool = False) -> None:
        self.reads |= other.reads
        self.writes |= other.writes
        self.called_reads |= other.called_reads
        self.called_writes |= other.called_writes
        if not sequenced:
            self.loose |= other.loose
        self.ends |= other.ends
        self.fails |= other.fails
        self.stays |= other.stays

    @property
    def calls(self) -> bool:
        """Does it do more than read?"""
        done = self.writes or self.called_reads or self.called_writes
        return bool(done) or self.ends or self.stays

    def call(self, body: Effects) -> None:
        """What a called function does."""
        self.called_reads |= body.reads | body.called_reads
        self.called_writes |= body.writes | body.called_writes
        self.ends |= body.ends
        self.fails |= body.fails
        self.stays |= body.stays
