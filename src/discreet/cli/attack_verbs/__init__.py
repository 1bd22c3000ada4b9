"""The verbs of ``discreet attack``: what each asks for, and how it is run and told."""
