import { describe, expect, test } from 'vitest';
import { folderWith, SANDBOXES, scopeOf, shell } from './fixtures/enclosing.ts';

const NODE = `${process.execPath.replace(/\/node$/, '')}:/usr/bin:/bin`;

describe.runIf(SANDBOXES)('sockets of a program in a sandbox (bubblewrap)', () => {
  test('no pair of sockets leads to a name in the file system [adv.A9]', async () => {
    const tried = `
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
  try: one, other = socket.socketpair(socket.AF_UNIX, kind)
  except OSError as error: print(int(kind), error.errno); continue
  one.bind('src/%d' % kind)
  other.close()
  for act in (lambda: one.connect('src/door'), lambda: one.listen(1), lambda: one.sendto(b'x', 'src/door')):
    try: act(); print(int(kind), 'led')
    except OSError: pass
  print(int(kind), 'held')
`;

    const { stdout, stderr } = await shell(
      scopeOf(folderWith({ 'src/try.py': tried }), ['src/**']),
      'python3 src/try.py',
    );

    expect(stderr).toBe('');
    expect(stdout).toBe('1 held\n2 1\n2050 1\n5 held\n3 1\n');
  });

  test('programs that talk to their children by pairs work as before', async () => {
    const workspace = folderWith({
      'child.mjs': "process.on('message', (said) => process.send(said + 1, () => process.exit(0)));",
      'parent.mjs':
        "import { fork } from 'node:child_process'; const child = fork('child.mjs'); child.on('message', (said) => console.log(said)); child.send(1);",
      'pool.py': `
import subprocess, multiprocessing, asyncio
def twice(n): return 2 * n
if __name__ == '__main__':
  print(subprocess.run(['cat'], input=b'piped', capture_output=True).stdout)
  with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(twice, [1, 2]))
  async def main():
    made = await asyncio.create_subprocess_exec('echo', 'async', stdout=subprocess.PIPE)
    print((await made.communicate())[0])
  asyncio.run(main())
`,
    });

    const { stdout, stderr } = await shell(scopeOf(workspace, []), 'node parent.mjs; python3 pool.py', {
      environment: { PATH: NODE },
    });

    expect(stderr).toBe('');
    expect(stdout).toBe("2\nb'piped'\n[2, 4]\nb'async\\n'\n");
  });

  test('no descriptor is taken out of another process', async () => {
    const tried = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
mine = libc.syscall(434, os.getpid(), 0)
print(libc.syscall(438, mine, 0, 0), ctypes.get_errno())
`;

    const { stdout } = await shell(scopeOf(folderWith({ 'try.py': tried }), []), 'python3 try.py');

    expect(stdout).toBe('-1 1\n');
  });

  test.each([0, 40])(
    'the pipe of its relay is not inherited, however many descriptors stand before it: %i',
    async (count) => {
      const files = Object.fromEntries(Array.from({ length: count }, (_, index) => [`src/a${index}/x`, '']));
      const workspace = folderWith({ 'plan.md': '', ...files });
      const writes = count === 0 ? ['src/**'] : Object.keys(files).map((path) => `${path.slice(0, -2)}/**`);

      const { stdout } = await shell(
        scopeOf(workspace, writes, { hosts: ['example.org'] }),
        'for fd in /proc/self/fd/*; do [ $(basename $fd) -gt 2 ] && readlink $fd; done | grep -c socket',
      );

      expect(stdout).toBe('0\n');
    },
  );
});
