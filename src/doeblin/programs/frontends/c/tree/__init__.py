"""What the tree of a C file says by itself: its parts and shapes, and what C forbids."""

from ._reads import only_reads
from ._rules import check_rules
from ._shapes import (
    addressed,
    allocations,
    assigned,
    brackets,
    collect_cases,
    failing,
    flat,
    indexed_by_constants,
    is_floating,
    is_text,
    leads_back,
    mentions_floats,
    mentions_pointers,
    names_in,
    nested,
    only_assigned,
    pointed,
    reached_from_outside,
)
from ._tree import parts

__all__ = [
    "addressed",
    "allocations",
    "assigned",
    "brackets",
    "check_rules",
    "collect_cases",
    "failing",
    "flat",
    "indexed_by_constants",
    "is_floating",
    "is_text",
    "leads_back",
    "mentions_floats",
    "mentions_pointers",
    "names_in",
    "nested",
    "only_assigned",
    "only_reads",
    "parts",
    "pointed",
    "reached_from_outside",
]
