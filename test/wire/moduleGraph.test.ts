import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeProject, PROGRAM, phasegate } from '../e2e/cli.ts';
import { arrowsOf } from '../layers/arrowsOf.ts';
import { readHouse } from '../layers/layers.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const run = promisify(execFile);
const SCHEMAS = /packages\/wire\/(?:src|dist)\/schemas\/|\/zod|\/hono/;

test('nothing that the SDK imports, however far, is a schema', () => {
  const house = readHouse(ROOT);
  const { arrows } = arrowsOf(house);
  const values = arrows.filter(({ kind }) => kind === 'value');
  const seen = new Set(['packages/sdk/src/index.ts', 'packages/sdk/src/testing/index.ts']);
  for (const from of seen) for (const { from: file, to } of values) if (file === from) seen.add(to);

  expect([...seen].some((file) => file.startsWith('packages/wire/src/'))).toBe(true);
  expect([...seen].filter((file) => SCHEMAS.test(file))).toEqual([]);
});

test('what the SDK carries of the wire are its encoders and decoders, and no schema', () => {
  const carried = readdirSync(join(ROOT, 'packages/sdk/dist/wire'), { recursive: true, encoding: 'utf8' });
  const plain = readdirSync(join(ROOT, 'packages/wire/src')).filter((name) => /(?<!\.test)\.ts$/.test(name));

  expect(carried.filter((name) => name.endsWith('.js')).sort()).toEqual(
    plain.map((name) => name.replace('.ts', '.js')).sort(),
  );
  const imports = carried
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [
      ...readFileSync(join(ROOT, 'packages/sdk/dist/wire', name), 'utf8').matchAll(/from '([^.'][^']*)'/g),
    ]);
  expect(new Set(imports.map(([, specifier]) => specifier))).toEqual(new Set(['@phasegate/core']));
});

test('completing a phase loads no schema', async () => {
  const project = makeProject({
    'a.workflow.yaml': 'workflow: a\nphases:\n  ONE: { instructions: Do it., writes: [], next: null }\n',
  });
  const started = await phasegate(project, ['start', 'a', '--json']);
  const words = [PROGRAM, 'done', String(started.json.run), '--json'];

  const done = await run(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(TOLD)}`, ...words],
    {
      cwd: project.root,
      env: project.env,
    },
  );

  const loaded = done.stderr.split('\n').filter((line) => line.startsWith('loaded '));
  expect(JSON.parse(done.stdout)).toMatchObject({ workflow_complete: true });
  expect(loaded.length).toBeGreaterThan(1);
  expect(loaded.filter((line) => SCHEMAS.test(line))).toEqual([]);
});

/** Says every module and every family that is loaded. */
const TOLD = `
import { registerHooks } from 'node:module';
const fs = process.getBuiltinModule('node:fs');
const { readFileSync } = fs;
fs.readFileSync = (path, ...rest) => {
  if (/\\/dist\\/cli\\/[^/]+$/.test(path)) process.stderr.write('loaded ' + path + '\\n');
  return readFileSync(path, ...rest);
};
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) process.stderr.write('loaded ' + url + '\\n');
    return nextLoad(url, context);
  },
});`;
