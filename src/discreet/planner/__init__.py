"""Planner: how many people, how much accuracy, and is it possible at all?"""
