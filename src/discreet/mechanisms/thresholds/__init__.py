"""Machines that answer many questions and pay for few: sparse vector and its relatives."""
