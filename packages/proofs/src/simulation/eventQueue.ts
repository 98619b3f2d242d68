/** What happens when: the earliest first, and of those at the same time the one that was put in first. */
export class EventQueue<T> {
  readonly #heap: { readonly at: number; readonly order: number; readonly event: T }[] = [];
  #order = 0;

  put(at: number, event: T): void {
    const heap = this.#heap;
    heap.push({ at, order: this.#order++, event });
    for (let place = heap.length - 1; place > 0; ) {
      const above = (place - 1) >> 1;
      if (!this.#before(place, above)) break;
      this.#swap(place, above);
      place = above;
    }
  }

  take(): { readonly at: number; readonly event: T } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let least = place;
      if (left < heap.length && this.#before(left, least)) least = left;
      if (right < heap.length && this.#before(right, least)) least = right;
      if (least === place) return first;
      this.#swap(place, least);
      place = least;
    }
  }

  #before(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap;
    const kept = heap[one];
    const moved = heap[other];
    if (kept === undefined || moved === undefined) return;
    heap[one] = moved;
    heap[other] = kept;
  }
}
