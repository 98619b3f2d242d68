/** What the long tier consists of, by the name its result is kept under. */
export const PARTS = {
  seeds: 'Random faults and seeds, ten times as many as before a change counts',
  conformance: 'The official conformance suite of MCP, which is a client of our server',
  clients: 'A real client, attached by what `init` wrote, completes the first phase',
} as const;

/** How one part ended. */
export interface LongPart {
  readonly result: 'passed' | 'failed' | 'not available' | 'not run';
  readonly detail: string;
  readonly minutes: number;
}

/** The last run of the long tier. */
export interface LongRecord {
  /** Null where it was not run yet. */
  readonly date: string | null;
  readonly commit: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly parts: Readonly<Record<string, LongPart>>;
}

/** The page about the last run of the long tier. */
export function longPage({ date, commit, versions, parts }: LongRecord): string {
  const rows = Object.entries(PARTS).map(([name, about]) => {
    const { result, detail, minutes } = parts[name] ?? { result: 'not run', detail: '', minutes: 0 };
    return `| ${about} | ${result} | ${detail} | ${minutes} |`;
  });
  const when =
    date === null
      ? 'It was not run yet.'
      : `Last run on ${date} at commit \`${commit}\` with ${Object.entries(versions)
          .map(([name, version]) => `${name} ${version}`)
          .join(', ')}.`;
  return `# The long tests

Made by \`npm run test:long\`, which takes hours and is run now and then, not on every change. What is not available where it
is run is named here and does not count as passed.

${when}

| part | result | | minutes |
|---|---|---|---|
${rows.join('\n')}
`;
}
