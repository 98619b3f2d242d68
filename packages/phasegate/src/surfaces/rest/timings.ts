/** How long things took, as a histogram that Prometheus reads. */
export interface Timings {
  /** Counts one. The label is one of few words of ours, never a caller's. */
  observe(label: string, seconds: number): void;
  /** Everything so far, in Prometheus' own format. */
  text(): string;
}

/** What a histogram is called, and what tells its series apart. */
export interface TimingName {
  readonly name: string;
  readonly help: string;
  /** The name of the label; null where there is one series alone. */
  readonly label: string | null;
  /** Upper ends in seconds, from the smallest on. */
  readonly ends: readonly number[];
}

/**
 * A histogram that costs a look into a map and an addition. The one of `prom-client` finds its series by a text that it
 * makes of all labels at each observation, which is more than judging a tool call takes.
 */
export function createTimings({ name, help, label, ends }: TimingName): Timings {
  const series = new Map<string, { readonly counts: Float64Array; sum: number }>();

  function lines(value: string, { counts, sum }: { readonly counts: Float64Array; readonly sum: number }) {
    const own = label === null ? [] : [`${label}="${value}"`];
    const named = own.length === 0 ? '' : `{${own.join(',')}}`;
    let total = 0;
    const buckets = [...ends.map(String), '+Inf'].map((end, index) => {
      total += counts[index] ?? 0;
      return `${name}_bucket{${[...own, `le="${end}"`].join(',')}} ${total}`;
    });
    return [...buckets, `${name}_sum${named} ${sum}`, `${name}_count${named} ${total}`];
  }

  return {
    observe(value, seconds) {
      let one = series.get(value);
      if (one === undefined) {
        one = { counts: new Float64Array(ends.length + 1), sum: 0 };
        series.set(value, one);
      }
      let index = 0;
      while (index < ends.length && seconds > (ends[index] as number)) index += 1;
      one.counts[index] = (one.counts[index] ?? 0) + 1;
      one.sum += seconds;
    },
    text() {
      const all = [...series].sort(([one], [other]) => (one < other ? -1 : 1));
      const body = all.flatMap(([value, counted]) => lines(value, counted));
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...body, ''].join('\n');
    },
  };
}
