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

const SCHEMES = {
  k_ary({ categories, truth }, value, draws) {
    const held = known(value, categories);
    const tells = draws.coin(truth);
    const offset = 1 + draws.uniform(categories - 1);
    return wholeBytes(tells ? held : (held + offset) % categories, categories);
  },
};

export const randomise = (recipe, value, draws = new SecureDraws()) =>
  SCHEMES[recipe.kind](recipe, value, draws);
