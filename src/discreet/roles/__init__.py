"""Roles: what an analyst holds, and what an owner holds. Each has its own way to every model."""
