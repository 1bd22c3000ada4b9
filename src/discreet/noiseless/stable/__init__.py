"""Stable functions: releases that one row hardly ever changes."""
