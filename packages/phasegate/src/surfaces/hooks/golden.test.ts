import { readdirSync, readFileSync } from 'node:fs';
import type { Json, JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import type { HookClient, HookEvent } from '../../runtime/ports.ts';
import { isFault } from './adapter.ts';
import { ADAPTERS } from './adapters.ts';
import { openHookBed } from './fixtures/hookBed.ts';
import { trueCaller } from './trueCaller.ts';

interface Golden {
  readonly client: HookClient;
  readonly version: string;
  readonly events: readonly {
    readonly payload: JsonObject;
    readonly event: HookEvent['event'];
    readonly uses?: Json;
    readonly kind?: string;
  }[];
  readonly answers: Readonly<Record<'deny' | 'stop' | 'start', JsonObject>>;
}

const FOLDER = new URL('./fixtures/golden/', import.meta.url);
const FILES = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));

function read(name: string, root = '/project'): Golden {
  const text = readFileSync(new URL(`${name}.json`, FOLDER), 'utf8');
  return JSON.parse(text.replaceAll('<PROJECT>', root)) as Golden;
}

describe.each(FILES)('%s', (name) => {
  test('its events are understood, and its calls come to contract tools [adv.E5]', () => {
    const { client, events } = read(name);
    for (const { payload, event, uses, kind } of events) {
      const found = ADAPTERS[trueCaller(client, payload)].read(payload);
      if (isFault(found)) throw new Error(`${found.fault}: ${JSON.stringify(payload)}`);
      expect(found).toMatchObject({ event, cwd: '/project' });
      if (uses !== undefined) expect(found.tool?.uses).toEqual(uses);
      expect(found.tool?.kind).toBe(kind ?? (uses === undefined ? undefined : 'judged'));
    }
  });

  test('it is told in its own words: a call refused, to go on, where it stands', async () => {
    const bed = openHookBed();
    const { client, events, answers } = read(name, bed.root);
    await bed.start();
    const answerTo = async (wanted: (one: Golden['events'][number]) => boolean) => {
      const one = events.find(wanted);
      if (one === undefined) throw new Error('no such event');
      return bed.raw(client, one.payload);
    };
    const refused = await answerTo(({ uses }) => JSON.stringify(uses ?? '').includes('src/'));
    expect(plain(refused)).toEqual(answers.deny);
    expect(JSON.stringify(refused)).toMatch(/may not write `src\/|`bash` is not allowed/);
    expect(plain(await answerTo(({ event }) => event === 'stop'))).toEqual(answers.stop);
    expect(plain(await answerTo(({ event }) => event === 'session_start'))).toEqual(answers.start);
  });

  test('what cannot be read is refused in its words', async () => {
    const bed = openHookBed();
    const { client, events } = read(name, bed.root);
    const before = events.find(({ event }) => event === 'before_tool')?.payload ?? {};
    const without = (...names: readonly string[]) =>
      Object.fromEntries(Object.entries(before).filter(([key]) => !names.includes(key)));
    const bad: readonly Json[] = [
      'not JSON',
      without('session_id', 'sessionId', 'conversation_id', 'sessionID'),
      without('cwd', 'directory', 'workspace_roots'),
      without('tool_name', 'toolName', 'tool'),
      without('tool_input', 'toolArgs', 'args'),
    ];
    for (const payload of bad) {
      const text = JSON.stringify(await bed.raw(client, payload));
      expect(text).toContain('could not be judged');
      expect(text).toMatch(/"(?:permissionDecision|permission|decision)":"(?:deny|block)"/);
    }
  });

  test('a tool of another version is refused with the next action, and fields of one change nothing', async () => {
    const bed = openHookBed();
    const { client, events } = read(name, bed.root);
    await bed.start();
    const before = events.find(({ event }) => event === 'before_tool')?.payload ?? {};
    const named = ['tool_name', 'toolName', 'tool'].filter((key) => Object.hasOwn(before, key));
    const other = Object.fromEntries(named.map((key) => [key, 'writeEverywhere']));
    const later = { schema_version: 9, later_input: { path: '/etc/passwd' }, ...before, ...other };
    const text = JSON.stringify(await bed.raw(client, later));
    expect(text).toContain('`writeEverywhere` is not a tool Phasegate knows');
    expect(text).toContain('Next: ');
  });
});

/** The answer with what its texts say left out. */
function plain(answer: JsonObject): Json {
  const name = (text: string) =>
    /is not finished|and not finished/.test(text)
      ? '<GO_ON>'
      : text.startsWith('[phasegate]')
        ? '<DENIAL>'
        : '<CARD>';
  const replaced = (value: Json): Json => {
    if (typeof value === 'string') return value.length > 40 ? name(value) : value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one as Json)]));
  };
  return replaced(answer);
}
