import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CLIENT_NAMES, type ClientName } from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import type { Step } from '../../packages/phasegate/src/clients/script.ts';
import { phasegate, startRun, type TestProject } from '../e2e/cli.ts';
import { attach } from './attach.ts';
import { BROKEN_ANSWERS, BrokenServer } from './brokenServer.ts';
import { CLIENT_MS, isThere, log, play, refusalsIn } from './realClient.ts';
import { tddProject } from './tddRun.ts';

/** Clients that carry a call out when the program of a hook cannot be started, and say nothing. */
const OPEN_WITHOUT_PROGRAM: ReadonlySet<ClientName> = new Set(['codex']);
const STARVED_MS = 3000;
const MANY = 100;

for (const name of CLIENT_NAMES) {
  describe.runIf(isThere(name))(`${name}, where what its hooks ask is broken`, () => {
    const { words } = CLIENTS[name];

    test(
      'makes no call unjudged: the server killed, starved, hanging, answering 500, 204 or garbage',
      async () => {
        const { project, server } = await held();
        const write = (broken: string): ReturnType<typeof words.write> =>
          words.write(join(project.root, 'src', `${broken.replaceAll(' ', '-')}.js`), 'escaped\n');
        const broken: readonly (readonly [string, () => unknown])[] = [
          ['killed', () => server.kill()],
          ['starved', () => server.starve(STARVED_MS)],
          ...Object.entries(BROKEN_ANSWERS).map(
            ([how, answer]) => [how, () => server.replace(answer)] as const,
          ),
        ];
        const turns = broken.flatMap(([how, begin]): Step[] => [
          async () => {
            await begin();
            return { calls: [write(how)] };
          },
          // What comes after a call is not what this is about, and takes long where nobody answers.
          async () => {
            await server.putBack();
            return { calls: [words.read(join(project.root, 'src/slugify.js'))] };
          },
        ]);

        const session = await play(name, project, {
          script: { turns: [{ calls: [words.read(join(project.root, 'package.json'))] }, ...turns] },
        });

        expect(readdirSync(join(project.root, 'src')), log(session)).toEqual(['slugify.js']);
        const refused = session.results.filter((text) => text.includes('[phasegate]'));
        expect(refused.length, log(session)).toBeGreaterThanOrEqual(broken.length);
      },
      CLIENT_MS,
    );

    test(
      'makes no call unjudged without the program of its hooks, or its ring says that it would',
      async () => {
        const { project, run } = await held();
        const program = join(project.stateDir, 'phasegate-hooks', name);
        const file = join(project.root, 'src/escaped.js');

        const session = await play(name, project, {
          script: {
            turns: [
              { calls: [words.read(join(project.root, 'package.json'))] },
              () => {
                renameSync(program, `${program}.away`);
                return { calls: [words.write(file, 'escaped\n')] };
              },
              () => {
                renameSync(`${program}.away`, program);
                return { text: 'that is all' };
              },
            ],
          },
        });

        expect(existsSync(file), log(session)).toBe(OPEN_WITHOUT_PROGRAM.has(name));
        if (!OPEN_WITHOUT_PROGRAM.has(name)) return;
        const { json } = await phasegate(project, ['status', run, '--json']);
        expect(json).toMatchObject({ ring: 'served', status: 'escalated' });
      },
      CLIENT_MS,
    );

    test(
      `makes none of ${MANY} calls at a time unjudged`,
      async () => {
        const { project, run } = await held();
        const calls = Array.from({ length: MANY }, (_, at) =>
          words.write(join(project.root, 'src', `escaped-${at}.js`), 'escaped\n'),
        );

        const session = await play(name, project, {
          script: { turns: [{ calls }, { text: 'that is all' }] },
        });

        expect(readdirSync(join(project.root, 'src')), log(session)).toEqual(['slugify.js']);
        expect(refusalsIn(session)).toHaveLength(MANY);
        const audit = await phasegate(project, ['audit', 'export', '--run', run]);
        // One record for each, whatever the client makes of their order.
        expect(audit.stdout.match(/"event":"tool_judged","data":\{"allowed":false/g)).toHaveLength(MANY);
      },
      CLIENT_MS,
    );

    async function held(): Promise<{
      readonly project: TestProject;
      readonly server: BrokenServer;
      readonly run: string;
    }> {
      const project = await tddProject();
      await attach(project, name);
      const server = new BrokenServer(project);
      onTestFinished(() => server.putBack());
      return { project, server, run: await startRun(project, 'tdd') };
    }
  });
}
