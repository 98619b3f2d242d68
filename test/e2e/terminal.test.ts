import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { complete, copyOf, makeProject, phasegate, startRun, TESTED, type TestProject } from './cli.ts';
import { onTerminal } from './onTerminal.ts';

const SECRET = 'open sesame';
const PROPOSAL = { proposal: { summary: 'Paint it blue', steps: ['paint the door'] } };
const [ENTER, DOWN] = ['\r', '\u001b[B'];

test.concurrent('on a terminal `decide` asks for the passphrase without echo, shows the card and lets the human choose', async () => {
  const { project, run } = waiting();
  const terminal = onTerminal(project, ['decide']);

  await terminal.sees('Passphrase of maria');
  // Which run it is stands there before the passphrase is given.
  expect(terminal.text()).toContain(run);
  terminal.types(`${SECRET}${ENTER}`);
  await terminal.sees('Do it as proposed?');
  await terminal.sees('to navigate');
  terminal.types(`${DOWN}${ENTER}`);

  expect(await terminal.ends()).toBe(0);
  expect(terminal.text()).not.toContain('sesame');
  expect(terminal.text()).toContain('paint the door');
  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({
    status: 'active',
    phase: 'DO',
  });
});

test
  .runIf(FULL)
  .concurrent(
    'on a terminal keys that come before the question, or an Enter alone, decide nothing',
    async () => {
      const { project, run } = waiting();
      const terminal = onTerminal(project, ['decide', run]);

      await terminal.sees('Passphrase of maria');
      terminal.types(`${SECRET}${ENTER}`);
      // While the passphrase is tried; taken for an answer they would choose `Approve`.
      terminal.types(`${DOWN}${ENTER}`);
      await terminal.sees('to navigate');
      expect(terminal.text()).toContain('decide later');
      terminal.types(ENTER);

      expect(await terminal.ends()).toBe(0);
      expect(terminal.text()).toContain('nothing was signed');
      expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'waiting' });
    },
  );

test.concurrent('on a terminal anyone who types a passphrase for a server sees which one it goes to [adv.P6]', async () => {
  const { project } = waiting();
  const { url, answers } = await listening('application/json');
  const terminal = onTerminal(project, ['runs', '--url', url, '--as', 'maria']);

  await terminal.sees(`Passphrase of maria at ${new URL(url).host}`);
  expect(answers).toEqual(['GET /healthz']);
  terminal.types(`${SECRET}${ENTER}`);

  expect(await terminal.ends()).toBe(1);
});

test
  .runIf(FULL)
  .concurrent('nobody is asked for a passphrase where there is no server, or something else', async () => {
    const { project } = waiting();
    const { url } = await listening('text/html');
    for (const [at, said] of [
      ['http://127.0.0.1:1', '`http://127.0.0.1:1` does not answer'],
      [url, `what answers at \`${url}\` is not a Phasegate server`],
    ] as const) {
      const terminal = onTerminal(project, ['runs', '--url', at, '--as', 'maria']);

      expect(await terminal.ends()).toBe(1);
      expect(terminal.text()).toContain(said);
      expect(terminal.text()).not.toContain('Passphrase');
    }
  });

test.runIf(FULL).concurrent('on a terminal an option that needs words asks for them', async () => {
  const { project, run } = waiting();
  const terminal = onTerminal(project, ['decide', run]);

  await terminal.sees('Passphrase of maria');
  terminal.types(`${SECRET}${ENTER}`);
  await terminal.sees('to navigate');
  terminal.types(`${DOWN}${DOWN}${ENTER}`);
  await terminal.sees('what should the agent know?');
  terminal.types(`paint it green${ENTER}`);

  expect(await terminal.ends()).toBe(0);
  expect((await phasegate(project, ['next', run])).stdout).toContain('paint it green');
});

test.concurrent('on a terminal the card comes before the question, also where the option is given [adv.N9]', async () => {
  const { project, run } = waiting();
  const declining = onTerminal(project, ['decide', run, '--option', 'Approve']);

  await declining.sees('Passphrase of maria');
  declining.types(`${SECRET}${ENTER}`);
  await declining.sees('Choose Approve?');
  const before = declining.text();
  declining.types(ENTER);
  expect(await declining.ends()).toBe(1);
  expect(declining.text()).toContain('cancelled: nothing was changed');
  expect(declining.text()).not.toContain('[usage]');
  expect(before.indexOf('paint the door')).toBeGreaterThan(-1);
  expect(before.indexOf('paint the door')).toBeLessThan(before.indexOf('Choose Approve?'));
  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'waiting' });

  const choosing = onTerminal(project, ['decide', run, '--option', 'Approve']);
  await choosing.sees('Passphrase of maria');
  choosing.types(`${SECRET}${ENTER}`);
  await choosing.sees('Choose Approve?');
  choosing.types('y');
  expect(await choosing.ends()).toBe(0);
  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'active' });
});

test.concurrent('on a terminal `fence` shows what was changed before it is settled, and only that is settled', async () => {
  const { project, run } = waiting();
  project.write('stray.md', 'x');
  const words = ['fence', run, 'accept', 'stray.md', '--reason', 'mine'];

  const declining = onTerminal(project, words);
  await declining.sees('Passphrase of maria');
  declining.types(`${SECRET}${ENTER}`);
  await declining.sees('Accept stray.md?');
  const before = declining.text();
  declining.types(ENTER);
  expect(await declining.ends()).toBe(1);
  expect(declining.text()).toContain('cancelled: nothing was changed');
  expect(declining.text()).not.toContain('[usage]');
  expect(before).toMatch(/stray\.md.*added[\s\S]*Accept stray\.md\?/);

  const late = onTerminal(project, words);
  await late.sees('Passphrase of maria');
  late.types(`${SECRET}${ENTER}`);
  await late.sees('Accept stray.md?');
  project.write('stray.md', 'another text than was shown');
  late.types('y');
  expect(await late.ends()).toBe(1);
  expect(late.text()).toContain('not what was shown');

  const accepting = onTerminal(project, words);
  await accepting.sees('Passphrase of maria');
  accepting.types(`${SECRET}${ENTER}`);
  await accepting.sees('Accept stray.md?');
  accepting.types('y');
  expect(await accepting.ends()).toBe(0);
  expect((await phasegate(project, ['fence', run, '--json'])).json).toMatchObject({
    outside: [],
    settled: [{ action: 'accept', by: 'maria', paths: ['stray.md'] }],
  });
});

test.concurrent('in ring served an agent with a terminal of its own still has no passphrase [adv.J4]', async () => {
  const { project, run } = waiting();
  const terminal = onTerminal(project, ['decide', run, '--option', 'Approve']);

  await terminal.sees('Passphrase of maria');
  terminal.types(`y${ENTER}`);
  for (const time of [2, 3]) {
    await terminal.sees(`Passphrase of maria (try ${time} of 3)`);
    terminal.types(`y${ENTER}`);
  }

  expect(await terminal.ends()).toBe(1);
  expect(terminal.text()).toContain('credential_invalid');
  const audit = await phasegate(project, ['audit', 'tail', '--json'], { passphrase: SECRET });
  expect(audit.stdout.match(/"credential_failed"/g)).toHaveLength(3);
  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'waiting' });
});

test.concurrent('on a terminal a passphrase that is mistyped is asked for again', async () => {
  const { project, run } = waiting();
  const terminal = onTerminal(project, ['decide', run]);

  await terminal.sees('Passphrase of maria');
  terminal.types(`${SECRET}x${ENTER}`);
  await terminal.sees('the passphrase of `maria` is wrong');
  await terminal.sees('Passphrase of maria (try 2 of 3)');
  terminal.types(`${SECRET}${ENTER}`);
  await terminal.sees('to navigate');
  terminal.types(`${DOWN}${ENTER}`);

  expect(await terminal.ends()).toBe(0);
  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'active' });
});

test.runIf(FULL).concurrent('on a terminal a question that is not answered changes nothing', async () => {
  const { project, run } = waiting();
  const terminal = onTerminal(project, ['decide', run]);

  await terminal.sees('Passphrase of maria');
  terminal.types('\u0003');

  expect(await terminal.ends()).toBeGreaterThan(0);
  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'waiting' });
});

test.concurrent('on a terminal the state of a run is JSON for eyes, indented by two [S0.48]', async () => {
  const { project, run } = waiting();
  const piped = await phasegate(project, ['status', run, '--json']);
  const terminal = onTerminal(project, ['status', run, '--json']);

  expect(await terminal.ends()).toBe(0);
  const lines = terminal.text().trimEnd().split(/\r?\n/);
  expect(JSON.parse(lines.join('\n'))).toEqual(piped.json);
  expect(lines).toEqual(expect.arrayContaining([`  "run": "${run}",`, '  "status": "waiting",']));
  expect(lines).toEqual(JSON.stringify(piped.json, null, 2).split('\n'));
});

test.concurrent('on a terminal `init` sets up the human, asking for the passphrase twice', async () => {
  const project = makeProject(TESTED);
  const terminal = onTerminal(project, ['init']);

  await terminal.sees('Your name');
  terminal.types(ENTER);
  await terminal.sees('New passphrase for maria (at least 8 characters)');
  terminal.types(`${SECRET}${ENTER}`);
  await terminal.sees('The same passphrase again');
  terminal.types(`${SECRET}${ENTER}`);

  expect(await terminal.ends()).toBe(0);
  expect(terminal.text()).not.toContain('sesame');
  const listed = await phasegate(project, ['humans', 'list', '--json']);
  expect(listed.json.humans).toMatchObject([{ name: 'maria' }]);
});

test
  .runIf(FULL)
  .concurrent(
    'on a terminal `init` asks again after a mistake, and a name that is typed is the whole name',
    async () => {
      const project = makeProject();
      const terminal = onTerminal(project, ['init']);

      await terminal.sees('`phasegate init --template minimal`');
      await terminal.sees('Which command runs the tests of this project?');
      terminal.types(`no-such-program${ENTER}`);
      await terminal.sees('of this project? (try 2 of 3)');
      terminal.types(`node --test${ENTER}`);
      await terminal.sees('Your name');
      terminal.types(`no name${ENTER}`);
      await terminal.sees('Your name (try 2 of 3)');
      terminal.types(`bob${ENTER}`);
      await terminal.sees('New passphrase for bob');
      terminal.types(`short${ENTER}`);
      await terminal.sees('characters) (try 2 of 3)');
      terminal.types(`${SECRET}${ENTER}`);
      await terminal.sees('The same passphrase again (try 2 of 3)');
      terminal.types(`${SECRET}, or not${ENTER}`);
      await terminal.sees('characters) (try 3 of 3)');
      terminal.types(`${SECRET}${ENTER}`);
      await terminal.sees('The same passphrase again (try 3 of 3)');
      terminal.types(`${SECRET}${ENTER}`);

      expect(await terminal.ends(), terminal.text()).toBe(0);
      for (const mistake of [
        'there is no program `no-such-program`',
        '`no name` is not a name',
        'too short',
        'not the same',
      ]) {
        expect(terminal.text()).toContain(mistake);
      }
      const listed = await phasegate(project, ['humans', 'list', '--json']);
      expect(listed.json.humans).toMatchObject([{ name: 'bob' }]);
    },
  );

test
  .runIf(FULL)
  .concurrent('on a terminal `init` asks which of several commands runs the tests', async () => {
    const project = makeProject({ ...TESTED, Makefile: 'test:\n\ttrue\n' });
    const terminal = onTerminal(project, ['init', '--name', 'maria']);

    await terminal.sees('make test (Makefile)');
    terminal.types(`${DOWN}${ENTER}`);
    await terminal.sees('New passphrase for maria');
    terminal.types(`${SECRET}${ENTER}`);
    await terminal.sees('The same passphrase again');
    terminal.types(`${SECRET}${ENTER}`);

    expect(await terminal.ends()).toBe(0);
    expect(terminal.text()).toContain('make test (as Makefile says), run by the engine');
  });

test
  .runIf(FULL)
  .concurrent('on a terminal a passphrase that is mistyped three times leaves nothing behind', async () => {
    const project = makeProject(TESTED);
    const terminal = onTerminal(project, ['init', '--name', 'maria']);

    await terminal.sees('New passphrase for maria');
    terminal.types(`one${ENTER}`);
    await terminal.sees('(try 2 of 3)');
    terminal.types(`two${ENTER}`);
    await terminal.sees('(try 3 of 3)');
    terminal.types(`three${ENTER}`);

    expect(await terminal.ends()).toBe(2);
    expect(terminal.text()).toContain('and that was the third try: nothing was changed');
    expect(terminal.text()).toContain('run the command again');
    expect(readdirSync(project.root)).toEqual(['package.json']);
    expect(existsSync(project.stateDir)).toBe(false);
  });

test.concurrent('on a terminal `trust` shows what changed and asks', async () => {
  const { project } = waiting();
  project.write('agent_workflow.yaml', 'workflow: minimal\nphases:\n  ONLY: { writes: [] }\n');
  const declining = onTerminal(project, ['trust', 'minimal', '--no-color']);

  await declining.sees('Passphrase of maria');
  declining.types(`${SECRET}${ENTER}`);
  await declining.sees('Accept minimal?');
  declining.types(ENTER);

  expect(await declining.ends()).toBe(1);
  expect(declining.text()).toContain('agent_workflow.yaml (changed)');
  expect(declining.text()).toContain('| +   ONLY: { writes: [] }');
  expect(declining.text()).toContain('| - title: Propose, then do');
  const refused = await phasegate(project, ['start', 'minimal', '--json']);
  expect(refused.json).toMatchObject({ error: 'untrusted_workflow' });
});

test.concurrent('on a terminal Ctrl-C at a passphrase cancels, leaves nothing behind and is not wrong usage', async () => {
  const project = makeProject(TESTED);
  const terminal = onTerminal(project, ['init', '--name', 'maria']);

  await terminal.sees('New passphrase for maria');
  terminal.types('\u0003');

  expect(await terminal.ends()).toBe(1);
  expect(terminal.text()).toContain('cancelled: nothing was changed');
  expect(terminal.text()).not.toContain('error:');
  expect(readdirSync(project.root)).toEqual(['package.json']);
  expect(existsSync(project.stateDir)).toBe(false);
});

test.concurrent('on a terminal `watch` shows what waits, and Ctrl-C ends it without a fault', async () => {
  const { project, run } = waiting();
  const terminal = onTerminal(project, ['watch']);

  await terminal.sees('1 run: 1 waiting for a human');
  await terminal.sees(`phasegate decide ${run}`);
  terminal.types('\u0003');

  expect(await terminal.ends()).toBe(0);
});

let original: { readonly project: TestProject; readonly run: string };

beforeAll(async () => {
  const project = makeProject();
  await phasegate(project, ['init', '--template', 'minimal'], { passphrase: SECRET });
  const run = await startRun(project, 'minimal');
  const done = await complete(project, run, { phase: 'PROPOSE', evidence: PROPOSAL });
  expect(done.json).toMatchObject({ status: 'waiting' });
  original = { project, run };
});

function waiting() {
  return { ...original, project: copyOf(original.project) };
}

const listeners: ReturnType<typeof createServer>[] = [];

afterAll(() => {
  for (const server of listeners) server.close();
});

/** Something that answers everything with nothing of that type. */
async function listening(type: string) {
  const answers: string[] = [];
  const server = createServer((request, response) => {
    answers.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': type, connection: 'close' }).end('{}');
  });
  listeners.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers };
}
