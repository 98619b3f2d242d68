import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIXTURE, type Made, type Place } from './fixture.ts';

/** Puts names in place of what differs from one asking to the next: paths, ports, new ids, and the running program. */
export type Normalise = (value: unknown) => unknown;

/** Builds it for one place. New ids are numbered as they come, so that two answers about one run still show it. */
export function normaliseFor(place: Place, made: Made): Normalise {
  const names = new Map<string, string>();
  for (const [name, id] of Object.entries(made.runs)) names.set(id, `<run ${name}>`);
  const recorded = readFileSync(join(FIXTURE, 'audit.jsonl'), 'utf8');
  const numbered = (kind: string) => {
    let count = 0;
    return (found: string) => {
      const name = names.get(found) ?? `<new ${kind} ${++count}>`;
      names.set(found, name);
      return name;
    };
  };
  const patterns: readonly (readonly [RegExp, (found: string) => string])[] = [
    [/\brun-[0-9a-f]{20}\b/g, numbered('run')],
    [/\breceipt-[0-9a-f]{20}\b/g, numbered('receipt')],
    [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, numbered('token')],
    [/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, numbered('id')],
    [/http:\/\/127\.0\.0\.1:\d{4,5}/g, () => '<server>'],
  ];
  const inText = (text: string) => {
    const placed = text
      .replaceAll(place.stateDir, '<state>')
      .replaceAll(place.root, '<project>')
      .replaceAll(place.base, '<base>')
      .replaceAll(process.versions.node, '<node>')
      .replaceAll(process.versions.sqlite ?? '<sqlite>', '<sqlite>');
    return patterns.reduce((all, [pattern, name]) => all.replaceAll(pattern, name), placed);
  };
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') {
      // A record that was made by asking has another hash each time; those of the fixture have not.
      const fresh = LINKS.has(key) && !recorded.includes(value);
      return fresh || BY_CHANCE.has(key) ? `<${key}>` : inText(value);
    }
    if (typeof value === 'number') return MEASURED.has(key) ? `<${key}>` : value;
    if (Array.isArray(value))
      return value.filter((item) => !isOfMachine(item)).map((item) => walk(item, key));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [inText(name), walk(item, name)]));
  };
  return (value) => walk(value, '');
}

/** What `doctor` finds about the machine and not about the project: whether bubblewrap works here. */
function isOfMachine(item: unknown): boolean {
  return item !== null && typeof item === 'object' && 'status' in item && Object(item).name === 'sandbox';
}

/** Another each time it is asked for. */
const BY_CHANCE: ReadonlySet<string> = new Set(['session', 'signature', 'key', 'secret']);
/** What a record of the audit is linked by. */
const LINKS: ReadonlySet<string> = new Set(['prev', 'hash']);
/** Measured, of the process that answers, or of the moment: how much the newest signed head has yet to cover. */
const MEASURED: ReadonlySet<string> = new Set([
  'pid',
  'ms',
  'duration_ms',
  'duration',
  'query_time_ms',
  'unanchored',
]);
