"""Noiseless: when may an exact number be published, and what does that assume?"""
