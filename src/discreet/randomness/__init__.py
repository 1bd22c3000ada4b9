"""Exact random numbers: integer arrays whose law is the stated one, given ideal words.

Every sampler takes its parameters, a size and an :class:`~discreet.core.protocols.Rng`. None takes
data or a seed. "Exact" is a claim about the map from words to values; that the words themselves are
unpredictable is a computational claim about the generator (:mod:`discreet.randomness.rng`).
"""
