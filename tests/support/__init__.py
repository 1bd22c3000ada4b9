"""What tests share: numbered randomness, exact statistics, the source tree, Markdown blocks."""
