/** What is known of a line that was too long to be kept. */
export interface DroppedLine {
  /** Its beginning and its end, as text. */
  readonly head: string;
  readonly tail: string;
}

/** Enough of a line to see which call it was. */
const KEPT = 1024;
const LINE_END = 0x0a;

/** Lines of a stream, counted while they come: one that is longer than the limit is dropped and never held whole. */
export class LimitedLines {
  readonly #limit: number;
  readonly #dropped: (line: DroppedLine) => void;
  #held: Buffer[] = [];
  #size = 0;
  #head = '';
  #tail = Buffer.alloc(0);

  constructor(limit: number, dropped: (line: DroppedLine) => void) {
    this.#limit = limit;
    this.#dropped = dropped;
  }

  /** The whole lines that end in this chunk, each with its end. */
  take(chunk: Buffer): readonly Buffer[] {
    const lines: Buffer[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, from)) {
      this.#add(chunk.subarray(from, end + 1));
      lines.push(...this.finish());
      from = end + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
    return lines;
  }

  /** What is held of a line that has not ended, as a line. */
  finish(): readonly Buffer[] {
    const [held, size] = [this.#held, this.#size];
    const dropped = { head: this.#head, tail: this.#tail.toString() };
    this.#held = [];
    this.#size = 0;
    if (size === 0) return [];
    if (size <= this.#limit) return [Buffer.concat(held)];
    this.#dropped(dropped);
    return [];
  }

  #add(part: Buffer): void {
    const isFirst = this.#size <= this.#limit;
    this.#size += part.length;
    if (this.#size <= this.#limit) {
      this.#held.push(part);
      return;
    }
    const whole = isFirst ? Buffer.concat([...this.#held, part]) : Buffer.concat([this.#tail, part]);
    if (isFirst) this.#head = whole.subarray(0, KEPT).toString();
    this.#tail = Buffer.from(whole.subarray(-KEPT));
    this.#held = [];
  }
}
