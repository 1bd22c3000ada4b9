// What runs at the person: a dependency-free module for browsers and for Node.
// It draws in the same order as the Python device beside it, so that the same random bytes
// make the same report. All randomness comes from crypto.getRandomValues; probabilities are
// whole multiples of one part in 2**52, which numbers hold exactly.

export const UNIT = 2 ** 52;

const secure = (bytes) => globalThis.crypto.getRandomValues(bytes);

export class SecureDraws {
  constructor(fill = secure) {
    this.fill = fill;
  }

  draw() {
    const words = new DataView(this.fill(new Uint8Array(8)).buffer);
    return (words.getUint32(4, true) % 2 ** 20) * 2 ** 32 + words.getUint32(0, true);
  }

  coin(threshold) {
    return this.draw() < threshold;
  }

  uniform(choices) {
    const limit = UNIT - (UNIT % choices);
    let drawn = this.draw();
    while (drawn >= limit) drawn = this.draw();
    return drawn % choices;
  }

  pick(cuts) {
    const drawn = this.draw();
    return cuts.reduce((passed, cut) => passed + (drawn >= cut ? 1 : 0), 0);
  }
}

const known = (value, categories) => {
  if (!Number.isInteger(value) || value < 0 || value >= categories) {
    throw new RangeError("a value is no category of this scheme");
  }
  return value;
};

const wholeBytes = (value, values) => {
  const bytes = [];
  for (let left = values - 1, rest = value; left > 0 || bytes.length === 0; left = Math.floor(left / 256)) {
    bytes.push(rest % 256);
    rest = Math.floor(rest / 256);
  }
  return Uint8Array.from(bytes);
};

// Schemes for one of a list of values.

const told = (held, categories, truth, draws) => {
  const tells = draws.coin(truth);
  const offset = 1 + draws.uniform(categories - 1);
  return tells ? held : (held + offset) % categories;
};

const parity = (number) => {
  let folded = number ^ (number >>> 16);
  for (const shift of [8, 4, 2, 1]) folded ^= folded >>> shift;
  return folded & 1;
};

const mapped = (rows, value) =>
  rows.reduce((found, row, place) => found + parity(row & value) * 2 ** place, 0);

const bitmap = (named, categories) => {
  const bits = new Uint8Array(Math.ceil(categories / 8));
  for (const place of named) bits[Math.floor(place / 8)] |= 1 << (place % 8);
  return bits;
};

const upTo = (count) => Array.from({ length: count }, (_, place) => place);

const FREQUENCY = {
  k_ary({ categories, truth }, value, draws) {
    const held = known(value, categories);
    return wholeBytes(told(held, categories, truth, draws), categories);
  },

  unary({ categories, held: likely, other }, value, draws) {
    const held = known(value, categories);
    const named = upTo(categories).filter((place) => draws.coin(place === held ? likely : other));
    return bitmap(named, categories);
  },

  local_hashing({ categories, bits, truth }, value, draws) {
    const held = known(value, categories);
    const maps = 2 ** (32 - Math.clz32(categories - 1) + bits - 1);
    const drawn = draws.uniform(maps);
    const rows = upTo(bits).map((row) => Math.floor(drawn / 2 ** row));
    const place = told(mapped(rows, held), 2 ** bits, truth, draws);
    return wholeBytes(drawn + maps * place, maps * 2 ** bits);
  },

  subset_selection({ categories, count, truth }, value, draws) {
    const held = known(value, categories);
    const tells = draws.coin(truth);
    const others = upTo(categories - 1).map((other) => held + 1 + other);
    for (let place = 0; place < count; place += 1) {
      const chosen = place + draws.uniform(categories - 1 - place);
      [others[place], others[chosen]] = [others[chosen], others[place]];
    }
    if (tells) others[count - 1] = held;
    return bitmap(others.slice(0, count).map((other) => other % categories), categories);
  },

  hadamard_sketch({ categories, maps, truth }, value, draws) {
    const held = known(value, categories);
    const drawn = draws.uniform(maps.length);
    const width = 2 ** maps[0].length;
    const row = draws.uniform(width);
    const sign = parity(row & mapped(maps[drawn], held));
    const place = (drawn * width + row) * 2 + told(sign, 2, truth, draws);
    return wholeBytes(place, maps.length * width * 2);
  },
};

// Schemes for numbers on a grid.

const besideWindow = ({ most, width, inside }, held, draws) => {
  const tells = draws.coin(inside);
  const offset = draws.uniform(width);
  const other = draws.uniform(most);
  return tells ? held + offset : other < held ? other : other + width;
};

const roundedBit = ({ most, truth }, held, draws) => {
  const up = draws.uniform(most) < held;
  return draws.coin(truth) === up ? 1 : 0;
};

const NUMBERS = {
  one_bit(recipe, value, draws) {
    return wholeBytes(roundedBit(recipe, known(value, recipe.most + 1), draws), 2);
  },

  window(recipe, value, draws) {
    const told = besideWindow(recipe, known(value, recipe.most + 1), draws);
    return wholeBytes(told, recipe.most + recipe.width);
  },

  hybrid(recipe, value, draws) {
    const { most, width, wide } = recipe;
    const held = known(value, most + 1);
    const told = draws.coin(wide)
      ? besideWindow(recipe, held, draws)
      : most + width + roundedBit(recipe, held, draws);
    return wholeBytes(told, most + width + 2);
  },

  local_laplace({ most, decay }, value, draws) {
    const held = known(value, most + 1);
    const upward = draws.uniform(2 * decay - 1) < decay;
    let steps = 0;
    let going = 1;
    for (let draw = 0; draw < most; draw += 1) {
      going *= draws.uniform(decay) < decay - 1 ? 1 : 0;
      steps += going;
    }
    const told = upward ? held + steps : held - 1 - steps;
    return wholeBytes(Math.max(0, Math.min(most, told)), most + 1);
  },

  d_bit_flip({ buckets, bits, truth }, value, draws) {
    const held = known(value, buckets);
    const chosen = [];
    const told = [];
    for (let turn = 0; turn < bits; turn += 1) {
      let bucket = draws.uniform(buckets - turn);
      for (const before of [...chosen].sort((a, b) => a - b)) bucket += bucket >= before ? 1 : 0;
      chosen.push(bucket);
      const bit = draws.coin(truth) === (bucket === held) ? 1 : 0;
      told.push(...wholeBytes(2 * bucket + bit, 2 * buckets));
    }
    return Uint8Array.from(told);
  },

  table({ rows }, value, draws) {
    return wholeBytes(draws.pick(rows[known(value, rows.length)]), rows[0].length + 1);
  },
};

// Schemes for texts.

// SHA-256 (FIPS 180-4). Its constants are the first bits of roots of primes, worked out here.
const roots = (count, power) => {
  const found = [];
  for (let n = 2; found.length < count; n += 1) {
    let prime = true;
    for (let d = 2; d * d <= n; d += 1) prime &&= n % d !== 0;
    if (prime) found.push(((n ** power % 1) * 2 ** 32) | 0);
  }
  return found;
};
const START = roots(8, 1 / 2);
const ROUNDS = roots(64, 1 / 3);
const turn = (word, by) => (word >>> by) | (word << (32 - by));

const sha256 = (bytes) => {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const padded = new Uint8Array(64 * blocks);
  padded.set(bytes);
  padded[bytes.length] = 128;
  const view = new DataView(padded.buffer);
  view.setUint32(64 * blocks - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(64 * blocks - 4, bytes.length * 8);
  let state = START;
  const w = new Int32Array(64);
  for (let block = 0; block < blocks; block += 1) {
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i += 1) {
      if (i < 16) w[i] = view.getInt32(64 * block + 4 * i);
      else {
        const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
        const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
      }
      const e1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const first = (h + e1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
      const a0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const second = (a0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    state = [a, b, c, d, e, f, g, h].map((word, i) => (word + state[i]) | 0);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setInt32(4 * i, word));
  return digest;
};

// HMAC (RFC 2104) with a secret of 32 bytes.
const hmac = (secret, bytes) => {
  const padded = (pad) => Array.from({ length: 64 }, (_, i) => (secret[i] ?? 0) ^ pad);
  const inner = new Uint8Array(sha256(Uint8Array.from([...padded(54), ...bytes])).buffer);
  return new Uint8Array(sha256(Uint8Array.from([...padded(92), ...inner])).buffer);
};

const LONE = /[\uD800-\uDFFF]/u;

const textBytes = (text) => {
  if (typeof text !== "string") throw new TypeError("a value is no text");
  if (LONE.test(text)) throw new RangeError("a value is no text that UTF-8 can hold");
  return new TextEncoder().encode(text);
};

const fourBytes = (number) => [0, 8, 16, 24].map((shift) => (number >>> shift) & 255);

const place = (salt, numbers, text, places) => {
  const start = new TextEncoder().encode(salt);
  const head = [...fourBytes(start.length), ...start, ...numbers.flatMap(fourBytes)];
  const digest = sha256(Uint8Array.from([...head, ...text]));
  return (digest.getUint16(4, true) * 2 ** 32 + digest.getUint32(0, true)) % places;
};

// RAPPOR: names as in the paper; f, p and q are thresholds of coins.
const bloom = ({ salt, bits, hashes }, text, cohort) => {
  const held = textBytes(text);
  return new Set(Array.from({ length: hashes }, (_, n) => place(salt, [cohort, n], held, bits)));
};

const permanent = ({ bits, f }, ones, draws) =>
  Array.from({ length: bits }, (_, bit) => draws.coin(ones.has(bit) ? UNIT - f / 2 : f / 2));

const instantaneous = ({ p, q }, kept, draws) => {
  const packed = new Uint8Array(Math.ceil(kept.length / 8));
  kept.forEach((bit, i) => {
    if (draws.coin(bit ? q : p)) packed[i >> 3] |= 1 << (i & 7);
  });
  return packed;
};

// Words that nobody listed: one noisy bit of a hashed prefix.
const spelled = ({ lengths, alphabet }, word) => {
  textBytes(word);
  const longest = lengths.at(-1);
  const known = new Set(alphabet);
  const letters = [...word].slice(0, longest).map((c) => (known.has(c) ? c : "\x01"));
  while (letters.length < longest) letters.push("\x00");
  return letters;
};

const TEXTS = {
  rappor(recipe, value, draws) {
    const cohort = draws.uniform(recipe.cohorts);
    const kept = permanent(recipe, bloom(recipe, value, cohort), draws);
    const told = instantaneous(recipe, kept, draws);
    return Uint8Array.from([...wholeBytes(cohort, recipe.cohorts), ...told]);
  },

  basic_rappor(recipe, value, draws) {
    const held = known(value, recipe.bits);
    return instantaneous(recipe, permanent(recipe, new Set([held]), draws), draws);
  },

  words(recipe, value, draws) {
    const { lengths, salt, buckets, truth } = recipe;
    const spelling = spelled(recipe, value);
    const group = draws.uniform(lengths.length);
    const row = draws.uniform(buckets);
    const tells = draws.coin(truth);
    const prefix = textBytes(spelling.slice(0, lengths[group]).join(""));
    const bit = parity(row & place(salt, [group], prefix, buckets));
    const told = wholeBytes(2 * row + (tells ? bit : 1 - bit), 2 * buckets);
    return Uint8Array.from([...wholeBytes(group, lengths.length), ...told]);
  },
};

const SCHEMES = { ...FREQUENCY, ...NUMBERS, ...TEXTS };

export const randomise = (recipe, value, draws = new SecureDraws()) =>
  SCHEMES[recipe.kind](recipe, value, draws);

// Repeated collection: answers that are drawn once, before any value is known, and kept.
// `memory` is localStorage, or anything else with getItem and setItem.

const plainJson = (value) =>
  Array.isArray(value)
    ? `[${value.map(plainJson).join(",")}]`
    : value !== null && typeof value === "object"
      ? `{${Object.keys(value)
          .sort()
          .map((key) => `${JSON.stringify(key)}:${plainJson(value[key])}`)
          .join(",")}}`
      : JSON.stringify(value);

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));

// What the memory holds is not repeated, and it fails whichever value is held.
const readable = (good) => {
  if (!good) throw new Error("the memory of this device cannot be read; nothing is reported");
};

const kept = (name, memory, draw) => {
  if (memory.getItem(name) === null) memory.setItem(name, plainJson(draw()));
  try {
    return JSON.parse(memory.getItem(name));
  } catch {
    return null;
  }
};

const keptAnswer = (answers, count, place) => {
  readable(Array.isArray(answers) && answers.length === count);
  const isHex = (answer) => typeof answer === "string" && /^([0-9a-f]{2})+$/.test(answer);
  readable(answers.every((answer) => isHex(answer) && answer.length === answers[0].length));
  return unhex(answers[place]);
};

const MOST_KEPT = 4096;

// The draws that belong to a text: HMAC-SHA256 of 0, 1, 2, ... in eight bytes, and the text.
const drawsOfText = (secret, text) => {
  const held = textBytes(text);
  let left = [];
  let block = 0;
  return new SecureDraws((bytes) => {
    while (left.length < bytes.length) {
      left.push(...hmac(secret, [...fourBytes(block), 0, 0, 0, 0, ...held]));
      block += 1;
    }
    bytes.set(left.splice(0, bytes.length));
    return bytes;
  });
};

export const permanentReport = (
  question,
  recipe,
  value,
  memory,
  draws = new SecureDraws(),
  derive = drawsOfText,
) => {
  if (Object.hasOwn(TEXTS, recipe.kind) && recipe.kind !== "basic_rappor") {
    const secret = kept(`permanent ${question} ${plainJson(recipe)}`, memory, () =>
      hex(Array.from({ length: 32 }, () => draws.uniform(256))),
    );
    readable(typeof secret === "string" && /^[0-9a-f]{64}$/.test(secret));
    return randomise(recipe, value, derive(unhex(secret), value));
  }
  const values = recipe.categories ?? recipe.buckets ?? recipe.rows?.length ?? recipe.most + 1;
  if (!(values <= MOST_KEPT)) throw new RangeError("a scheme has too many values to keep answers");
  const held = known(value, values);
  const answers = kept(`permanent ${question} ${plainJson(recipe)}`, memory, () =>
    Array.from({ length: values }, (_, each) => hex(randomise(recipe, each, draws))),
  );
  return keptAnswer(answers, values, held);
};

export const roundedReport = (question, recipe, value, memory, draws = new SecureDraws()) => {
  const held = known(value, recipe.most + 1);
  const found = kept(`rounded ${question} ${plainJson(recipe)}`, memory, () => ({
    offset: draws.uniform(recipe.most),
    answers: [0, recipe.most].map((end) => hex(randomise(recipe, end, draws))),
  }));
  const offset = found?.offset;
  readable(Number.isInteger(offset) && offset >= 0 && offset < recipe.most);
  return keptAnswer(found.answers, 2, held + offset >= recipe.most ? 1 : 0);
};

// RAPPOR with what the device keeps: its cohort, and the permanent response to each value.
// The store keeps texts and has get and set, like a Map. A response is drawn although one is kept,
// and dropped, so that what is drawn does not depend on values.
export const remembered = (question, recipe, value, store, draws = new SecureDraws()) => {
  const name = `rappor ${question} ${plainJson(recipe)}`;
  const keep = (what, drawn) => {
    const found = store.get(`${name} ${what}`) ?? String(drawn);
    store.set(`${name} ${what}`, found);
    return found;
  };
  const basic = recipe.kind === "basic_rappor";
  const cohort = basic ? 0 : Number(keep("cohort", draws.uniform(recipe.cohorts)));
  readable(basic || (Number.isInteger(cohort) && cohort >= 0 && cohort < recipe.cohorts));
  const ones = basic ? new Set([known(value, recipe.bits)]) : bloom(recipe, value, cohort);
  const drawn = permanent(recipe, ones, draws).map((bit) => (bit ? "1" : "0")).join("");
  const found = keep(`response to ${value}`, drawn);
  readable(/^[01]*$/.test(found) && found.length === drawn.length);
  const response = [...found].map((bit) => bit === "1");
  const told = instantaneous(recipe, response, draws);
  return basic ? told : Uint8Array.from([...wholeBytes(cohort, recipe.cohorts), ...told]);
};

// A survey: every question is always answered, whatever a person gives, and in as many bytes.

const exactPlace = ({ min, step, most, default: missing }, answer) => {
  if (typeof answer !== "number" || Number.isNaN(answer)) return missing;
  if (answer === Infinity || answer === -Infinity) return answer > 0 ? most : 0;
  const [minUp, minDown] = ratio(min);
  const [stepUp, stepDown] = ratio(step);
  const [up, down] = exactly(answer);
  const top = (up * minDown - minUp * down) * stepDown;
  const bottom = down * minDown * stepUp;
  const doubled = 2n * top + bottom;
  const place = doubled / (2n * bottom) - (doubled < 0n && doubled % (2n * bottom) !== 0n ? 1n : 0n);
  return place < 0n ? 0 : place > BigInt(most) ? most : Number(place);
};

const ratio = (text) => {
  const [up, down = "1"] = text.split("/");
  return [BigInt(up), BigInt(down)];
};

// A number as a quotient of whole numbers, exactly: doubled until nothing is left behind the point.
const exactly = (number) => {
  let [left, down] = [number, 1n];
  while (!Number.isInteger(left)) [left, down] = [left * 2, down * 2n];
  return [BigInt(left), down];
};

export const valueOf = (question, answers) => {
  const answer = Object.hasOwn(answers, question.name) ? answers[question.name] : null;
  if (question.values !== undefined) {
    const place = typeof answer === "string" ? question.values.indexOf(answer) : -1;
    return place < 0 ? question.values.length : place;
  }
  if (question.longest !== undefined) {
    const letters = typeof answer === "string" ? [...answer].slice(0, question.longest) : [];
    return letters.map((one) => (/^[\uD800-\uDFFF]$/.test(one) ? "\uFFFD" : one)).join("");
  }
  return exactPlace(question, answer);
};

const KEEPING = {
  permanent: (...given) => permanentReport(...given),
  rounded: (...given) => roundedReport(...given),
};

export const batchText = (version, reports, fill = secure) =>
  JSON.stringify({
    survey: version,
    token: hex(fill(new Uint8Array(16))),
    reports: reports.map((report) => btoa(Array.from(report, (byte) => String.fromCharCode(byte)).join(""))),
  });

// The version of a form: the SHA-256 of its JSON with sorted keys and no spaces.
export const versionOf = (form) =>
  hex(new Uint8Array(sha256(new TextEncoder().encode(plainJson(form))).buffer));

// With `pinned`, the version that somebody has looked at, a form that is not that very one is
// refused before anything is drawn, whatever would be answered.
export class SurveyDevice {
  constructor({ form, version }, memory, draws = new SecureDraws(), pinned = null) {
    if (pinned !== null && !(version === pinned && versionOf(form) === pinned)) {
      throw new Error("the survey is not the version that is pinned; nothing is reported");
    }
    Object.assign(this, { form, version, memory, draws });
  }

  // One report of all answers, or null if this device has made as many as it may.
  report(answers) {
    const counter = `reports ${this.form.name}`;
    const text = this.memory.getItem(counter) ?? "0";
    readable(/^[0-9]+$/.test(text));
    if (Number(text) >= this.form.reports) return null;
    this.memory.setItem(counter, String(Number(text) + 1));
    const parts = this.form.questions.map((question) => this.answered(question, answers));
    return Uint8Array.from(parts.flatMap((part) => [...part]));
  }

  // What is sent to the collector; it may be sent again until it is acknowledged.
  batch(answers) {
    const report = this.report(answers);
    return report === null ? null : batchText(this.version, [report]);
  }

  answered(question, answers) {
    const value = valueOf(question, answers);
    const keeping = KEEPING[question.keeps];
    if (keeping === undefined) return randomise(question.recipe, value, this.draws);
    // Answers that are kept are those to these very values: a version with others has its own.
    const told = question.values ?? question.longest ?? [question.min, question.step];
    const name = JSON.stringify([this.form.name, question.name, told]);
    return keeping(name, question.recipe, value, this.memory, this.draws);
  }
}
