import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Shorter lines say nothing that only one phase could say. */
const SHORTEST = 20;

/** Every line of a phase's files that stands nowhere in another phase's, by phase: what only who reached it may know. */
export function sentencesOf(phasesFolder: string): ReadonlyMap<number, readonly string[]> {
  const texts = new Map<number, string>();
  const lines = new Map<number, ReadonlySet<string>>();
  for (const entry of readdirSync(phasesFolder, { withFileTypes: true })) {
    if (!/^\d+$/.test(entry.name)) continue;
    const folder = join(phasesFolder, entry.name);
    const files = readdirSync(folder).map((name) => ({
      name,
      text: readFileSync(join(folder, name), 'utf8'),
    }));
    const own = files.flatMap(({ name, text }) =>
      text.split('\n').map(name.endsWith('.yaml') ? described : plain),
    );
    texts.set(Number(entry.name), files.map(({ text }) => text).join('\n'));
    lines.set(Number(entry.name), new Set(own.filter((line) => line.length >= SHORTEST)));
  }
  const elsewhere = (line: string, phase: number) =>
    [...texts].some(([other, text]) => other !== phase && text.includes(line));
  return new Map(
    [...lines].map(([phase, own]) => [phase, [...own].filter((line) => !elsewhere(line, phase))] as const),
  );
}

/** A line as an answer would have it; a row of a table by its last cell. */
function plain(line: string): string {
  return line.startsWith('|') ? (line.split('|').at(-2) ?? '').trim() : line.trim();
}

/** What an agent reads of a gate. */
function described(line: string): string {
  return /^\s+(?:description|message): (.*)$/.exec(line)?.[1] ?? '';
}
