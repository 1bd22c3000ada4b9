// The page of a survey: shows what would leave the device, and sends a report when asked to.
import { SurveyDevice, batchText } from "./device.js";

const survey = await (await fetch("survey.json")).json();
const [trying, sending] = ["try", "send"].map((name) => document.getElementById(name));
const shown = document.getElementById("shown");

// What is given, by the place of the question; nothing here has a text of the survey for its name.
const given = ({ values, most }, place) => {
  const picked = values === undefined ? "" : ":checked";
  const text = document.querySelector(`input[name=question${place}]${picked}`)?.value ?? "";
  if (text === "") return null;
  if (values !== undefined) return values[Number(text)] ?? null;
  return most === undefined ? text : Number(text);
};

const answers = () =>
  Object.fromEntries(survey.form.questions.map((asked, place) => [asked.name, given(asked, place)]));

const fresh = () => {
  const kept = new Map();
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) };
};

const bits = (bytes) => [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join(" ");

const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });

// Three reports of the same answers, each as a device makes that has never reported: they differ,
// and that is the point. None of them is sent.
trying.addEventListener("click", () => {
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

const attempt = async () => {
  let batch;
  try {
    batch = nextBatch();
  } catch {
    return "Not sent: this browser does not let the page keep what it must remember.";
  }
  if (batch === null) return "This device has taken part already; nothing was sent.";
  try {
    const said = await send(batch);
    if (said.startsWith("Sent")) localStorage.removeItem(pending);
    return said;
  } catch {
    return "Not sent: the collector cannot be reached. Try again later.";
  }
};

sending.addEventListener("click", async () => {
  shown.replaceChildren(element("p", await attempt()));
});

for (const button of [trying, sending]) button.disabled = false;
