"""Attacks that an owner runs on a release before an adversary does."""
