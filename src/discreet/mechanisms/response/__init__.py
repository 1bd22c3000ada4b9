"""Mechanisms that run at the person: each report is randomised before anyone sees it."""
