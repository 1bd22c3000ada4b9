"""Condensed (metric) privacy: the closer two values are, the less a report tells them apart."""
