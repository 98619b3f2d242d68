import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../packages/phasegate/src/surfaces/cli/commandTable.ts';
import { GLOBAL_OPTIONS } from '../../packages/phasegate/src/surfaces/cli/parseArguments.ts';
import { complete, makeProject, phasegate, startRun, TESTED, type TestProject } from './cli.ts';

const SECRET = { passphrase: 'open sesame' };

const FILES = [
  'phasegate.config.yaml',
  'agent_workflow.yaml',
  'agent_workflow.contract.yaml',
  'agent_workflow.md',
  '.mcp.json',
];

describe('init', () => {
  test('names the missing flag where nobody can be asked, and writes nothing [adv.M5 fail.43]', async () => {
    const project = makeProject(TESTED);

    const asked = await phasegate(project, ['init']);

    expect(asked.code).toBe(2);
    expect(asked.stdout).toBe('');
    expect(asked.stderr).toContain('--passphrase-fd');
    expect(asked.stderr).toContain('--yes');
    expect(existsSync(join(project.root, 'agent_workflow.yaml'))).toBe(false);
  });

  test('writes a project that is valid and starts, and a second time keeps all of it', async () => {
    const project = makeProject(TESTED);

    const first = await phasegate(project, ['init', '--yes', '--json']);
    const text = readFileSync(join(project.root, 'agent_workflow.yaml'), 'utf8');
    const second = await phasegate(project, ['init', '--yes', '--json']);

    expect(first.json).toMatchObject({
      created: FILES,
      kept: [],
      human: null,
    });
    expect(second.json).toMatchObject({
      created: [],
      kept: FILES,
    });
    expect(readFileSync(join(project.root, 'agent_workflow.yaml'), 'utf8')).toBe(text);
    expect((await phasegate(project, ['validate'])).code).toBe(0);
    const started = await phasegate(project, ['start', 'tdd', '--json']);
    expect(started.json).toMatchObject({ status: 'active', phase: 'PLAN', ring: 'served', trusted: false });
  });

  test('sets up a human by a passphrase on a descriptor, and needs it from then on', async () => {
    const project = makeProject(TESTED);

    const made = await phasegate(project, ['init', '--name', 'maria', '--json'], SECRET);

    expect(made.json).toMatchObject({ human: 'maria', trusted: ['tdd'] });
    const again = await phasegate(project, ['init', '--json'], SECRET);
    expect(again.json).toMatchObject({ created: [], human: 'maria', trusted: ['tdd'] });
    expect(await phasegate(project, ['init', '--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--passphrase-fd'),
    });
    const guessed = await phasegate(project, ['init', '--json'], { passphrase: 'open barley' });
    expect(guessed).toMatchObject({ code: 1, json: { error: 'credential_invalid' } });
  });

  test('says so in a folder of another project, and makes a project of its own where it is told', async () => {
    const outer = makeProject({ ...TESTED, 'inner/package.json': TESTED['package.json'] });
    await phasegate(outer, ['init', '--yes']);
    const cwd = join(outer.root, 'inner');

    const refused = await phasegate(outer, ['init', '--yes'], { cwd });
    const made = await phasegate(outer, ['init', '--yes', '--project', '.', '--json'], { cwd });

    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`\`${cwd}\` lies inside of the project \`${outer.root}\``);
    expect(refused.stderr).toContain('--project .');
    expect(made.json).toMatchObject({ root: cwd, created: FILES });
  });

  test.runIf(existsSync('/sys/kernel'))(
    'says so in a folder nobody may write to, and makes no state',
    async () => {
      const project = makeProject();

      const { code, stderr } = await phasegate(
        project,
        ['init', '--project', '/sys/kernel', '--test', 'true'],
        SECRET,
      );

      expect(code, stderr).toBe(2);
      expect(stderr).toMatch(
        /`\/sys\/kernel\/phasegate\.config\.yaml` cannot be written: (?:you do not have the permission|it is on a read-only file system)/,
      );
      expect(stderr).toContain('hint: make its folder one that you can write to');
      expect(existsSync(String(project.env.XDG_STATE_HOME))).toBe(false);
    },
  );

  test('keeps state and keys outside the workspace, for their owner only [S0.45]', async () => {
    const project = makeProject(TESTED);
    await phasegate(project, ['init'], SECRET);

    expect(project.stateDir.startsWith(project.root)).toBe(false);
    expect(statSync(project.stateDir).mode & 0o777).toBe(0o700);
    for (const file of ['state.db', 'keys.json']) {
      expect(statSync(join(project.stateDir, file)).mode & 0o077).toBe(0);
    }
  });
});

describe('definitions', () => {
  test('are listed, found valid and named when they are not there', async () => {
    const project = await initialized();

    expect((await phasegate(project, ['list', '--json'])).json).toMatchObject({
      workflows: [{ id: 'tdd', format: 'yaml', path: 'agent_workflow.yaml', problems: [] }],
    });
    expect((await phasegate(project, ['list'])).stdout).toMatch(/tdd +yaml +PLAN TDD IMPL REVIEW COMPLETE/);
    expect((await phasegate(project, ['validate', '--json'])).json).toMatchObject({
      valid: true,
      problems: [],
      checked: ['agent_workflow.yaml'],
    });
    const unknown = await phasegate(project, ['start', 'tddd', '--json']);
    expect(unknown.code).toBe(1);
    expect(unknown.json).toMatchObject({
      error: 'workflow_unknown',
      message: expect.stringContaining('did you mean `tdd`'),
    });
  });

  test('are found from a folder below, and by --project from anywhere', async () => {
    const project = await initialized();
    project.write('src/deep/file.ts', '');

    const below = await phasegate(project, ['list', '--json'], { cwd: join(project.root, 'src/deep') });
    const afar = await phasegate(project, ['--project', project.root, 'list', '--json'], {
      cwd: project.base,
    });

    expect(below.json).toMatchObject({ workflows: [{ id: 'tdd' }] });
    expect(afar.json).toEqual(below.json);
  });

  test('are drawn in four formats', async () => {
    const project = await initialized();
    const drawn = async (format: string) =>
      (await phasegate(project, ['graph', 'tdd', '--format', format])).stdout;

    expect((await drawn('mermaid')).split('\n')[0]).toBe('flowchart TD');
    expect(await drawn('dot')).toMatch(/^digraph workflow \{[\s\S]*\}\n$/);
    const graph = JSON.parse(await drawn('json'));
    expect(graph).toMatchObject({ workflow: 'tdd', entry: 'PLAN' });
    const svg = await drawn('svg');
    expect(svg).toMatch(/^<svg /);
    expect(tagsLeftOpen(svg)).toEqual([]);
    for (const phase of ['Plan', 'Write failing tests', 'Review', 'Report']) expect(svg).toContain(phase);
  });

  test('are drawn with the place of a run, into a file', async () => {
    const phases = 'phases:\n  PLAN: {}\n  TDD: {}\n  IMPL: { next: null }\n';
    const project = makeProject({ 'agent_workflow.yaml': `workflow: tdd\n${phases}` });
    const run = await startRun(project, 'tdd');
    await complete(project, run, { phase: 'PLAN', evidence: {} });

    const graph = await phasegate(project, ['graph', 'tdd', '--run', run, '--json']);
    const file = join(project.base, 'tdd.svg');
    const written = await phasegate(project, ['graph', 'tdd', '--format', 'svg', '--output', file, '--json']);

    expect(graph.json).toMatchObject({ run: { id: run, status: 'active', phase: 'TDD' } });
    expect(graph.json.nodes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'PLAN', status: 'completed' }),
        expect.objectContaining({ id: 'TDD', status: 'current' }),
        expect.objectContaining({ id: 'IMPL', status: 'ahead' }),
      ]),
    );
    expect(written.json).toEqual({ format: 'svg', file });
    expect(tagsLeftOpen(readFileSync(file, 'utf8'))).toEqual([]);
  });
});

describe('the command itself', () => {
  test('explains every command and every option of it', async () => {
    const project = makeProject();

    const helps = await Promise.all(
      COMMANDS.map(async (entry) => ({
        command: await entry.load(),
        help: await phasegate(project, [entry.name, '--help']),
        name: entry.name,
      })),
    );

    for (const { name, command, help } of helps) {
      expect({ name, code: help.code, stderr: help.stderr }).toEqual({ name, code: 0, stderr: '' });
      expect(help.stdout).toContain(`phasegate ${name}`);
      for (const option of [...Object.keys(command.options), ...Object.keys(GLOBAL_OPTIONS)]) {
        expect(help.stdout).toContain(`--${option}`);
      }
    }
    const overview = await phasegate(project, ['--help']);
    expect(overview.code).toBe(0);
    for (const { name, summary } of COMMANDS)
      expect(overview.stdout).toMatch(new RegExp(`${name} +${summary}`));
  });

  test('suggests the command or option that was meant, and exits with 2', async () => {
    const project = makeProject();
    const cases: readonly (readonly [readonly string[], string])[] = [
      [['statsu', 'x'], 'did you mean `status`'],
      [['graph', 'tdd', '--fromat', 'svg'], 'did you mean `--format`'],
      [['runs', '--jsno'], 'did you mean `--json`'],
      [['graph'], 'needs `WORKFLOW`'],
      [['list', 'x'], 'takes no argument `x`'],
      [['stop', 'x'], '`--reason` is missing'],
      [['decide', 'x', '--passphrase', 'hush'], 'never a plain option'],
      [[], 'Usage:'],
    ];

    for (const [words, expected] of cases) {
      const called = await phasegate(project, words);
      expect({ words, code: called.code, stdout: called.stdout }).toEqual({ words, code: 2, stdout: '' });
      expect(called.stderr).toContain(expected);
      expect(called.stderr).not.toContain('hush');
    }
  });

  test('prints one JSON value with --json, also when it refuses or fails', async () => {
    const project = await initialized();
    const run = await startRun(project, 'tdd');
    const calls: readonly (readonly string[])[] = [
      ['list'],
      ['validate'],
      ['graph', 'tdd'],
      ['runs'],
      ['status', run],
      ['next', run],
      ['done', run],
      ['done', 'nobody'],
      ['task', run, 'PLAN', '1'],
      ['audit', 'verify'],
      ['audit', 'export'],
      ['audit', 'tail'],
      ['humans', 'list'],
      ['doctor'],
      ['decide', run, '--option', 'Approve'],
      ['statsu'],
      ['list', '--wrong'],
      ['graph', '--help'],
      ['--version'],
    ];

    for (const words of calls) {
      const called = await phasegate(project, [...words, '--json']);
      expect(called.json, words.join(' ')).toBeTypeOf('object');
      expect(called.stdout.trimEnd()).not.toContain('\n');
      expect(called.stderr, words.join(' ')).toBe('');
    }
  });

  test('colours only where it may: a pipe gets none, NO_COLOR wins over FORCE_COLOR', async () => {
    const project = await initialized();
    const escapes = async (env: Readonly<Record<string, string>>, words: readonly string[] = []) =>
      (await phasegate(project, ['list', ...words], { env })).stdout.includes('\u001b[');

    expect(await escapes({})).toBe(false);
    expect(await escapes({ FORCE_COLOR: '1' })).toBe(true);
    expect(await escapes({ FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false);
    expect(await escapes({ FORCE_COLOR: '1' }, ['--no-color'])).toBe(false);
  });

  test('ends quietly when its reader goes away', async () => {
    const project = await initialized();
    for (let index = 0; index < 3; index++) await startRun(project, 'tdd');
    const script = '"$0" "$1" runs | head -0; echo "$PIPESTATUS" >&2';

    const piped = await phasegate(project, [], { by: ['bash', '-c', script] });

    expect(piped.stdout).toBe('');
    expect(piped.stderr.trim()).toBe('0');
  });

  test('shows what an agent wrote without obeying it', async () => {
    const project = makeProject({ 'one.workflow.yaml': 'workflow: one\nphases:\n  ONLY: { writes: [] }\n' });
    const run = await startRun(project, 'one');
    await phasegate(project, ['blocked', run, '--reason', 'a\u001b[2J\u001b]0;owned\u0007b']);

    const listed = await phasegate(project, ['status', run]);

    expect(listed.stdout).not.toContain('\u001b');
    expect(listed.stdout).not.toContain('\u0007');
    expect(listed.stdout).toContain('owned');
  });

  test('says what is set up and what is missing', async () => {
    const project = makeProject(TESTED);
    const bare = await phasegate(project, ['doctor', '--json']);
    expect(bare.code).toBe(1);
    expect(existsSync(project.stateDir)).toBe(false);

    await phasegate(project, ['init'], SECRET);
    const healthy = await phasegate(project, ['doctor', '--json']);
    project.write('agent_workflow.yaml', 'workflow: tdd\nphases: 7\n');
    const ill = await phasegate(project, ['doctor', '--json']);

    expect(bare.json).toMatchObject({ ok: false, ring: 'served' });
    expect(healthy.json).toMatchObject({
      ok: true,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'human', message: 'maria' })]),
    });
    expect(ill).toMatchObject({ code: 1, json: { ok: false } });
  });
});

async function initialized(): Promise<TestProject> {
  const project = makeProject(TESTED);
  expect(await phasegate(project, ['init', '--yes'])).toMatchObject({ code: 0 });
  return project;
}

/** Names of the elements of an XML text that do not close where they should; enough to see that it is well-formed. */
function tagsLeftOpen(xml: string): readonly string[] {
  const body = xml.replace(/<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>/g, '');
  const open: string[] = [];
  const tag = /<(\/?)([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/g;
  const between = body.replace(tag, (_, closing: string, name: string, _attributes, empty: string) => {
    if (closing === '') {
      if (empty === '') open.push(name);
    } else if (open.pop() !== name) open.push(`unexpected ${name}`);
    return '';
  });
  // Whatever still looks like a tag or an entity of no kind is not XML.
  const stray = between.match(/[<>]|&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/gi) ?? [];
  return [...open, ...stray];
}

test.each([
  ['PHASEGATE_URL', 2],
  ['PHASEGATE_KEY', 1],
])('a caller who set %s is not served as someone else', async (name, code) => {
  const project = makeProject({ 'a.workflow.yaml': 'workflow: a\nphases: { A: {} }\n' });

  const started = await phasegate(project, ['start', 'a'], { env: { [name]: 'anything' } });

  expect(started.code).toBe(code);
  expect(started.stderr).toContain(name);
  expect((await phasegate(project, ['runs', '--json'])).json).toEqual({ runs: [] });
});
