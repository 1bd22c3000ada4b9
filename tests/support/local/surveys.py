"""Small surveys for tests."""

from discreet.local.survey.read_survey import parse_survey
from discreet.local.survey.survey import Survey

TEXT = """
name = "app"
purpose = "What shall we work on?"
reports = 3

[questions.platform]
text = "Where do you use it?"
values = ["phone", "tablet", "computer"]
epsilon = 2
scheme = "k_ary"

[questions.minutes]
text = "How many minutes?"
min = 0
max = 240
step = 0.5
epsilon = 1
scheme = "one_bit_mean"
keeps = "rounded"

[questions.again]
text = "Would you use it again?"
values = ["yes", "no"]
epsilon = 0.5
scheme = "k_ary"
keeps = "permanent"
"""


def small_survey() -> Survey:
    return parse_survey(TEXT)
