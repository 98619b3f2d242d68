import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { asProcess, makeProject, TESTED } from './cli.ts';

interface Handler {
  readonly type: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly onFailure: string;
}

const OWN = '{\n  "model": "mine"\n}\n';

test.runIf(FULL)(
  '`init --hooks http` has calls asked by HTTP with a key that no commit holds, and the rest by the program',
  async () => {
    const project = makeProject({
      ...TESTED,
      'phasegate.config.json': '{ "port": 18447 }',
      '.claude/settings.json': OWN,
    });
    const call = async (...words: readonly string[]) => {
      const called = await asProcess(project, [...words, '--json']);
      return { ...called, text: called.stdout + called.stderr };
    };
    const read = (path: string) => readFileSync(join(project.root, path), 'utf8');
    expect((await call('init', '--yes', '--client', 'claude')).code).toBe(0);
    expect(read('.claude/settings.json')).toContain('phasegate-hooks');

    expect((await call('init', '--yes', '--client', 'claude', '--hooks', 'http')).code).toBe(0);
    expect(read('.claude/settings.json')).toBe(OWN);
    const local = join(project.root, '.claude/settings.local.json');
    expect(statSync(local).mode & 0o777).toBe(0o600);
    const { hooks } = JSON.parse(readFileSync(local, 'utf8')) as {
      readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly Handler[] }[]>>;
    };
    const typeOf = (event: string) => hooks[event]?.[0]?.hooks[0]?.type;
    expect(['PreToolUse', 'PostToolUse', 'PostToolUseFailure'].map(typeOf)).toEqual(['http', 'http', 'http']);
    // These start the server, and ask it by its socket what the port let pass.
    expect(['SessionStart', 'UserPromptSubmit', 'Stop', 'SessionEnd'].map(typeOf)).toEqual(
      Array.from({ length: 4 }, () => 'command'),
    );
    const asks = hooks.PreToolUse?.[0]?.hooks[0] as Handler;
    expect(asks).toMatchObject({ url: 'http://127.0.0.1:18447/api/v1/hooks/claude', onFailure: 'block' });

    // Called again without a word about it, it stays as it is; Copilot, which would refuse everything, is refused.
    const again = readFileSync(local, 'utf8');
    expect((await call('init', '--yes', '--client', 'claude')).code).toBe(0);
    expect(readFileSync(local, 'utf8')).toBe(again);
    expect((await call('init', '--yes', '--client', 'copilot', '--client', 'claude')).text).toContain(
      'Copilot CLI runs',
    );

    await call('up');
    const event = {
      session_id: 's1',
      cwd: project.root,
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_input: { file_path: join(project.root, 'a.js'), content: '' },
      tool_use_id: 'toolu_1',
    };
    const answer = await fetch(asks.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...asks.headers },
      body: JSON.stringify(event),
    });
    expect(JSON.stringify(await answer.json())).toContain('without a run');
    expect((await call('doctor')).stdout).toContain('asks before every tool call');
    await call('down');

    expect((await call('init', '--yes', '--client', 'claude', '--hooks', 'command')).code).toBe(0);
    expect(read('.claude/settings.json')).toContain('phasegate-hooks');
    expect(() => statSync(local)).toThrow();
    expect((await call('uninit', '--yes')).code).toBe(0);
    expect(read('.claude/settings.json')).toBe(OWN);
  },
);
