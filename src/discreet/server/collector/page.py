"""The page of a survey, for the person who answers: what is asked, what leaves, what it means."""

from html import escape

from discreet.accounting.meaning import Meaning
from discreet.core.contribution import Metric
from discreet.core.loss import Pure, short
from discreet.local.survey.survey import ListedValues, Survey, SurveyQuestion, Text

_STYLE = """
body { font: 17px/1.5 system-ui, sans-serif; color: #1d2733; max-width: 42rem; margin: 2rem auto;
  padding: 0 1rem; }
fieldset { border: 1px solid #c8d0d8; border-radius: 8px; margin: 1rem 0; padding: 1rem; }
legend { font-weight: 600; padding: 0 .4rem; }
label { display: block; padding: .15rem 0; }
input[type=number], input[type=text] { font: inherit; width: 10rem; }
button { font: inherit; padding: .5rem 1rem; margin: .2rem 0;
  border-radius: 8px; border: 1px solid #2b6cb0; background: #2b6cb0;
  color: white; cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
button.quiet { background: white; color: #2b6cb0; }
code { display: block; background: #f2f5f8; border-radius: 6px; padding: .5rem; margin: .3rem 0;
  overflow-wrap: anywhere; }
.note { color: #54606c; font-size: .92em; }
"""

_NO_ANSWER = "none of these, or no answer"


def survey_page(survey: Survey) -> str:
    """Return the page. Its script is the device's own, and nothing leaves before "Send".

    The questions are in no ``<form>``: a browser sends one by itself, with the answers as they are,
    if the script has not run yet, or fails, or is not allowed. Controls are named by their places,
    so that no text of a survey has to pass through markup and back.
    """
    report, person = survey.epsilon_of_report(), survey.epsilon_of_person()
    meaning = Meaning.of(Pure(person), metric=Metric.CHANGE_ONE).sentence()
    often = "once" if survey.reports == 1 else f"at most {survey.reports:,} times"
    often += "" if survey.until is None else f", until {survey.until}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(survey.name)}</title>
<style>{_STYLE}</style>
<script type="module" src="page.js"></script>
</head>
<body>
<h1>{escape(survey.name)}</h1>
<p>{escape(survey.purpose)}</p>
<noscript><p>This page needs JavaScript: it changes your answers at random before they are sent.
Without it nothing is sent.</p></noscript>
<div role="form" aria-label="{escape(survey.name)}">
{"".join(_asked(place, question) for place, question in enumerate(survey.questions))}
<p><button type="button" class="quiet" id="try" disabled>Try it: what would leave this
device?</button> <button type="button" id="send" disabled>Send</button></p>
</div>
<section id="shown" aria-live="polite"></section>
<h2>What happens to your answers</h2>
<p>Your answers are changed at random on this device, before anything leaves it. What is sent is
always {survey.size:,} bytes, whatever you answer, and you are asked {often}. What is sent leaves
room for doubt about what you really answered: how much is said below. What many people answered
together can be worked out from it.</p>
<p>{escape(meaning)}</p>
<p>{escape(survey.kept_note())}</p>
<p class="note">For those who know the words: one report is {short(report)}-differentially private
for any two people's answers, and all that this device ever sends to this survey together
{short(person)}. Version {survey.version[:12]}.</p>
</body>
</html>
"""


def _asked(place: int, question: SurveyQuestion) -> str:
    name, text = f"question{place}", escape(question.text)
    if isinstance(question.answers, ListedValues):
        labels = [*question.answers.values, _NO_ANSWER]
        choices = "".join(
            f'<label><input type="radio" name="{name}" value="{value}"> {escape(label)}</label>'
            for value, label in enumerate(labels)
        )
        return f"<fieldset><legend>{text}</legend>{choices}</fieldset>"
    if isinstance(question.answers, Text):
        longest = question.answers.longest
        return (
            f'<fieldset><legend>{text}</legend><label><input type="text" name="{name}" '
            f'maxlength="{longest}"> <span class="note">up to {longest} characters</span>'
            "</label></fieldset>"
        )
    least, most = question.answers.at(0), question.answers.at(question.answers.most)
    return (
        f'<fieldset><legend>{text}</legend><label><input type="number" name="{name}" step="any"> '
        f'<span class="note">from {least:,.15g} to {most:,.15g}</span></label></fieldset>'
    )
