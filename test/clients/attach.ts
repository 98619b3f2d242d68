import { onTestFinished } from 'vitest';
import type { ClientName } from '../../packages/phasegate/src/clients/clientKind.ts';
import { asProcess, type TestProject } from '../e2e/cli.ts';
import { SECRET } from './tddRun.ts';

/** Attaches a client as its user would: by what `phasegate init` writes. */
export async function attach(
  project: TestProject,
  client: ClientName,
  options: readonly string[] = [],
): Promise<void> {
  // The first hook starts a server.
  onTestFinished(async () => void (await asProcess(project, ['down', '--as', 'maria'], SECRET)));
  for (const words of [
    ['init', '--client', client, '--yes', ...options],
    ['trust', '--guarded', '--yes'],
  ]) {
    const { code, stdout, stderr } = await asProcess(project, words, SECRET);
    if (code !== 0) throw new Error(`\`phasegate ${words.join(' ')}\` failed: ${stdout}${stderr}`);
  }
}
