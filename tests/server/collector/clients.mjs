// So many devices, each with one batch, which is sent again until it is acknowledged.
const [, , client, url, count, lanes] = process.argv;
const { SurveyDevice } = await import(client);

const pause = () => new Promise((done) => setTimeout(done, 50));

// We may be slow to start, and the collector killed before we ask.
const published = async () => {
  for (let turn = 0; turn < 600; turn += 1) {
    try {
      return await (await fetch(`${url}/survey.json`)).json();
    } catch {
      await pause();
    }
  }
  throw new Error("no survey");
};

const survey = await published();
const memory = () => {
  const kept = new Map();
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) };
};

const send = async (batch) => {
  for (let turn = 0; turn < 600; turn += 1) {
    try {
      const answer = await fetch(`${url}/reports`, { method: "POST", body: batch });
      await answer.arrayBuffer();
      if (answer.ok) return;
    } catch {
      // The collector was killed: the same batch is sent again.
    }
    await pause();
  }
  throw new Error("never acknowledged");
};

let left = Number(count);
const tokens = [];
const lane = async () => {
  while (left > 0) {
    left -= 1;
    const batch = new SurveyDevice(survey, memory()).batch({ platform: "phone", minutes: left % 240 });
    await send(batch);
    tokens.push(JSON.parse(batch).token);
  }
};
await Promise.all(Array.from({ length: Number(lanes) }, lane));
process.stdout.write(JSON.stringify(tokens));
