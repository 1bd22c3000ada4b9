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

const textBytes = (text) => {
  if (typeof text !== "string") throw new TypeError("a value is no text");
  if (/[\uD800-\uDFFF]/u.test(text)) throw new RangeError("a value is no text that UTF-8 can hold");
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

const parity = (word) => {
  let odd = 0;
  for (let rest = word; rest; rest &= rest - 1) odd ^= 1;
  return odd;
};

const SCHEMES = {
  k_ary({ categories, truth }, value, draws) {
    const held = known(value, categories);
    const tells = draws.coin(truth);
    const offset = 1 + draws.uniform(categories - 1);
    return wholeBytes(tells ? held : (held + offset) % categories, categories);
  },

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

export const randomise = (recipe, value, draws = new SecureDraws()) =>
  SCHEMES[recipe.kind](recipe, value, draws);

// RAPPOR with what the device keeps: its cohort, and the permanent response to each value.
// The store keeps texts and has get and set, like a Map. A response is drawn although one is kept,
// and dropped, so that what is drawn does not depend on values.
export const remembered = (question, recipe, value, store, draws = new SecureDraws()) => {
  const name = `rappor ${question} ${JSON.stringify(recipe)}`;
  const keep = (what, drawn) => {
    const found = store.get(`${name} ${what}`) ?? String(drawn);
    store.set(`${name} ${what}`, found);
    return found;
  };
  const basic = recipe.kind === "basic_rappor";
  const cohort = basic ? 0 : Number(keep("cohort", draws.uniform(recipe.cohorts)));
  const ones = basic ? new Set([known(value, recipe.bits)]) : bloom(recipe, value, cohort);
  const drawn = permanent(recipe, ones, draws).map((bit) => (bit ? "1" : "0")).join("");
  const response = [...keep(`response to ${value}`, drawn)].map((bit) => bit === "1");
  const told = instantaneous(recipe, response, draws);
  return basic ? told : Uint8Array.from([...wholeBytes(cohort, recipe.cohorts), ...told]);
};
