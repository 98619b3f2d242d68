import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeProject, phasegate } from './cli.ts';

const FIVE_PHASES = readFileSync(
  new URL('../../examples/many-agents/agent_workflow.yaml', import.meta.url),
  'utf8',
).replace('lease_seconds: 3,', '');
const NOWHERE = 'http://127.0.0.1:1';

describe('a server that was named is not passed over', () => {
  test.each([
    ['init'],
    ['trust'],
    ['humans', 'list'],
    ['tokens', 'rotate'],
    ['backup'],
    ['restore', 'file'],
    ['serve'],
    ['mcp'],
    ['webhooks'],
    ['agent', 'start', '--', 'true'],
  ])('%s says that it works where the project is', async (...words) => {
    const project = makeProject();
    const at = words.includes('--') ? words.indexOf('--') : words.length;

    for (const [more, env] of [
      [['--url', NOWHERE], {}],
      [[], { PHASEGATE_URL: NOWHERE }],
    ] as const) {
      const called = await phasegate(project, words.toSpliced(at, 0, ...more, '--json'), { env });
      expect(called).toMatchObject({
        code: 2,
        json: { error: 'usage', message: expect.stringContaining('works where the project is') },
      });
    }
  });

  test.each([['list'], ['validate'], ['graph', 'change'], ['doctor'], ['tasks', 'tasks.md']])(
    '%s reads what is here, unless told otherwise in as many words',
    async (...words) => {
      const project = makeProject({
        'agent_workflow.yaml': FIVE_PHASES,
        'tasks.md': '# Tasks\n\n- [ ] one\n',
      });
      const env = { PHASEGATE_URL: NOWHERE };

      const plain = await phasegate(project, [...words, '--json']);
      expect(await phasegate(project, [...words, '--json'], { env })).toMatchObject({
        code: plain.code,
        stdout: plain.stdout,
      });
      expect((await phasegate(project, [...words, '--json', '--url', NOWHERE])).code).toBe(2);
    },
  );

  test('also where it does not answer, or is not a server at all', async () => {
    const project = makeProject({ 'agent_workflow.yaml': FIVE_PHASES });
    const call = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      phasegate(project, [...words, '--json'], { env: { PHASEGATE_KEY: 'pgk_x', ...env } });

    expect(await call(['next', 'r1', '--url', NOWHERE])).toMatchObject({
      code: 1,
      json: { error: 'server_unreachable' },
    });
    expect(await call(['--url', NOWHERE, 'next', 'r1'])).toMatchObject({ code: 1 });
    // Nobody is told to bring a passphrase for it first.
    expect(await call(['decide', 'r1', '--url', NOWHERE])).toMatchObject({
      code: 1,
      json: { error: 'server_unreachable' },
    });
    expect(await call(['next', 'r1'], { PHASEGATE_URL: 'somewhere' })).toMatchObject({
      code: 2,
      json: { message: expect.stringContaining('`PHASEGATE_URL` is not an http or https address') },
    });
    const secret = await call(['next', 'r1', '--url', 'http://maria:hush@127.0.0.1:1']);
    expect(secret.code).toBe(2);
    expect(secret.stdout + secret.stderr).not.toContain('hush');
    expect(await call(['next', 'r1', '--url', NOWHERE, '--project', '.'])).toMatchObject({ code: 2 });
  });

  test('is sent no credential in the open, unless that is asked for [adv.P6]', async () => {
    const project = makeProject({ 'agent_workflow.yaml': FIVE_PHASES });
    const away = ['--url', 'http://no-such-host.invalid', '--json'];
    const agent = { env: { PHASEGATE_KEY: 'pgk_x' } };
    const refused = {
      code: 2,
      json: { error: 'usage', message: expect.stringContaining('`--insecure-http`') },
    };

    expect(await phasegate(project, ['next', 'r1', ...away], agent)).toMatchObject(refused);
    expect(await phasegate(project, ['runs', ...away], { passphrase: 'open sesame' })).toMatchObject(refused);
    // Nothing answers there, but it is asked.
    const allowed = { code: 1, json: { error: 'server_unreachable' } };
    expect(await phasegate(project, ['next', 'r1', '--insecure-http', ...away], agent)).toMatchObject(
      allowed,
    );
  });
});
