"""One loss said in another measure: a file for each source, a theorem for each step."""
