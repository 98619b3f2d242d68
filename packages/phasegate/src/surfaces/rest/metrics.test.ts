import { readFileSync } from 'node:fs';
import { PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';
import { createTimings } from './timings.ts';

const DASHBOARD = new URL('../../../../../docs/deploy/grafana.json', import.meta.url);
const RUNBOOK = new URL('../../../../../docs/guide/runbook.md', import.meta.url);

describe('a histogram', () => {
  test('counts each value below the first end that it does not pass, and all in the last', () => {
    const timings = createTimings({ name: 'wait', help: 'how long', label: 'route', ends: [0.1, 1] });
    for (const seconds of [0.05, 0.1, 0.5, 7]) timings.observe('/a', seconds);

    expect(timings.text().split('\n')).toEqual([
      '# HELP wait how long',
      '# TYPE wait histogram',
      'wait_bucket{route="/a",le="0.1"} 2',
      'wait_bucket{route="/a",le="1"} 3',
      'wait_bucket{route="/a",le="+Inf"} 4',
      'wait_sum{route="/a"} 7.65',
      'wait_count{route="/a"} 4',
      '',
    ]);
  });
});

describe('the metrics of a server', () => {
  test('tell how long answers took by route, and name no run, no agent and nothing of a request', async () => {
    const door = openDoor();
    await door.app.request('/api/v1/runs/run-of-somebody', { headers: await door.agent('ada') });
    await door.app.request('/healthz?of=somebody');

    const text = await (await door.app.request('/metrics')).text();

    expect(text).toMatch(/phasegate_http_request_seconds_bucket\{route="\/healthz",le="\+Inf"\} 1/);
    expect(text).toMatch(/phasegate_http_request_seconds_count\{route="\/api\/v1\/runs\/:\w+"\} 1/);
    expect(text).toMatch(/phasegate_build_info\{version="\d[^"]*",node="v\d[^"]*"\} 1/);
    expect(text).not.toMatch(/somebody|ada/);
  });

  test('are counted once for all who ask at the same time: no credential is needed, and the store is asked', async () => {
    let counted = 0;
    const door = openDoor({
      wrap: (project) => ({
        ...project,
        countRuns: () => {
          counted += 1;
          return project.countRuns();
        },
      }),
    });

    const answers = await Promise.all(Array.from({ length: 50 }, () => door.app.request('/metrics')));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(counted).toBeLessThanOrEqual(2);
  });

  test('are there while the store is away: what it would have said is left out, and its faults are counted', async () => {
    let away = false;
    const unlessAway = async <T>(look: () => Promise<T>): Promise<T> => {
      if (away) throw new PhasegateError('store_unavailable', 'it is away');
      return look();
    };
    const door = openDoor({
      wrap: (project) => ({
        ...project,
        countRuns: () => unlessAway(() => project.countRuns()),
        claims: { ...project.claims, countLeases: () => unlessAway(() => project.claims.countLeases()) },
      }),
    });
    const ask = async () => (await door.app.request('/metrics')).text();

    expect(await ask()).toMatch(/^phasegate_leases 0$/m);
    away = true;
    // A fault that is met while somebody asks is told to the next one.
    await ask();
    const without = await ask();
    expect(without).not.toMatch(/^phasegate_(?:leases|runs)[ {]/m);
    expect(without).toMatch(/^phasegate_store_errors_total\{code="store_unavailable"\} [234]$/m);
    away = false;
    expect(await ask()).toMatch(/^phasegate_leases 0$/m);
  });
});

test.each([
  ['the dashboard', DASHBOARD],
  ['the runbook', RUNBOOK],
])('%s names no metric and no route that a server does not have', async (_what, file) => {
  const door = openDoor();
  const text = await (await door.app.request('/metrics')).text();
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));

  const page = readFileSync(file, 'utf8');
  const named = [...page.matchAll(/\b(?:phasegate|process)_[a-z_]+(?=[{[)`, ]|$)/gm)].map(([name]) => name);

  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.has(name.replace(/_bucket$/, '')))).toEqual([]);
});

test('the dashboard is JSON that Grafana takes: panels with a place, a title and questions', () => {
  const { panels, title, schemaVersion } = JSON.parse(readFileSync(DASHBOARD, 'utf8'));

  expect({ title, schemaVersion }).toEqual({ title: 'Phasegate', schemaVersion: 39 });
  const ids = panels.map(({ id }: { id: number }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { title: name, gridPos, targets } of panels) {
    expect(name).toMatch(/\w/);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (const { expr } of targets) expect(expr.length).toBeGreaterThan(0);
  }
});
