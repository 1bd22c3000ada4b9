"""Adaptive: findings that hold up, although questions depend on earlier answers."""
