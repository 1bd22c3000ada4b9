"""What runs at the person: small, of the standard library alone, and the same in JavaScript.

Nothing here imports NumPy, nor any other room of the house, so that these files can be carried to a
device as they are. ``device.js`` beside them does the same in browsers and in Node; both turn the
same random bytes into the same reports.
"""
