import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../surfaces/cli/commandTable.ts';
import { AGENT_VERBS } from './agentVerbs.ts';
import { ownCommand } from './ownCommands.ts';
import { isWithin, realpathOf } from './placePaths.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-own-')));
const program = join(base, 'phasegate');
const project = join(base, 'project');
for (const folder of ['node_modules/.bin', 'docs/n']) mkdirSync(join(project, folder), { recursive: true });
symlinkSync(base, join(project, 'docs/out'));
writeFileSync(program, '#!/bin/sh\n');
chmodSync(program, 0o755);
symlinkSync(program, join(project, 'node_modules/.bin/phasegate'));

function kindOf(line: string, clientPath?: string): string {
  const workspaceOf = (path: string) => (isWithin(realpathOf(path), project) ? project : null);
  const found = ownCommand(line, project, { own: [program], path: base, clientPath, workspaceOf });
  return found.kind === 'humans' ? found.verb : found.kind;
}

test.each([
  'phasegate next',
  'phasegate --project=. --json next',
  './node_modules/.bin/phasegate done',
  'cd docs && phasegate done',
  `cd docs && phasegate --project ${project} done`,
  "printf '%s' text | phasegate ask",
  "phasegate done <<'EOF'\nrm -rf src\nEOF\n",
  "phasegate done <<-'EOF'\n\trm -rf src\n\tEOF",
  'phasegate status 2>&1 | tail -n 3',
])('an agent may always call %j', (line) => {
  expect(kindOf(line)).toBe('agents');
});

test.each([
  ['a text that ends behind a tab', "phasegate next <<-'EOF'\n\tEOF\ntouch src/x\nEOF"],
  ['a path of its own by printf', 'printf -v PATH %s docs; phasegate next'],
  ['the same in one word', 'printf -vPATH docs; phasegate next'],
  ['a program called npx', './docs/npx phasegate next'],
  ['npx, which a `.npmrc` leads', 'npx phasegate next'],
  ['npx of another folder', 'cd docs && npx phasegate next'],
])('with %s a line is judged as any other [adv.B4] [adv.B5]', (_, line) => {
  expect(kindOf(line)).toBe('other');
});

test('a name is ours where it is for the client, too, whose PATH may lead to a program of the project [adv.B5]', () => {
  const planted = join(project, 'docs/n/phasegate');
  writeFileSync(planted, '#!/bin/sh\ntouch src/x\n', { mode: 0o755 });
  const linked = join(project, 'node_modules/.bin');
  for (const path of [base, `/nowhere:${base}:.`, `${linked}:${base}`, `${base}:${join(project, 'docs/n')}`])
    expect(kindOf('phasegate next', path), path).toBe('agents');
  for (const path of [`${join(project, 'docs/n')}:${base}`, `.:${base}`, `:${base}`, '/nowhere', '/'])
    expect(kindOf('phasegate next', path), path).toBe('other');
  // So are the programs that only cut what it prints.
  expect(kindOf('phasegate next | head -3', `${base}:/usr/bin:/bin`)).toBe('agents');
  writeFileSync(join(project, 'docs/n/head'), '#!/bin/sh\ntouch src/x\n', { mode: 0o755 });
  expect(kindOf('phasegate next | head -3', `${base}:${join(project, 'docs/n')}:/usr/bin`)).toBe('other');
  // By its own path it is the same program, wherever the client looks.
  expect(kindOf(`${program} next`, '/nowhere')).toBe('agents');
});

test.each([
  'phasegate --project=. decide r approve',
  'phasegate --url x decide r approve',
  'phasegate --insecure-http decide r approve',
  'phasegate --no-color --project . decide r approve',
  'npx phasegate decide r approve',
  '/usr/bin/npx phasegate --json decide r approve',
])("options before it hide no human's verb: %j", (line) => {
  expect(kindOf(line)).toBe('decide');
});

test.each([
  ['a folder below as its project', 'phasegate --project docs/n start x'],
  ['the same behind the verb', 'phasegate start x --project=docs/n'],
  ['another project', `phasegate --project ${base} start x`],
  ['a link that leads out', 'phasegate --project docs/out start x'],
  ['a way to another folder', 'cd .. && phasegate start x'],
  ['a way by a link', 'cd docs/out && phasegate start x'],
  ['a way in two steps', 'cd docs; cd ../..; phasegate start x'],
  ['a way home', 'cd; phasegate start x'],
  ['a project of the folder it goes to', 'cd docs && phasegate --project . start x'],
  ['a credential of a human', 'phasegate status --as maria --passphrase-fd 3'],
  ['another server', 'phasegate --url http://127.0.0.1:1 next'],
  ['an option nobody knows', 'phasegate next --file docs/a'],
  ['a pattern for a file', 'phasegate done --evidence ./docs/*.json'],
  ['a file of a folder it goes to', 'cd docs && phasegate done --evidence a.json'],
  ['a file that is cut', 'head 5 | phasegate done --evidence -'],
])('with %s a line is judged as any other', (_, line) => {
  expect(kindOf(line)).toBe('other');
});

test('every option of a command that names a file is known as one, and no option is made up', () => {
  const table = new Map(COMMANDS.map((entry) => [entry.name, entry]));
  return Promise.all(
    Object.entries(AGENT_VERBS).map(async ([verb, { options, files }]) => {
      const command = await table.get(verb)?.load();
      if (command === undefined) return;
      for (const [name, kind] of Object.entries(options)) {
        const spec = command.options[name];
        expect(spec?.type === 'flag', `${verb} --${name}`).toBe(kind === 'flag');
        // The target of a run is a name for it, which nothing opens.
        const isFile = spec?.value?.includes('FILE') === true && name !== 'target';
        expect(kind === 'file', `${verb} --${name}`).toBe(isFile);
      }
      expect(files === true).toBe(command.positionals.some((word) => word.includes('FILE')));
    }),
  );
});

test.each([
  ['blanks before', `phasegate done${' '.repeat(1_000_000)}x`],
  ['new lines in the text', `phasegate done <<'EOF'\n${'\n'.repeat(1_000_000)}x\nEOF`],
])('a line that somebody made long is read in time that grows with it alone: %s [adv.O3]', (_, line) => {
  // An expression that went back and tried again would take minutes.
  expect(kindOf(line)).toBeTypeOf('string');
});
