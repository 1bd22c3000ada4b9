"""Made-up projects: declarations, rows, engines over them, and what is broken on purpose."""
