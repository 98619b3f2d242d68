import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import { openScriptedModel } from '../../packages/phasegate/src/clients/openScriptedModel.ts';
import { startClient } from '../../packages/phasegate/src/clients/startClient.ts';
import { stateDirFor } from '../../packages/phasegate/src/config.ts';
import { hookKeyOf } from '../../packages/phasegate/src/runtime/hooks/hookKey.ts';
import { folder } from '../transitions/measure.ts';

const PROGRAM = fileURLToPath(new URL('../../packages/phasegate/bin/phasegate.js', import.meta.url));
const SESSION_MS = 120_000;

/** A project with a run in a phase that reads, a server, and Claude Code. */
export interface Place {
  readonly folder: string;
  readonly kinds: readonly { readonly name: string; readonly hook: object | null }[];
  /** Milliseconds of each tool call of one session. */
  session(hook: object | null, calls: number): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Opens it; the clients are in the folder that is given. */
export async function openPlace(bin: string): Promise<Place> {
  const base = folder();
  const root = join(base, 'project');
  const settings = join(root, '.claude/settings.json');
  mkdirSync(join(root, 'src'), { recursive: true });
  writeFileSync(join(root, 'src/one.js'), 'export const one = 1;\n');
  writeFileSync(join(root, 'phasegate.config.json'), '{}\n');
  writeFileSync(
    join(root, 'look.workflow.yaml'),
    'workflow: look\nphases:\n  LOOK: { instructions: Look., allowed_tools: [read_files], writes: [], next: null }\n',
  );
  const env = { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: base, LANG: 'C.UTF-8' };
  const phasegate = (...words: string[]) =>
    execFileSync(process.execPath, [PROGRAM, ...words], { cwd: root, env, encoding: 'utf8' });
  phasegate('init', '--template', 'minimal', '--client', 'claude', '--yes');
  const written = JSON.parse(readFileSync(settings, 'utf8')) as {
    readonly hooks: { readonly PreToolUse: readonly { readonly hooks: readonly [object] }[] };
  };
  const ours = written.hooks.PreToolUse[0]?.hooks[0] ?? null;
  phasegate('start', 'look');
  phasegate('up');
  const stateDir = stateDirFor(root, env);
  const { url } = JSON.parse(readFileSync(join(stateDir, 'server.json'), 'utf8')) as { readonly url: string };
  const instant = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>((resolve) => void instant.listen(0, '127.0.0.1', resolve));
  const { port } = instant.address() as AddressInfo;
  const http = (at: string, headers: object = {}) => ({
    type: 'http',
    url: at,
    headers,
    timeout: 30,
    onFailure: 'block',
  });
  return {
    folder: base,
    kinds: [
      { name: 'none', hook: null },
      { name: 'a server that answers at once', hook: http(`http://127.0.0.1:${port}/`) },
      {
        name: 'ours over HTTP',
        hook: http(`${url}/api/v1/hooks/claude`, { Authorization: `Bearer ${hookKeyOf(stateDir)}` }),
      },
      { name: 'ours as init writes it', hook: ours },
      {
        name: 'a bare node',
        hook: {
          type: 'command',
          command: process.execPath,
          args: ['-e', 'process.stdin.resume();console.log("{}")'],
          timeout: 30,
        },
      },
    ],
    async session(hook, calls) {
      const hooks = hook === null ? {} : { PreToolUse: [{ matcher: '*', hooks: [hook] }] };
      writeFileSync(settings, JSON.stringify({ hooks }));
      const { arrange, protocol, words } = CLIENTS.claude;
      const read = { calls: [words.read(join(root, 'src/one.js'))] };
      const model = await openScriptedModel(protocol, {
        turns: [...Array(calls).fill(read), { text: 'read' }],
      });
      const files = mkdtempSync(join(base, 'files-'));
      const launch = arrange({
        program: join(bin, 'claude'),
        project: root,
        home: base,
        files,
        model: model.url,
        prompt: 'Read.',
      });
      const end = await startClient(launch, { cwd: root, path: env.PATH, limitMs: SESSION_MS });
      await model.close();
      const { exchanges } = model;
      if (exchanges.length <= calls) throw new Error(`the session ended early: ${end.stderr}${end.stdout}`);
      const refused = exchanges
        .flatMap(({ results }) => results)
        .filter(({ text }) => text.includes('hook error'));
      if (refused.length > 0) throw new Error(`a call was refused: ${refused[0]?.text}`);
      return exchanges.slice(1).map(({ at }, before) => at - (exchanges[before]?.at ?? 0));
    },
    async close() {
      phasegate('down');
      await new Promise((resolve) => void instant.close(resolve).closeAllConnections());
    },
  };
}
