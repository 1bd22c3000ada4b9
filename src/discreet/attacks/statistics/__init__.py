"""Attacks on published statistics: who is in them, how they are overfitted, who leaked them.

Reports of these attacks are private. Who is traced *is* the data: keep a report as safe as the rows
themselves, and publish none of it.
"""
