"""A holdout of a declared table: asked in SQL, through the gate, and kept by the ledger."""
