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

const SCHEMES = { ...FREQUENCY };

export const randomise = (recipe, value, draws = new SecureDraws()) =>
  SCHEMES[recipe.kind](recipe, value, draws);
