"""The exact arithmetic of answers: columns of fractions, functions of them, and intervals."""
