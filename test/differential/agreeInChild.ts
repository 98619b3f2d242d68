import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Agreement } from './agree.ts';

const SCRIPT = fileURLToPath(new URL('runCases.ts', import.meta.url));

/** Compares the engine in a folder with the interpreter, in a process of its own. */
export async function agreeInChild(
  core: URL,
  { first, cases }: { readonly first: number; readonly cases: number },
): Promise<Agreement> {
  const words = [SCRIPT, core.href, String(first), String(cases)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Agreement;
}
