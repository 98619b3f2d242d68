import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { serve } from '../../packages/phasegate/src/surfaces/cli/commands/serve.ts';
import { worker } from '../../packages/phasegate/src/surfaces/cli/commands/worker.ts';

interface Service {
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

const text = readFileSync(new URL('../../docs/deploy/compose.yaml', import.meta.url), 'utf8');
const compose = parse(text, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly secrets: object;
  readonly networks: object;
};

test('the example for compose says that it was not run, and all it names is declared', () => {
  expect(text).toContain('NOT RUN');
  for (const [name, service] of Object.entries(compose.services)) {
    const { volumes = [], secrets = [], networks = [], depends_on = {} } = service;
    const named = volumes.map((volume) => volume.split(':')[0] ?? '').filter((from) => !from.startsWith('.'));
    expect(Object.keys(compose.volumes), name).toEqual(expect.arrayContaining(named));
    expect(Object.keys(compose.secrets), name).toEqual(expect.arrayContaining([...secrets]));
    expect(Object.keys(compose.networks), name).toEqual(expect.arrayContaining([...networks]));
    expect(Object.keys(compose.services), name).toEqual(expect.arrayContaining(Object.keys(depends_on)));
  }
});

test('its nodes differ in their state alone, and its commands have the options they are given', () => {
  const { 'node-1': one, 'node-2': two, worker: third } = compose.services;
  expect(JSON.stringify(two).replaceAll('state-2', 'state-1')).toBe(JSON.stringify(one));
  for (const [command, service] of [
    [serve, one],
    [worker, third],
  ] as const) {
    const words = service?.command ?? [];
    const end = words.indexOf('--');
    const given = words
      .slice(1, end < 0 ? words.length : end)
      .map((word) => word.replace(/^--/, '').replace(/=.*/, ''));
    expect([...Object.keys(command.options), 'url']).toEqual(expect.arrayContaining(given));
  }
});
