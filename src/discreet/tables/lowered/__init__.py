"""The lowered plan: owners, clamps, keyed choices and limits as plain rows. Engines run these."""
