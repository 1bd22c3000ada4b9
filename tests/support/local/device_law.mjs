// Runs the JavaScript device on scripted draws: every outcome with its weight, or a given stream.
import { readFileSync } from "node:fs";

const [, , client, task] = process.argv;
const device = await import(client);
const { SurveyDevice, UNIT, SecureDraws, randomise, remembered } = device;
const hex = (bytes) => Buffer.from(bytes).toString("hex");

class EveryOutcome {
  path = [];
  place = 0;
  up = 1n;
  down = 1n;

  coin(threshold) {
    if (threshold === 0 || threshold === UNIT) return threshold === UNIT;
    const came = this.take(2);
    this.up *= BigInt(came ? threshold : UNIT - threshold);
    this.down *= BigInt(UNIT);
    return came === 1;
  }

  uniform(choices) {
    this.down *= BigInt(choices);
    return this.take(choices);
  }

  pick(cuts) {
    const ends = [0, ...cuts, UNIT];
    const chosen = this.take(cuts.length + 1);
    this.up *= BigInt(ends[chosen + 1] - ends[chosen]);
    this.down *= BigInt(UNIT);
    return chosen;
  }

  take(outcomes) {
    if (this.place === this.path.length) this.path.push([0, outcomes]);
    const [chosen, known] = this.path[this.place];
    if (known !== outcomes) throw new Error("what is drawn must depend on earlier draws alone");
    this.place += 1;
    return chosen;
  }

  next() {
    while (this.path.length && this.path.at(-1)[0] + 1 === this.path.at(-1)[1]) this.path.pop();
    [this.place, this.up, this.down] = [0, 1n, 1n];
    if (!this.path.length) return false;
    this.path.at(-1)[0] += 1;
    return true;
  }
}

const divisor = (a, b) => (b === 0n ? a : divisor(b, a % b));

class MapMemory {
  texts = new Map();
  getItem = (name) => this.texts.get(name) ?? null;
  setItem = (name, text) => this.texts.set(name, text);
}

// What a device sends of one value, or of a history of values with a memory of its own.
const told = ({ recipe, value, report }, draws) => {
  if (!report) return hex(randomise(recipe, value, draws));
  const memory = new MapMemory();
  return value.map((each) => hex(device[report]("asked", recipe, each, memory, draws))).join("");
};

// The reports of a history of texts, with an ideal random function in place of the hash.
const SECRET = JSON.stringify(hex(Uint8Array.from({ length: 32 }, (_, place) => place)));
const keptTexts = ({ recipe, history }, draws) => {
  const made = new Map();
  const derive = (_, text) => {
    if (!made.has(text)) made.set(text, []);
    const before = made.get(text);
    let place = 0;
    const next = (draw) => {
      if (place === before.length) before.push(draw());
      place += 1;
      return before[place - 1];
    };
    return {
      coin: (threshold) => next(() => draws.coin(threshold)),
      uniform: (choices) => next(() => draws.uniform(choices)),
    };
  };
  const fixed = { getItem: () => SECRET };
  const reports = history.map((text) =>
    hex(device.permanentReport("q", recipe, text, fixed, draws, derive)),
  );
  return reports.join("");
};

const law = (given, run = told) => {
  const draws = new EveryOutcome();
  const found = {};
  do {
    const report = run(given, draws);
    const [up, down] = found[report] ?? [0n, 1n];
    const sum = [up * draws.down + draws.up * down, down * draws.down];
    const common = divisor(...sum);
    found[report] = sum.map((number) => number / common);
  } while (draws.next());
  return Object.fromEntries(
    Object.entries(found).map(([report, share]) => [report, share.map(String)]),
  );
};

const replay = (stream) => {
  let place = 0;
  return new SecureDraws((bytes) => {
    bytes.set(stream.subarray(place, place + bytes.length));
    place += bytes.length;
    return bytes;
  });
};

const memory = () => {
  const kept = new Map();
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) };
};

const TASKS = {
  survey({ stream, survey, answers }) {
    const draws = replay(Buffer.from(stream, "hex"));
    return answers.map((given) => hex(new SurveyDevice(survey, memory(), draws).report(given)));
  },
  // What counts as answered where answers cannot be read, and where a number is a bigint.
  odd({ survey }) {
    const failing = { get platform() { throw new Error("no"); } };
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const whole = { platform: 5n, minutes: 12n, again: Symbol("yes") };
    const answers = [null, undefined, 5, failing, revoked.proxy, whole];
    const { questions } = survey.form;
    return {
      places: answers.map((given) => questions.map((one) => device.valueOf(one, given))),
      size: new SurveyDevice(survey, memory()).report(null).length,
    };
  },
  // One report a memory whose every kept text but the counter is spoilt: the error, or the report.
  spoilt: ({ survey, answers, texts }) =>
    texts.map((text) =>
      answers.map((given) => {
        const counter = `reports ${survey.form.name}`;
        const getItem = (name) => (name === counter ? null : text);
        try {
          return hex(new SurveyDevice(survey, { getItem, setItem: () => {} }).report(given));
        } catch (error) {
          return error.message;
        }
      }),
    ),
  // The size of a report, or the error; a device that drew anything would fail otherwise.
  pinned: ({ surveys, pinned }) =>
    surveys.map((survey) => {
      try {
        return new SurveyDevice(survey, memory(), undefined, pinned).report({}).length;
      } catch (error) {
        return error.message;
      }
    }),
  losses: (forms) =>
    forms.map((form) => {
      try {
        return String(device.lossOfForm(form));
      } catch (error) {
        return error.message;
      }
    }),
  // One report to each form with one memory and a cap, and what is written down of losses.
  capped: (histories) => histories.map(({ most, forms }) => {
    const held = new MapMemory();
    const found = forms.map((form) => {
      const before = JSON.stringify([...held.texts]);
      try {
        const made = new SurveyDevice({ version: "v", form }, held, undefined, null, most);
        return made.report({})?.length ?? null;
      } catch (error) {
        if (JSON.stringify([...held.texts]) !== before) throw error;
        return error.message;
      }
    });
    return [found, JSON.parse(held.getItem("losses") ?? "{}")];
  }),
  spoiltLosses: (texts) =>
    texts.map((text) => {
      const form = { name: "s", reports: 1, questions: [] };
      const getItem = (name) => (name === "losses" ? text : null);
      try {
        return new SurveyDevice({ version: "v", form }, { getItem }, undefined, null, 9);
      } catch (error) {
        return error.message;
      }
    }),
  batch: ({ survey }) => JSON.parse(new SurveyDevice(survey, memory()).batch({})),
  laws: (cases) => cases.map((given) => law(given)),
  textLaws: (cases) => cases.map((given) => law(given, keptTexts)),
  keptTexts({ stream, cases }) {
    const draws = replay(Buffer.from(stream, "hex"));
    const held = new MapMemory();
    const reports = cases.map(({ recipe, value }) =>
      hex(device.permanentReport("q", recipe, value, held, draws)),
    );
    return { reports, memory: Object.fromEntries(held.texts) };
  },
  large: (size) => JSON.parse(device.batchText("v", [new Uint8Array(size)])).reports[0].length,
  broken: (cases) =>
    cases.map(({ report, recipe, value, text }) => {
      try {
        return hex(device[report]("a", recipe, value, { getItem: () => text }));
      } catch (error) {
        return error.message;
      }
    }),
  reports({ stream, cases }) {
    const draws = replay(Buffer.from(stream, "hex"));
    return cases.map(({ recipe, value }) => hex(randomise(recipe, value, draws)));
  },
  histories({ stream, cases }) {
    const draws = replay(Buffer.from(stream, "hex"));
    return cases.map(({ recipe, values }) => {
      const store = new Map();
      return values.map((value) => hex(remembered("q", recipe, value, store, draws)));
    });
  },
};

process.stdout.write(JSON.stringify(TASKS[task](JSON.parse(readFileSync(0, "utf8")))));
