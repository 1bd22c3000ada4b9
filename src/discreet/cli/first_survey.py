"""A first ``survey.toml``, to be changed by whoever asks."""

from pathlib import Path

from discreet.core.errors import OutputFailed

TEXT = """\
# What is asked, of whom, and how it is randomised on their devices before anything leaves them.
# "discreet survey check" says what this means for a person, "plan" how exact it will be.
name = "How people use the app"
purpose = "We want to know what to work on next. Your answers are randomised on your device."
reports = 1              # how often one device reports, over all versions of this survey
lifetime_epsilon = 4     # refuse this declaration if a person's reports tell more than that

[questions.platform]
text = "Where do you use the app most?"
values = ["phone", "tablet", "computer"]   # whatever else is answered counts as "(other)"
epsilon = 2
# scheme = "k_ary"       # without it the one that errs least for so many people is taken
people = 10_000

[questions.minutes]
text = "How many minutes did you use it yesterday?"
min = 0                  # what is beyond counts as the nearer end
max = 240
step = 1
missing = 0              # what no answer counts as
epsilon = 1
"""


def write_first_survey(path: Path) -> str:
    """Write the file, unless there is one; return what to do next."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(TEXT)
    except FileExistsError:
        raise OutputFailed(f"{path.name} exists", next="Name another file with --survey") from None
    except OSError as cause:
        raise OutputFailed(f"{path.name} cannot be written", got=cause.strerror or "") from None
    return f"Wrote {path.name}. Change it to what you ask; then: discreet survey check"
