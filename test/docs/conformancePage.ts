import { table } from './table.ts';

/** What came of one thing that was tried with a client. */
export interface ConformanceWall {
  readonly name: string;
  readonly title: string;
  readonly outcome: 'held' | 'detected' | 'missed' | 'untested';
  readonly after_ms?: number;
  readonly note?: string;
}

/** A client as `doctor --prove --json` found it. */
export interface ConformanceClient {
  readonly client: string;
  readonly title: string;
  readonly version: string;
  readonly ring: string;
  /** The day of the proof. */
  readonly day: string;
  readonly kernel: string;
  readonly walls: readonly ConformanceWall[];
}

/** The page about what held with each real client. */
export function conformancePage(clients: readonly ConformanceClient[]): string {
  const titles = new Map(
    clients.flatMap(({ walls }) => walls.map(({ name, title }) => [name, title] as const)),
  );
  const notes: string[] = [];
  const cell = (wall: ConformanceWall | undefined): string => {
    if (wall === undefined) return 'not run';
    const { outcome, after_ms = 0, note } = wall;
    const word = outcome === 'detected' ? `detected, ${(after_ms / 1000).toFixed(0)} s` : outcome;
    if (note === undefined) return word;
    if (!notes.includes(note)) notes.push(note);
    return `${word} (${notes.indexOf(note) + 1})`;
  };
  const rows = [...titles].map(([name, title]) => [
    title,
    ...clients.map(({ walls }) => cell(walls.find((wall) => wall.name === name))),
    'not run',
  ]);
  const head = ['tried', ...clients.map(({ title, version }) => `${title} ${version}`), 'Cursor'];
  const rings = ['**ring**', ...clients.map(({ ring }) => `\`${ring}\``), '`served`'];
  const days = ['proven on', ...clients.map(({ day }) => day), 'never'];
  return `# What held with real clients

Made by \`npm run conformance:clients\`, which installs the clients, attaches each by \`phasegate init\` to a project of its own, and takes what \`phasegate doctor --prove --json\` says of it: the real client with a scripted model, in a world of its own for each trial. \`held\`: it was refused. \`detected\`: it happened, and the run was parked or its phase could not be completed; the time is that from the start of the client to the end of the comparison, on a machine with two busy cores. \`untested\`: nothing can be said, and the note says why. Cursor cannot be started with a scripted model: its payloads are tested, its walls are not.

It says what held on one machine (${[...new Set(clients.map(({ kernel }) => kernel))].join('; ')}), with settings as \`init\` writes them. For yours, run \`phasegate doctor --prove\`; sessions have the ring \`hooked\` only by that. [What hooks do not hold](../limitations.md#with-hooks) is listed.

${table(head, [rings, days, ...rows]).join('\n')}
${notes.length === 0 ? '' : `\n${notes.map((note, at) => `${at + 1}. ${note}`).join('\n')}\n`}`;
}
