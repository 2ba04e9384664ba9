"""Front ends: C, and SMT-LIB's Horn clauses and SyGuS, read into a graph or a system."""
