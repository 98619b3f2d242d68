import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs the demo in a process of its own with these words about its terminal, and no others. */
export function runDemo(
  terminal: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const {
    LC_ALL: _all,
    LC_CTYPE: _type,
    LANG: _lang,
    NO_COLOR: _no,
    FORCE_COLOR: _force,
    ...env
  } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('demo.ts', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...env, ...terminal },
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, text }));
  });
}
