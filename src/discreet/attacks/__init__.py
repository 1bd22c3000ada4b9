"""The adversary: what a release gives away, tried by its publisher before anybody else does."""
