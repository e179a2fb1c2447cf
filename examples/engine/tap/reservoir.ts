/** Characters that one reservoir holds; what has no room is left out. */
const MAX_CHARS = 16 * 1024 * 1024;

interface Kept {
  order: number;
  text: string;
}

/** A fair choice of at most `limit` of the events that were offered since the last `take`, in their order. */
export class Reservoir {
  readonly #limit: number;
  readonly #random: () => number;
  #kept: Kept[] = [];
  #seen = 0;
  #chars = 0;

  constructor(limit: number, random: () => number = Math.random) {
    this.#limit = limit;
    this.#random = random;
  }

  /** Asks for the event's text only where the event is chosen, so that a flood costs little. */
  offer(render: () => string): void {
    const order = this.#seen;
    this.#seen += 1;
    if (this.#kept.length < this.#limit) {
      this.#keep(this.#kept.length, { order, text: render() });
      return;
    }
    const place = Math.floor(this.#random() * this.#seen);
    if (place < this.#limit) this.#keep(place, { order, text: render() });
  }

  take(): string[] {
    const lines = this.#kept.sort((a, b) => a.order - b.order).map(({ text }) => text);
    this.#kept = [];
    this.#seen = 0;
    this.#chars = 0;
    return lines;
  }

  #keep(place: number, entry: Kept): void {
    const chars = this.#chars + entry.text.length - (this.#kept[place]?.text.length ?? 0);
    if (chars > MAX_CHARS) return;
    this.#chars = chars;
    this.#kept[place] = entry;
  }
}
