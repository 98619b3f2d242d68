/** Within a server that is profiled: a signal begins a profile, the next one ends it and writes it down. */
import { writeFileSync } from 'node:fs';
import { type Profiling, profiling } from './profiled.ts';

let under: Promise<Profiling> | undefined;

process.on('SIGUSR2', () => {
  const before = under;
  if (before === undefined) {
    under = profiling();
    return;
  }
  under = undefined;
  const file = process.env.BENCH_PROFILE_FILE ?? '';
  before
    .then((profile) => profile.end())
    .then((ended) => writeFileSync(file, JSON.stringify(ended)))
    .catch((error: unknown) => writeFileSync(file, JSON.stringify({ failed: String(error) })));
});
