// The page of a survey: shows what would leave the device, and sends a report when asked to.
import { SurveyDevice, batchText } from "./device.js";

const survey = await (await fetch("survey.json")).json();
const form = document.getElementById("survey");
const shown = document.getElementById("shown");

const answers = () => {
  const found = {};
  for (const question of survey.form.questions) {
    const given = new FormData(form).get(question.name);
    if (given === null || given === "") continue;
    found[question.name] = question.most === undefined ? given : Number(given);
  }
  return found;
};

const fresh = () => {
  const kept = new Map();
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) };
};

const bits = (bytes) => [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join(" ");

const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });

// Three reports of the same answers, each as a device makes that has never reported: they differ,
// and that is the point. None of them is sent.
document.getElementById("try").addEventListener("click", () => {
  const made = [1, 2, 3].map(() => new SurveyDevice(survey, fresh()).report(answers()));
  shown.replaceChildren(
    element("p", "Three reports that this device could make of these very answers:"),
    ...made.map((report) => element("code", bits(report))),
    element("p", "Nothing was sent."),
  );
});

const send = async (batch) => {
  const answer = await fetch("reports", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: batch,
    credentials: "omit",
  });
  const { error } = answer.ok ? {} : await answer.json();
  return error === undefined ? "Sent. Thank you." : `Not sent: ${error.what}.`;
};

// What was made and not acknowledged is sent again as it is, so that it counts, and counts once.
const pending = `pending ${survey.version}`;

const nextBatch = () => {
  const waiting = localStorage.getItem(pending);
  if (waiting !== null) return waiting;
  const report = new SurveyDevice(survey, localStorage).report(answers());
  if (report === null) return null;
  localStorage.setItem(pending, batchText(survey.version, [report]));
  return localStorage.getItem(pending);
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const batch = nextBatch();
    const said =
      batch === null ? "This device has taken part already; nothing was sent." : await send(batch);
    if (said.startsWith("Sent")) localStorage.removeItem(pending);
    shown.replaceChildren(element("p", said));
  } catch {
    shown.replaceChildren(element("p", "Not sent: the collector cannot be reached. Try again later."));
  }
});
