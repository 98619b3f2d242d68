import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { folderWith, SANDBOXES, scopeOf, shell } from './fixtures/enclosing.ts';

const ENCLOSING = join(import.meta.dirname, 'fixtures/enclosing.ts');

/** Runs a program of Node as a user that has nothing but the folder of a test. */
function asOrdinary(program: string) {
  const words = ['--reuid', '12345', '--regid', '12345', '--clear-groups', process.execPath];
  return spawnSync('setpriv', [...words, '--input-type=module', '-e', program], {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', TMPDIR: '/tmp' },
  });
}

/** Only root can become somebody else, who must be able to read these sources. */
const ORDINARY = (() => {
  if (process.getuid?.() !== 0) return false;
  // Others may pass through the folder of all tests, to the one that is made for them.
  chmodSync(realpathSync(tmpdir()), 0o711);
  return asOrdinary(`await import(${JSON.stringify(ENCLOSING)})`).status === 0;
})();

describe.runIf(SANDBOXES)('a program in a sandbox (bubblewrap)', () => {
  test('writes in its scope, and nowhere else by any route [adv.A1 adv.A8 adv.B2]', async () => {
    const workspace = folderWith({ 'src/a.ts': 'a', 'plan.md': 'the plan', 'docs/b.md': 'b' });
    writeFileSync(join(workspace, '../outside/c.txt'), 'c');
    const tries = [
      'echo x > plan.md',
      'tee docs/b.md < /dev/null',
      'sed -i s/b/x/ docs/b.md',
      'rm -f plan.md',
      'mv docs documents',
      'cp src/a.ts new.txt',
      'ln src/a.ts docs/hard',
      'ln docs/b.md src/hard',
      'ln -s ../plan.md src/link && echo x > src/link',
      `echo x > ${join(workspace, '../outside/c.txt')}`,
      `python3 -c 'open("plan.md", "w").write("x")'`,
      'echo ZWNobyB4ID4gcGxhbi5tZA== | base64 -d | bash -e',
      'echo "echo x > plan.md" > src/run.sh && bash -e src/run.sh',
      'mount -o remount,rw .',
      'chmod -R a+w docs',
    ];

    const { stdout } = await shell(
      scopeOf(workspace, ['src/**']),
      `echo inside > src/a.ts; mkdir src/deep; echo new > src/deep/new.ts; ${tries
        .map((line, place) => `( ${line} ) 2>/dev/null && echo "${place} went through"`)
        .join('; ')}; true`,
    );

    expect(stdout).toBe('');
    expect(readFileSync(join(workspace, 'src/a.ts'), 'utf8')).toBe('inside\n');
    expect(readFileSync(join(workspace, 'src/deep/new.ts'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(workspace, 'plan.md'), 'utf8')).toBe('the plan');
    expect(readFileSync(join(workspace, 'docs/b.md'), 'utf8')).toBe('b');
    expect(readFileSync(join(workspace, '../outside/c.txt'), 'utf8')).toBe('c');
    expect(readdirSync(workspace).sort()).toEqual(['docs', 'plan.md', 'src']);
  });

  test('sees the workspace and the system, and nothing of the machine [adv.H8]', async () => {
    const workspace = folderWith({ 'src/a.ts': 'a' });
    const state = join(workspace, '../outside/state');
    mkdirSync(state);
    writeFileSync(join(state, 'keys.json'), 'the keys');
    vi.stubEnv('GITHUB_TOKEN', 'a-secret-of-ours');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });

    const { stdout } = await shell(
      scopeOf(workspace, []),
      `ls /; echo -; ls /run ${state} ~ 2>&1; echo -; env; cat /etc/shadow /proc/1/environ 2>&1; echo -; ls /proc | grep -c '^[0-9]'; grep Cap /proc/self/status; unshare --user true 2>&1; ls /proc/self/fd`,
      { hidden: [state], read: [join(workspace, '../outside')] },
    );

    expect(stdout).not.toContain('a-secret-of-ours');
    expect(stdout).not.toContain('the keys');
    expect(stdout).not.toContain('keys.json');
    expect(stdout).toContain("cannot access '/run'");
    expect(stdout).not.toMatch(/^(?:boot|mnt|opt|run|srv|sys|var)$/m);
    expect(stdout).toMatch(/^CapEff:\s0+$/m);
    expect(stdout).toMatch(/^CapBnd:\s0+$/m);
    expect(stdout).toContain('unshare failed');
    expect(Number(/^-\n(\d+)$/m.exec(stdout.slice(stdout.lastIndexOf('-\n')))?.[1])).toBeLessThan(10);
  });

  test('has no network, not even that of this machine [adv.A9]', async () => {
    const workspace = folderWith({});
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { readonly port: number };

    const { stdout } = await shell(
      scopeOf(workspace, []),
      `(echo > /dev/tcp/127.0.0.1/${port}) 2>&1; ls /sys/class/net 2>&1; cat /proc/net/dev | tail -n +3`,
    );

    expect(stdout).toContain('Connection refused');
    expect(stdout.trim().split('\n').at(-1)).toMatch(/^\s*lo:/);
  });

  test('reaches no socket through a read-only mount', async () => {
    const workspace = folderWith({});
    const path = join(workspace, 'engine.sock');
    let reached = 0;
    const server = createServer(() => reached++);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());

    const { stdout } = await shell(
      scopeOf(workspace, []),
      `node -e 'require("net").connect("engine.sock").on("error", (e) => console.log(e.code))'`,
      { environment: { PATH: `${process.execPath.replace(/\/node$/, '')}:/usr/bin:/bin` } },
    );

    expect(stdout).toBe('EPERM\n');
    expect(reached).toBe(0);
  });

  test('makes only sockets that its own network holds: none to the host of a virtual machine', async () => {
    const tried = 'import socket, sys; socket.socket(int(sys.argv[1]), int(sys.argv[2]))';
    const line = ['2 1', '10 1', '16 3', '40 1', '38 5', '1 1']
      .map((words) => `python3 -c '${tried}' ${words} 2>/dev/null && echo ${words}`)
      .join('; ');

    const { stdout } = await shell(scopeOf(folderWith({}), []), `${line}; true`);

    expect(stdout).toBe('2 1\n10 1\n16 3\n');
  });

  test('inherits no descriptor that nobody gave it', async () => {
    const workspace = folderWith({});
    writeFileSync(join(workspace, '../outside/key'), 'the key');
    const program = `
      import { scopeOf, shell } from ${JSON.stringify(ENCLOSING)};
      const seen = await shell(scopeOf(${JSON.stringify(workspace)}, []), 'cat <&7 2>&1; cat <&40 2>&1; ls /proc/self/fd');
      console.log(seen.stdout);`;

    const run = spawnSync(
      'bash',
      [
        '-c',
        'exec 7<"$1" 40<"$1"; exec "$2" --input-type=module -e "$3"',
        'bash',
        join(workspace, '../outside/key'),
        process.execPath,
        program,
      ],
      { encoding: 'utf8' },
    );

    expect(run.stderr).not.toContain('Error');
    expect(run.stdout).not.toContain('the key');
    expect(run.stdout).toContain('0\n1\n2\n');
  });

  test('leaves nothing running behind [adv.D4]', async () => {
    const workspace = folderWith({ 'src/a': '' });

    const line =
      '(setsid bash -c "exec -a left-behind-$$ sleep 300" >/dev/null 2>&1 &) ; echo $$ > src/a; true';
    expect((await shell(scopeOf(workspace, ['src/**']), line)).code).toBe(0);

    await vi.waitFor(() => expect(spawnSync('pgrep', ['-f', 'left-behind']).stdout.toString()).toBe(''), {
      timeout: 10_000,
      interval: 20,
    });
  });

  test('keeps to a file among others that are held, and makes folders of its scope', async () => {
    const workspace = folderWith({ 'CHANGES.md': 'old', 'package.json': '{}', 'src/a': 'a' });

    const seen = await shell(
      scopeOf(workspace, ['CHANGES.md', 'build/out/**']),
      'echo new > tmp && mv tmp CHANGES.md; echo x > build/out/x; for f in package.json src/a; do echo x > $f; rm -f $f; mv src gone; done; true',
    );

    expect(seen.code).toBe(0);
    expect(readFileSync(join(workspace, 'CHANGES.md'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(workspace, 'package.json'), 'utf8')).toBe('{}');
    expect(readFileSync(join(workspace, 'src/a'), 'utf8')).toBe('a');
    expect(existsSync(join(workspace, 'build/out/x'))).toBe(true);
  });

  test('has the few settings of the system that programs need, and no keys or passwords beside them', async () => {
    const workspace = folderWith({ 'src/a': 'a' });
    const line =
      'cat /etc/passwd; ls /etc/shadow /etc/ssl/private /etc/java-*/management/* 2>/dev/null; echo x >> /etc/passwd; true';

    const { stdout } = await shell(scopeOf(workspace, ['src/**']), line);

    expect(stdout).toBe(readFileSync('/etc/passwd', 'utf8'));
  });

  test('is not shown definitions where it works by what it is told, unless it commits', async () => {
    const workspace = folderWith({
      'agent_workflow.yaml': 'the law',
      'phasegate.config.yaml': 'the law',
      'flows/deep/a.yaml': 'the law',
      'flows/open.yaml': 'seen',
      'workflows/deep/b.workflow.yaml': 'the law',
      'plan/tasks.md': 'the law',
      'src/a': 'seen',
    });
    const scope = scopeOf(workspace, ['src/**', 'flows/open.yaml'], { definitions: ['plan/tasks.md'] });
    const look = 'cat src/a flows/open.yaml; echo; grep -rl "the law" . /proc/self/fd/';
    const line = `${look}; ls workflows; echo x > workflows/new; echo x > agent_workflow.yaml; echo x > flows/open.yaml`;
    const settings = { definitions: ['flows/**/*.yaml'], withoutDefinitions: true };

    const told = await shell(scope, line, settings);
    const shown = await shell(scope, look, { ...settings, withoutDefinitions: false });
    const commits = await shell({ ...scope, commits: true }, look, settings);

    expect(told.stdout).toBe('seenseen\n');
    expect(told.stderr.match(/Read-only file system/g)).toHaveLength(2);
    for (const { stdout } of [shown, commits]) expect(stdout.match(/^\.\//gm)).toHaveLength(5);
    expect(readFileSync(join(workspace, 'agent_workflow.yaml'), 'utf8')).toBe('the law');
    expect(readFileSync(join(workspace, 'flows/open.yaml'), 'utf8')).toBe('x\n');
    expect(readdirSync(join(workspace, 'workflows'))).toEqual(['deep']);
  });

  test('that leaves nobody behind is not taken for one that does, and one that does is noticed the first time', async () => {
    const scope = scopeOf(folderWith({}), []);
    // They print last, or would: after the program, in its place, or in the place of the one who says that it ended.
    const left = [
      'sleep 60 & echo said',
      '(setsid sh -c "while kill -0 $$ 2>/dev/null; do :; done; sleep 60" &) ; echo said',
      'sleep 60 & echo said; kill -9 $PPID; sleep 60',
      'sleep 60 & echo said; kill -9 $$',
    ];

    for (let time = 0; time < cases({ quick: 2, full: 20 }); time++) {
      expect(await shell(scope, 'echo said')).toMatchObject({ code: 0, stdout: 'said\n', heldOpen: false });
      const apart = 'while [ "$(readlink /proc/$!/fd/1)" != /dev/null ]; do :; done';
      expect(await shell(scope, `sleep 60 >/dev/null & ${apart}; echo said; exit 7`)).toMatchObject({
        code: 7,
        stdout: 'said\n',
        heldOpen: false,
      });
      for (const line of left)
        expect(await shell(scope, line), line).toMatchObject({ stdout: 'said\n', heldOpen: true });
    }
  });

  test('has no more memory than the project gives each process', async () => {
    const scope = scopeOf(folderWith({}), []);
    const line = 'ulimit -d; x=$(printf "%100000000s" x) && echo got it';

    const limited = await shell(scope, line, { memory: 64 });

    expect(limited.stdout).toBe('65536\n');
  });

  test('leaves no folder behind that it was given and did not use', async () => {
    const workspace = folderWith({});

    await shell(scopeOf(workspace, ['build/out/**']), 'true');

    expect(existsSync(join(workspace, 'build'))).toBe(false);
  });

  test('does not write the repository, or all of it but config and hooks where its phase commits', async () => {
    const workspace = folderWith({ 'src/a': 'a' });
    execFileSync('git', ['init', '-q', workspace]);
    const hook = join(workspace, '.git/hooks/pre-commit');
    mkdirSync(join(workspace, '.git/hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\n');
    const config = readFileSync(join(workspace, '.git/config'), 'utf8');
    const commit =
      'git -c user.name=a -c user.email=a@b add -A && git -c core.hooksPath=/dev/null -c user.name=a -c user.email=a@b commit -qm x; git config user.name x; echo x >> .git/hooks/pre-commit; git log --oneline | wc -l';

    const without = await shell(scopeOf(workspace, ['**']), commit);
    const withCommits = await shell(scopeOf(workspace, ['**'], { commits: true }), commit);

    expect(without.stdout.trim()).toBe('0');
    expect(withCommits.stdout.trim()).toBe('1');
    expect(readFileSync(hook, 'utf8')).toBe('#!/bin/sh\n');
    expect(readFileSync(join(workspace, '.git/config'), 'utf8')).toBe(config);
  });

  test('commits as the user, and knows nothing else that the user told git', async () => {
    const workspace = folderWith({ 'src/a': 'a' });
    const home = join(workspace, '../outside');
    writeFileSync(
      join(home, '.gitconfig'),
      '[user]\n\tname = Ada "the" Example\n  email = ada@example.org\n[credential]\n\thelper = "!echo planted"\n',
    );
    execFileSync('git', ['init', '-q', workspace]);

    const { stdout } = await shell(
      scopeOf(workspace, ['src/**'], { commits: true }),
      'git add -A && git commit -qm x; git log --format="%an <%ae>"; git config --list --global',
      { home },
    );

    expect(stdout).toBe(
      'Ada the Example <ada@example.org>\nuser.name=Ada the Example\nuser.email=ada@example.org\n',
    );
  });

  test('is not begun where a folder of the scope is a link, or a file in it has a second name [adv.C2]', async () => {
    const workspace = folderWith({ 'real/a': 'a', 'src/a': 'a', 'plan.md': 'p' });
    symlinkSync('real', join(workspace, 'linked'));
    linkSync(join(workspace, 'plan.md'), join(workspace, 'src/plan.md'));

    await expect(shell(scopeOf(workspace, ['linked/**']), 'true')).rejects.toMatchObject({
      code: 'path_is_link',
    });
    await expect(shell(scopeOf(workspace, ['src/**']), 'echo x > src/plan.md')).rejects.toMatchObject({
      code: 'path_is_link',
      message: expect.stringContaining('src/plan.md'),
    });
    expect((await shell(scopeOf(workspace, ['real/**']), 'true')).code).toBe(0);
  });

  test.each([
    ['few', 1],
    ['many', 2100],
  ])('is begun where all names of a file are in the scope, among %s files', async (_, count) => {
    const files = Array.from({ length: count }, (_none, at) => [`src/f${at}`, 'f'] as const);
    const workspace = folderWith({ ...Object.fromEntries(files), 'out/a': 'a', 'plan.md': 'p' });
    linkSync(join(workspace, 'out/a'), join(workspace, 'src/a'));
    const scope = scopeOf(workspace, ['src/**', 'out/**']);

    expect((await shell(scope, 'echo x > src/a')).code).toBe(0);
    await expect(shell(scopeOf(workspace, ['src/**']), 'true')).rejects.toMatchObject({
      code: 'path_is_link',
    });
    linkSync(join(workspace, 'out/a'), join(workspace, 'third'));
    await expect(shell(scope, 'true')).rejects.toMatchObject({ code: 'path_is_link' });
  });

  test.runIf(ORDINARY)('is held for an ordinary user too', () => {
    const workspace = folderWith({ 'src/a': 'a', 'plan.md': 'p' });
    execFileSync('chown', ['-R', '12345:12345', join(workspace, '..')]);
    const line =
      'id -u; echo x > src/a; echo x > plan.md; cat /proc/1/environ; grep CapEff /proc/self/status';

    const seen = asOrdinary(`
      import { scopeOf, shell } from ${JSON.stringify(ENCLOSING)};
      const seen = await shell(scopeOf(${JSON.stringify(workspace)}, ['src/**']), ${JSON.stringify(line)});
      console.log(seen.stdout, seen.stderr);`);

    expect(seen.stdout).toContain('12345\n');
    expect(seen.stdout).toMatch(/^CapEff:\s0+$/m);
    expect(readFileSync(join(workspace, 'src/a'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(workspace, 'plan.md'), 'utf8')).toBe('p');
  });

  test('that is alone is shown nothing that other programs may have written', async () => {
    const workspace = folderWith({});
    const outside = join(workspace, '../outside');
    const line = `echo x > ${outside}/cache && cat ${outside}/cache`;

    expect((await shell(scopeOf(workspace, []), line, { write: [outside] })).stdout).toBe('x\n');
    const seen = await shell(scopeOf(workspace, [], { alone: true }), line, { write: [outside] });
    expect([seen.code, seen.stdout]).toEqual([1, '']);
  });

  test('that could not be put into a sandbox has not ended: its exit code says nothing', async () => {
    const workspace = folderWith({});
    const seen = await shell(scopeOf(workspace, []), 'exit 1', { write: ['/proc/1/root'] });
    expect([seen.how.kind, seen.code]).not.toEqual(['exited', 1]);
  });
});
