import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { command } from './command.ts';
import { checkInput, temporaryFolder } from './fixtures/checkInput.ts';
import { CheckTimeout } from './runOrder.ts';

const NODE = process.execPath;

describe('a command', () => {
  test('passes when it exits with 0', async () => {
    const answer = await run({ argv: [NODE, '-e', ''] });

    expect(answer.passed).toBe(true);
    expect(answer.reason).toContain('exited with 0');
  });

  test('fails with its exit code and the end of its output, without control characters', async () => {
    const script =
      'console.log("\\x1b[31mred\\x1b[0m \\u0007\\u202ebell"); console.error("oops"); process.exitCode = 3';

    const answer = await run({ argv: [NODE, '-e', script] });

    expect(answer.passed).toBe(false);
    expect(answer.reason).toMatch(/exited with 3, expected 0; its output ends with:\n/u);
    expect(answer.reason).toContain('red bell');
    expect(answer.reason).toContain('oops');
  });

  test('may be expected to fail, with one of several codes', async () => {
    const exits = (code: number) => [NODE, '-e', `process.exit(${code})`];

    expect(await run({ argv: exits(2), expect_exit: [1, 2] })).toMatchObject({ passed: true });
    expect(await run({ argv: exits(1), expect_exit: 1 })).toMatchObject({ passed: true });
    expect(await run({ argv: exits(0), expect_exit: 1 })).toMatchObject({ passed: false });
  });

  test('must print the demanded text on standard output, so that one that does nothing fails [adv.I8]', async () => {
    const print = (stream: string) => [NODE, '-e', `process.${stream}.write("tests 12\\n")`];

    expect(await run({ argv: print('stdout'), stdout_matches: 'tests 12' })).toMatchObject({ passed: true });
    expect(await run({ argv: print('stderr'), stdout_matches: 'tests 12' })).toMatchObject({ passed: false });
    expect((await run({ argv: [NODE, '-e', ''], stdout_matches: 'tests 12' })).reason).toContain(
      'exited with 0, but did not print `tests 12`',
    );
  });

  test('reads nothing from standard input', async () => {
    const script = 'process.stdin.on("end", () => console.log("ended")).resume()';

    expect(await run({ argv: [NODE, '-e', script], stdout_matches: 'ended' })).toMatchObject({
      passed: true,
    });
  });
});

describe('a command that cannot be run', () => {
  test('fails where the program is missing, not executable or no program', async () => {
    const workspace = await temporaryFolder();
    await writeFile(join(workspace, 'plain'), 'echo hi\n', { mode: 0o644 });
    await writeFile(join(workspace, 'garbage'), '\u0001\u0002', { mode: 0o755 });

    expect((await run({ argv: ['no-such-program-here'] })).reason).toContain(
      'there is no program `no-such-program-here`',
    );
    expect((await run({ argv: ['./plain'] }, workspace)).reason).toContain('`./plain` is not executable');
    expect(await run({ argv: ['./garbage'] }, workspace)).toMatchObject({ passed: false });
    expect(await run({ argv: ['a\0b'] }, workspace)).toMatchObject({ passed: false });
  });

  test('fails when it is killed by a signal', async () => {
    const answer = await run({ argv: [NODE, '-e', 'process.kill(process.pid, "SIGKILL")'] });

    expect(answer.passed).toBe(false);
    expect(answer.reason).toContain('was killed by SIGKILL');
  });

  test('throws on parameters that are none [C19]', async () => {
    const wrong: JsonObject[] = [
      {},
      { argv: [] },
      { argv: [''] },
      { argv: ['a'], shell: 'a' },
      { argv: [1] },
      { argv: [NODE], timeout_seconds: 0 },
      { argv: [NODE], timeout_seconds: 3601 },
      { argv: [NODE], expect_exit: [] },
      { argv: [NODE], expect_exit: true },
      { argv: [NODE], env: { A: 1 } },
      { argv: [NODE], env: { PHASEGATE_KEY: 'x' } },
    ];
    for (const parameters of wrong)
      await expect(run(parameters), JSON.stringify(parameters)).rejects.toThrow();
  });
});

describe('the shell', () => {
  test('is not there unless asked for: metacharacters in argv are inert [fail.40]', async () => {
    const workspace = await temporaryFolder();
    const words = [
      '; touch broken',
      '$(touch broken)',
      '`touch broken`',
      '| touch broken',
      '&& touch broken',
      '*',
      '"',
    ];
    const script = 'console.log(JSON.stringify(process.argv.slice(1)))';

    const answer = await run(
      { argv: [NODE, '-e', script, ...words], stdout_matches: JSON.stringify(words) },
      workspace,
    );

    expect(answer.passed).toBe(true);
    expect((await run({ argv: ['echo hi; touch broken'] }, workspace)).passed).toBe(false);
    await expect(readFile(join(workspace, 'broken'))).rejects.toThrow();
  });

  test('runs a whole line when it is asked for', async () => {
    const workspace = await temporaryFolder();

    const answer = await run(
      { shell: 'echo one two | tr a-z A-Z > out; cat out', stdout_matches: 'ONE TWO' },
      workspace,
    );

    expect(answer.passed).toBe(true);
  });
});

describe('the folder of a command', () => {
  test('is the workspace, or one inside it', async () => {
    const workspace = await temporaryFolder();
    await mkdir(join(workspace, 'inner'));
    const where = [NODE, '-e', 'console.log(process.cwd())'];

    expect(await run({ argv: where, stdout_matches: `${workspace}\n` }, workspace)).toMatchObject({
      passed: true,
    });
    expect(
      await run({ argv: where, cwd: 'inner', stdout_matches: join(workspace, 'inner') }, workspace),
    ).toMatchObject({
      passed: true,
    });
  });

  test('never leaves the workspace, by dots or by a link', async () => {
    const workspace = await temporaryFolder();
    const outside = await temporaryFolder();
    await symlink(outside, join(workspace, 'link'));
    await symlink('.', join(workspace, 'inside'));
    await writeFile(join(workspace, 'file'), '');
    const wrong = ['..', '../..', 'link', 'inside', '/', outside, 'missing', 'file', `../${workspace}-other`];

    for (const cwd of wrong) {
      const answer = await run({ argv: [NODE, '-e', ''], cwd }, workspace);
      expect(answer.passed, cwd).toBe(false);
      expect(answer.reason).toContain('is not a folder inside the workspace');
    }
  });
});

describe('the environment of a command', () => {
  test('has a few harmless names and what the author fixed; nothing of ours leaks [fail.40]', async () => {
    const secrets = [
      'PHASEGATE_KEY',
      'ORCHESTRATOR_JWT_SECRET',
      'GITHUB_TOKEN',
      'ANTHROPIC_API_KEY',
      'SOME_SECRET',
    ];
    for (const name of secrets) vi.stubEnv(name, 'leaked-value');
    vi.stubEnv('NODE_OPTIONS', '--no-warnings');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const script =
      'console.log(Object.keys(process.env).sort().join(" ") + " " + JSON.stringify(process.env))';

    const answer = await run({ argv: [NODE, '-e', `${script}; process.exit(9)`], env: { MODE: 'fixed' } });

    const names = /output ends with:\n(.*?) \{/u.exec(answer.reason)?.[1]?.split(' ') ?? [];
    expect(names).toContain('MODE');
    expect(names).toContain('PATH');
    expect(names.filter((name) => !ALLOWED.has(name))).toEqual([]);
    expect(answer.reason).not.toContain('leaked-value');
  });

  test('has a search path without relative entries and without the workspace, where an agent could put programs', async () => {
    const workspace = await temporaryFolder();
    await mkdir(join(workspace, 'bin'));
    await writeFile(join(workspace, 'bin', 'planted'), '#!/bin/sh\nexit 0\n');
    await chmod(join(workspace, 'bin', 'planted'), 0o755);
    const inside = join(workspace, 'bin');
    const later = join(workspace, 'later');

    const { PATH } = cleanEnvironment(
      { PATH: `.::bin:${inside}:${later}:/usr/bin:${workspace}` },
      workspace,
      {},
    );
    expect(PATH).toBe('/usr/bin');

    vi.stubEnv('PATH', `${inside}:${process.env.PATH}`);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    expect((await run({ argv: ['planted'] }, workspace)).reason).toContain('there is no program');
    expect(await run({ argv: ['bin/planted'] }, workspace)).toMatchObject({ passed: true });
  });
});

describe('a command that does not end', () => {
  test('is reported as timed out, not as failed', async () => {
    const running = run({ argv: [NODE, '-e', 'setInterval(() => {}, 1000)'], timeout_seconds: 0.3 });

    await expect(running).rejects.toBeInstanceOf(CheckTimeout);
    await expect(running).rejects.toMatchObject({ name: 'CheckTimeout' });
    await expect(running).rejects.toThrow('did not end within 0.3 seconds');
  });

  test('is reported as timed out when the runtime runs out of time', async () => {
    const workspace = await temporaryFolder();
    const endless = checkInput(
      { argv: [NODE, '-e', 'setInterval(() => {}, 1000)'] },
      { workspace, signal: AbortSignal.timeout(200) },
    );

    await expect(command.run(endless)).rejects.toBeInstanceOf(CheckTimeout);
  });

  test('is killed with every process it started when the check is aborted', async () => {
    const workspace = await temporaryFolder();
    const controller = new AbortController();
    const running = command.run(
      checkInput({ argv: [NODE, '-e', FAMILY] }, { workspace, signal: controller.signal }),
    );
    const failed = expect(running).rejects.toThrow('was aborted');
    const pids = await familyOf(workspace);
    expect(pids.map(isAlive)).toEqual([true, true, true]);

    controller.abort();

    await failed;
    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false, false]), {
      timeout: 10_000,
      interval: 20,
    });
  });

  test('is killed with every process it started when its time is up', async () => {
    const workspace = await temporaryFolder();
    const running = command.run(
      checkInput({ argv: [NODE, '-e', FAMILY], timeout_seconds: 2 }, { workspace }),
    );

    await expect(running).rejects.toBeInstanceOf(CheckTimeout);

    // On a busy machine the last of them may not have come to life; anyone who did must be gone.
    const names = (await readdir(workspace)).filter((name) => /^\d$/u.test(name));
    const pids = names.map((name) => Number(readFileSync(join(workspace, name), 'utf8')));
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 10_000, interval: 20 });
  });

  test('is killed also when it does not heed the request to end', async () => {
    const workspace = await temporaryFolder();
    const controller = new AbortController();
    const deaf = `process.on('SIGTERM', () => {}); require('node:fs').writeFileSync('0', String(process.pid)); setInterval(() => {}, 1000)`;
    const running = command.run(
      checkInput({ argv: [NODE, '-e', deaf] }, { workspace, signal: controller.signal }),
    );
    const failed = expect(running).rejects.toThrow('was aborted');
    const pid = await vi.waitFor(
      async () => {
        const text = await readFile(join(workspace, '0'), 'utf8');
        expect(text).not.toBe('');
        return Number(text);
      },
      { timeout: 30_000, interval: 20 },
    );

    controller.abort();

    await failed;
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000, interval: 20 });
  });

  test('never starts when the check was aborted before', async () => {
    const workspace = await temporaryFolder();
    const input = checkInput(
      { argv: [NODE, '-e', 'setInterval(() => {}, 1000)'] },
      { workspace, signal: AbortSignal.abort() },
    );

    await expect(command.run(input)).rejects.toThrow('was aborted');
  });
});

test('what a command leaves running behind it is killed too', async () => {
  const workspace = await temporaryFolder();
  const leaves = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    require('node:fs').writeFileSync('left', String(child.pid));
    child.unref();
    process.exit(0);
  `;

  const answer = await run({ argv: [NODE, '-e', leaves] }, workspace);

  expect(answer.passed).toBe(true);
  const pid = Number(await readFile(join(workspace, 'left'), 'utf8'));
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000, interval: 20 });
});

describe('output', () => {
  const flood = (bytes: number) => [
    NODE,
    '-e',
    `process.stdout.write("x".repeat(${bytes}), () => console.log("end"))`,
  ];

  test('over the limit kills the command and fails it', async () => {
    const answer = await run({ argv: flood(10 * 1024 * 1024) });

    expect(answer.passed).toBe(false);
    expect(answer.reason).toContain('printed more than 1048576 bytes and was killed');
    expect(answer.reason.length).toBeLessThan(3000);
  });

  test('without end kills the command', async () => {
    const answer = await run({ shell: 'yes flood', max_output_bytes: 5000 });

    expect(answer.reason).toContain('printed more than 5000 bytes');
  });

  test('just over the limit fails also when the command ends by itself', async () => {
    expect((await run({ argv: flood(100), max_output_bytes: 50 })).reason).toContain(
      'printed more than 50 bytes',
    );
  });

  test('of 10 MB is fine where the limit allows it, and only its end is in a reason', async () => {
    const answer = await run({
      argv: flood(10 * 1024 * 1024),
      max_output_bytes: 20_000_000,
      expect_exit: 7,
      stdout_matches: 'end',
    });

    expect(answer.reason).toContain('exited with 0, expected 7');
    expect(answer.reason.length).toBeLessThan(3000);
    expect(answer.reason).toMatch(/xend$/u);
  });
});

const ALLOWED: ReadonlySet<string> = new Set(['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'MODE']);

/** A leader, a child and a grandchild that ignores SIGTERM; each writes its process id. */
const FAMILY = `
  const { spawn } = require('node:child_process');
  const { renameSync, writeFileSync } = require('node:fs');
  const write = (name, pid) => { writeFileSync(name + '.part', String(pid)); renameSync(name + '.part', name); };
  const grandchild = "process.on('SIGTERM', () => {}); require('node:fs').writeFileSync('2.part', String(process.pid)); require('node:fs').renameSync('2.part', '2'); setInterval(() => {}, 1000)";
  const child = "require('node:child_process').spawn(process.execPath, ['-e', process.argv[1]], { stdio: 'ignore' }); setInterval(() => {}, 1000)";
  write('0', process.pid);
  write('1', spawn(process.execPath, ['-e', child, grandchild], { stdio: 'ignore' }).pid);
  setInterval(() => {}, 1000);
`;

async function familyOf(workspace: string): Promise<readonly number[]> {
  const read = async (name: string) => Number(await readFile(join(workspace, name), 'utf8'));
  return vi.waitFor(() => Promise.all(['0', '1', '2'].map(read)), { timeout: 30_000, interval: 20 });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A dead process that nobody has collected yet still has an id.
  return !existsSync('/proc/self/stat') || !/\) Z /u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

async function run(parameters: JsonObject, workspace?: string) {
  return command.run(checkInput(parameters, { workspace: workspace ?? (await temporaryFolder()) }));
}
