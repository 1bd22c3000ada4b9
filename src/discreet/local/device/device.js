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
  const isNumber = typeof answer === "number" && !Number.isNaN(answer);
  if (!isNumber && typeof answer !== "bigint") return missing;
  if (answer === Infinity || answer === -Infinity) return answer > 0 ? most : 0;
  const [minUp, minDown] = ratio(min);
  const [stepUp, stepDown] = ratio(step);
  const [up, down] = isNumber ? exactly(answer) : [answer, 1n];
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

// What is no answer, or cannot be read, counts as missing: a report is made all the same.
export const valueOf = (question, answers) => {
  const missing = placeOf(question, null);
  try {
    return Object.hasOwn(answers, question.name) ? placeOf(question, answers[question.name]) : missing;
  } catch {
    return missing;
  }
};

const placeOf = (question, answer) => {
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

// What a form makes a device tell at most, worked out from its recipes alone, as whole multiples of
// one part in 2**128, rounded up: the same numbers as those of the Python device. What cannot be
// judged is refused: unknown kinds, numbers out of range, answers that do not fit the scheme.

export const LOSS_UNIT = 2n ** 128n;

const WHOLE = BigInt(UNIT);
const MOST = 2 ** 31;

const judged = (good) => {
  if (!good) throw new Error("the survey has no loss that this device can bound; nothing is reported");
};

const over = (up, down) => (up + down - 1n) / down;

const artanhUp = (top, bottom) => {
  let power = over(top * LOSS_UNIT, bottom);
  const square = over(power * power, LOSS_UNIT);
  let total = 0n;
  for (let term = 0n; term < 45n; term += 1n) {
    total += over(power, 2n * term + 1n);
    power = over(power * square, LOSS_UNIT);
  }
  return 2n * (total + power);
};

const logUp = (up, down) => {
  if (up === down) return 0n;
  let [least, most] = up < down ? [up, down] : [down, up];
  judged(least > 0n);
  let doublings = 0n;
  while (most >= 2n * least) [least, doublings] = [2n * least, doublings + 1n];
  return doublings * artanhUp(1n, 3n) + artanhUp(most - least, most + least);
};

const whole = (found, name, least, most = MOST) => {
  judged(Number.isInteger(found[name]) && found[name] >= least && found[name] <= most);
  return found[name];
};

const coinOf = (recipe, name) => BigInt(whole(recipe, name, 0, UNIT));

const listOf = (list, isGood) => {
  judged(Array.isArray(list) && list.every(isGood));
  return list;
};

const isText = (value) => typeof value === "string";

const texts = (recipe, ...names) => judged(names.every((name) => isText(recipe[name])));

const rises = (list) => list.every((each, i) => i === 0 || list[i - 1] <= each);

const smaller = (one, two) => (one < two ? one : two);

const lossOfTruth = (recipe, others = 1) => {
  const truth = coinOf(recipe, "truth");
  return logUp(truth * BigInt(others), WHOLE - truth);
};

const lossOfBits = (recipe, hashes) => {
  const [f, p, q] = ["f", "p", "q"].map((name) => coinOf(recipe, name));
  judged(f % 2n === 0n);
  const lie = f / 2n;
  const one = (WHOLE - lie) * q + lie * p;
  const zero = lie * q + (WHOLE - lie) * p;
  return BigInt(hashes) * logUp(one * (WHOLE * WHOLE - zero), zero * (WHOLE * WHOLE - one));
};

// Of each kind: how many values there are (null for texts), and the loss of one report.
const LOSSES = {
  k_ary(recipe) {
    const categories = whole(recipe, "categories", 2);
    return [categories, lossOfTruth(recipe, categories - 1)];
  },
  unary(recipe) {
    const [held, other] = [coinOf(recipe, "held"), coinOf(recipe, "other")];
    const loss = logUp(held * (WHOLE - other), other * (WHOLE - held));
    return [whole(recipe, "categories", 2), loss];
  },
  local_hashing(recipe) {
    const others = 2 ** whole(recipe, "bits", 1, 16) - 1;
    return [whole(recipe, "categories", 2), lossOfTruth(recipe, others)];
  },
  subset_selection(recipe) {
    const categories = whole(recipe, "categories", 2);
    const truth = coinOf(recipe, "truth");
    const count = whole(recipe, "count", 1, categories - 1);
    const others = BigInt(categories - count);
    return [categories, logUp(truth * others, (WHOLE - truth) * BigInt(count))];
  },
  hadamard_sketch(recipe) {
    const maps = listOf(recipe.maps, (rows) => listOf(rows, Number.isInteger));
    judged(maps.length > 0 && maps.every((rows) => rows.length === maps[0].length));
    judged(maps[0].length >= 1 && maps[0].length <= 31);
    return [whole(recipe, "categories", 2), lossOfTruth(recipe)];
  },
  one_bit(recipe) {
    return [whole(recipe, "most", 1) + 1, lossOfTruth(recipe)];
  },
  window(recipe) {
    const [most, width] = [whole(recipe, "most", 1), whole(recipe, "width", 1)];
    const inside = coinOf(recipe, "inside");
    return [most + 1, logUp(inside * BigInt(most), (WHOLE - inside) * BigInt(width))];
  },
  hybrid(recipe) {
    const wide = whole(recipe, "wide", 0, UNIT);
    const parts = [...(wide > 0 ? ["window"] : []), ...(wide < UNIT ? ["one_bit"] : [])];
    const found = parts.map((part) => LOSSES[part](recipe));
    return [found[0][0], found.reduce((most, [, loss]) => (loss > most ? loss : most), 0n)];
  },
  local_laplace(recipe) {
    const [most, decay] = [whole(recipe, "most", 1), BigInt(whole(recipe, "decay", 2))];
    return [most + 1, BigInt(most) * logUp(decay, decay - 1n)];
  },
  d_bit_flip(recipe) {
    const buckets = whole(recipe, "buckets", 2);
    const told = Math.min(2, whole(recipe, "bits", 1, buckets));
    return [buckets, BigInt(told) * lossOfTruth(recipe)];
  },
  table(recipe) {
    const rows = listOf(recipe.rows, (cuts) => listOf(cuts, Number.isInteger));
    const ends = rows.map((cuts) => [0, ...cuts, UNIT]);
    judged(ends.length > 0 && ends.every((row) => row.length === ends[0].length && rises(row)));
    const losses = ends[0].slice(1).map((_, place) => {
      const weights = ends.map((row) => BigInt(row[place + 1] - row[place]));
      const least = weights.reduce(smaller);
      return logUp(weights.reduce((one, two) => (one > two ? one : two)), least);
    });
    return [ends.length, losses.reduce((one, two) => (one > two ? one : two))];
  },
  rappor(recipe) {
    ["bits", "cohorts"].forEach((name) => whole(recipe, name, 1));
    texts(recipe, "salt");
    return [null, lossOfBits(recipe, whole(recipe, "hashes", 1))];
  },
  basic_rappor(recipe) {
    return [whole(recipe, "bits", 2), lossOfBits(recipe, 1)];
  },
  words(recipe) {
    const lengths = listOf(recipe.lengths, Number.isInteger);
    judged(lengths.length > 0 && rises(lengths) && lengths[0] >= 1);
    whole(recipe, "buckets", 1);
    texts(recipe, "salt", "alphabet");
    return [null, lossOfTruth(recipe)];
  },
};

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

const RATIO = /^-?[0-9]{1,400}(\/[1-9][0-9]{0,399})?$/;

// How many values the answers of a question have; null for texts.
const answersOf = (question) => {
  if (question.values !== undefined) return listOf(question.values, isText).length + 1;
  if (question.longest !== undefined) return whole(question, "longest", 1) && null;
  judged(["min", "step"].every((name) => isText(question[name]) && RATIO.test(question[name])));
  judged(ratio(question.step)[0] > 0n);
  const most = whole(question, "most", 1);
  whole(question, "default", 0, most);
  return most + 1;
};

const lossOfQuestion = (question, reports) => {
  judged(isObject(question) && isText(question.name) && isObject(question.recipe));
  const { recipe, keeps } = question;
  judged(["no", "permanent", "rounded"].includes(keeps));
  judged(isText(recipe.kind) && Object.hasOwn(LOSSES, recipe.kind));
  const [values, loss] = LOSSES[recipe.kind](recipe);
  judged(values === answersOf(question));
  if (keeps === "rounded") judged(recipe.most !== undefined && question.most !== undefined);
  const kept = keeps === "rounded" ? 2 : keeps === "permanent" ? (values ?? reports) : reports;
  return loss * BigInt(Math.min(reports, kept));
};

export const lossOfForm = (form) => {
  const reports = whole(form, "reports", 0);
  judged(isText(form.name) && Array.isArray(form.questions));
  return form.questions.reduce((sum, question) => sum + lossOfQuestion(question, reports), 0n);
};

// With `pinned`, the version that somebody has looked at, a form that is not that very one is
// refused before anything is drawn, whatever would be answered. With `mostEpsilon`, so is a form
// whose reports could lose more than that together with all other forms of this memory.
export class SurveyDevice {
  constructor(
    { form, version },
    memory,
    draws = new SecureDraws(),
    pinned = null,
    mostEpsilon = null,
  ) {
    if (pinned !== null && !(version === pinned && versionOf(form) === pinned)) {
      throw new Error("the survey is not the version that is pinned; nothing is reported");
    }
    Object.assign(this, { form, version, memory, draws, mostEpsilon });
    if (mostEpsilon === null) return;
    if (!(Number.isFinite(mostEpsilon) && mostEpsilon >= 0)) {
      throw new RangeError("the most that a device may tell is no number of 0 or more");
    }
    this.allowed();
  }

  // The losses of all forms of this memory, this one included; or an error.
  allowed() {
    const text = this.memory.getItem("losses") ?? "{}";
    let losses = null;
    try {
      losses = JSON.parse(text);
    } catch {
      // It is not repeated, and refused below.
    }
    readable(isObject(losses));
    readable(Object.values(losses).every((parts) => isText(parts) && /^[0-9]{1,4000}$/.test(parts)));
    if (this.made() > 0 && !Object.keys(losses).some((one) => one.slice(65) === this.form.name)) {
      throw new Error("reports were made before they were counted; nothing is reported");
    }
    const name = `${versionOf(this.form)} ${this.form.name}`;
    const all = { ...losses, [name]: String(lossOfForm(this.form)) };
    const total = Object.values(all).reduce((sum, parts) => sum + BigInt(parts), 0n);
    const [up, down] = exactly(this.mostEpsilon);
    if (total * down > up * LOSS_UNIT) {
      throw new Error("the survey tells more than this device allows; nothing is reported");
    }
    return all;
  }

  made() {
    const text = this.memory.getItem(`reports ${this.form.name}`) ?? "0";
    readable(/^[0-9]+$/.test(text));
    return Number(text);
  }

  // One report of all answers, or null if this device has made as many as it may.
  report(answers) {
    const made = this.made();
    if (made >= this.form.reports) return null;
    if (this.mostEpsilon !== null) this.memory.setItem("losses", plainJson(this.allowed()));
    this.memory.setItem(`reports ${this.form.name}`, String(made + 1));
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
    const keeping = Object.hasOwn(KEEPING, question.keeps) ? KEEPING[question.keeps] : undefined;
    if (keeping === undefined) return randomise(question.recipe, value, this.draws);
    // Answers that are kept are those to these very values: a version with others has its own.
    const told = question.values ?? question.longest ?? [question.min, question.step];
    const name = JSON.stringify([this.form.name, question.name, told]);
    return keeping(name, question.recipe, value, this.memory, this.draws);
  }
}
