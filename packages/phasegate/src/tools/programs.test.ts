import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { bash } from './bash.ts';
import { outputOf, use, workspaceWith } from './fixtures/workspace.ts';

describe('bash', () => {
  test('runs a line in the workspace and gives exit code and output', async () => {
    const workspace = workspaceWith({ 'src/a.ts': 'x' });

    expect(await use(bash, workspace, { command: 'ls src && echo bad >&2; exit 3' })).toEqual({
      ok: false,
      exitCode: 3,
      output: { exit_code: 3, stdout: 'a.ts\n', stderr: 'bad\n', truncated: false },
    });
    expect(outputOf(await use(bash, workspace, { command: 'pwd', cwd: './src' })).stdout).toBe(
      `${workspace.root}/src\n`,
    );
  });

  test('passes on nothing of our environment', async () => {
    const workspace = workspaceWith();
    for (const name of ['PHASEGATE_KEY', 'ORCHESTRATOR_JWT_SECRET', 'GITHUB_TOKEN', 'BASH_ENV']) {
      vi.stubEnv(name, 'a-secret-of-ours');
    }
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });

    const { stdout } = outputOf(await use(bash, workspace, { command: 'env' }));

    expect(stdout).not.toContain('a-secret-of-ours');
    expect(stdout).toContain('PATH=');
  });

  test('finds no program of the workspace under a bare name', async () => {
    const workspace = workspaceWith({ 'bin/tool': '#!/bin/sh\necho planted\n' });
    chmodSync(join(workspace.root, 'bin/tool'), 0o755);
    vi.stubEnv('PATH', `${workspace.root}/bin:.:${process.env.PATH}`);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });

    expect(await use(bash, workspace, { command: 'tool' })).toMatchObject({ ok: false, exitCode: 127 });
  });

  test('keeps the end of a flood and lets the command finish', async () => {
    const workspace = workspaceWith();

    const result = await use(bash, workspace, { command: 'seq 1 100000; echo the end' });

    expect(result.ok).toBe(true);
    const { stdout, truncated } = outputOf(result);
    expect(truncated).toBe(true);
    expect(String(stdout).endsWith('100000\nthe end\n')).toBe(true);
    expect(String(stdout).length).toBeLessThanOrEqual(64 * 1024);
  });

  test('kills all it started when the time is up', async () => {
    const workspace = workspaceWith();
    const command = 'sleep 300 & echo $! > pid; sleep 300';

    const result = await use(bash, workspace, { command, timeout_ms: 500 });

    expect(result).toMatchObject({ ok: false, exitCode: null, output: { error: 'timed_out' } });
    const pid = Number(readFileSync(join(workspace.root, 'pid'), 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 10_000, interval: 20 });
  });

  test('is ended with its phase', async () => {
    const workspace = workspaceWith();
    const controller = new AbortController();
    const running = use(
      bash,
      workspace,
      { command: 'touch started; sleep 300' },
      { signal: controller.signal },
    );
    await vi.waitUntil(() => existsSync(join(workspace.root, 'started')), { timeout: 10_000 });

    controller.abort();

    expect(await running).toMatchObject({ ok: false, output: { error: 'aborted' } });
  });

  test.each([
    [{ command: 'ls', env: {} }],
    [{ command: ['ls'] }],
    [{ command: '' }],
    [{ command: 'ls', timeout_ms: 600_001 }],
    [{ command: 'ls', timeout_ms: 0 }],
    [{}],
  ])('refuses %j', async (input) => {
    expect(await use(bash, workspaceWith(), input)).toMatchObject({
      ok: false,
      output: { error: 'input_invalid' },
    });
  });

  test('a NUL in a line starts nothing', async () => {
    expect(await use(bash, workspaceWith(), { command: 'ls\0; touch x' })).toMatchObject({
      ok: false,
      output: { error: 'not_started' },
    });
  });
});
