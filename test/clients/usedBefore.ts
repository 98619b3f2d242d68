import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AttachedServer, ClientName } from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import type { TestProject } from '../e2e/cli.ts';

/**
 * Writes what a launch puts into the home of its user, before the run begins that it is compared for: anyone who has
 * used the client before has these settings.
 */
export function usedBefore(name: ClientName, project: TestProject, server?: AttachedServer): void {
  const { settings } = CLIENTS[name].arrange({
    program: name,
    project: project.root,
    home: project.base,
    files: project.base,
    model: 'http://127.0.0.1:9',
    prompt: '',
    server,
  });
  for (const { path, values } of settings) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(values, null, 2)}\n`);
  }
}
