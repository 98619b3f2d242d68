/** Turns offsets of a text into lines and columns, both counted from 1. */
export class Lines {
  readonly #starts: readonly number[];

  constructor(text: string) {
    const starts = [0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#starts = starts;
  }

  at(offset: number): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.max(0, offset - (this.#starts[low] as number)) + 1 };
  }

  /** The offset at which a line begins. */
  start(line: number): number {
    return this.#starts[Math.min(Math.max(line, 1), this.#starts.length) - 1] as number;
  }
}
