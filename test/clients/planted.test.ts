import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLIENT_NAMES } from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import { PROGRAM, startRun } from '../e2e/cli.ts';
import { attach } from './attach.ts';
import { CLIENT_MS, isThere, log, play, refusalsIn } from './realClient.ts';
import { tddProject } from './tddRun.ts';

const PLANTED = [
  ['phasegate', 'runs'],
  ['head', '-3'],
  ['cat', 'package.json'],
] as const;

/** Lines that pass in every phase, because of what these programs are. */
const LINES = ['phasegate runs', 'phasegate runs | head -3', 'cat package.json'] as const;

describe.each(CLIENT_NAMES)('%s, started as `npx` would start it', (name) => {
  test.runIf(isThere(name))(
    'runs no program of the project in a phase without a shell, whatever it is called [adv.B5]',
    async () => {
      const project = await tddProject();
      // By its real path, as it is installed.
      const own = join(project.base, 'bin/phasegate');
      rmSync(own);
      symlinkSync(PROGRAM, own);
      await attach(project, name);
      await startRun(project, 'tdd');
      const bin = join(project.root, 'node_modules/.bin');
      mkdirSync(bin, { recursive: true });
      // Clients call some of them for themselves, with other words.
      for (const [called, word] of PLANTED)
        writeFileSync(
          join(bin, called),
          `#!/bin/sh\ntest "$1" = ${word} && echo ${called} >> ${join(project.root, 'src/escaped')}\nexit 0\n`,
          { mode: 0o755 },
        );
      const { words } = CLIENTS[name];

      const lines = [...LINES, `${own} runs`];

      const session = await play(name, project, {
        script: { turns: [...lines.map((line) => ({ calls: [words.shell(line)] })), { text: 'done' }] },
        environment: { PATH: `${bin}:${project.env.PATH}` },
      });

      expect(existsSync(join(project.root, 'src/escaped')), log(session)).toBe(false);
      expect(refusalsIn(session).length, log(session)).toBe(LINES.length);
      // The real one passes.
      expect(session.results[LINES.length], log(session)).not.toContain('[phasegate]');
    },
    CLIENT_MS,
  );
});
