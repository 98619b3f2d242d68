/**
 * What a hook adds to one tool call inside the real Claude Code: none, a hook server that answers at once, ours over
 * HTTP, ours as the program that `phasegate init` writes, and a bare `node` that prints `{}`. Each round has one session
 * of every kind, in turn, so that a busy machine is busy for each; the model is scripted and reads one file after the
 * other. Only the hook before a tool is set, and the first calls of a session are not counted.
 *
 *   npm run bench:hooks [-- ROUNDS]
 */
import { rmSync } from 'node:fs';
import { installClients } from '../test/clients/installClients.ts';
import { openPlace } from './hooks/place.ts';
import { median, print } from './transitions/measure.ts';

const CALLS = 20;
const UNCOUNTED = 3;
const rounds = Number(process.argv[2] ?? 5);
const { bin, missing } = installClients(['claude']);
if (missing.length > 0) {
  console.error(`Claude Code cannot be installed: ${missing[0]?.why}`);
  process.exit(3);
}

const place = await openPlace(bin);
const times = new Map<string, number[]>(place.kinds.map(({ name }) => [name, []]));
try {
  for (let round = 0; round < rounds; round++) {
    for (const { name, hook } of place.kinds) {
      const took = await place.session(hook, CALLS + UNCOUNTED);
      times.get(name)?.push(...took.slice(UNCOUNTED));
    }
  }
} finally {
  await place.close();
  rmSync(place.folder, { recursive: true, force: true });
}

const none = median(times.get('none') ?? []);
const added = (name: string) => median(times.get(name) ?? []) - none;
print(`one tool call inside Claude Code, ${rounds} sessions of ${CALLS} calls each; medians`);
for (const { name } of place.kinds) {
  const all = times.get(name) ?? [];
  print(
    `${name.padEnd(32)}${median(all).toFixed(1).padStart(8)} ms  added ${added(name).toFixed(1).padStart(7)} ms`,
  );
}
const http =
  median(times.get('ours over HTTP') ?? []) / median(times.get('a server that answers at once') ?? []);
const command = added('ours as init writes it') / added('a bare node');
print(`ours over HTTP is ${http.toFixed(2)} times a server that answers at once (aim: 1.2)`);
print(`ours as init writes it adds ${command.toFixed(2)} times what a bare node adds (aim: 0.4)`);
