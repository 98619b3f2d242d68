/** One route to an effect outside the scope, tried for real by a program in a sandbox. */
export interface SandboxRow {
  readonly trick: string;
  /** In which the operating system refuses it. */
  readonly refusedIn: 'sandboxed';
  /** For bash, in a phase that may write `src/**`. It must not change, read or reach what it is after. */
  readonly line: string;
}

/**
 * Each is after the same: `plan.md` outside the scope, `SECRET` beside the workspace, or `PORT` of this machine. What
 * the harness puts there is in capitals.
 */
export const SANDBOX_ROWS: readonly SandboxRow[] = [
  row('a shell writes by redirection', 'echo x > plan.md'),
  row('a here document through tee', 'tee plan.md << E\nx\nE'),
  row('an editor that works in place', 'sed -i s/the/x/ plan.md'),
  row('Python writes', `python3 -c 'open("plan.md", "w").write("x")'`),
  row('Perl writes', `perl -e 'open(F, ">", "plan.md"); print F "x"'`),
  row('a script in the scope is a trampoline', 'echo "echo x > plan.md" > src/run.sh; bash src/run.sh'),
  row(
    'a target of make is a trampoline',
    'printf "all:\\n\\techo x > ../plan.md\\n" > src/Makefile; make -C src',
  ),
  row('a background process waits for the end', '(setsid bash -c "sleep 0.2; echo x > plan.md" &)'),
  row('an encoded line', 'echo ZWNobyB4ID4gcGxhbi5tZA== | base64 -d | bash'),
  row('a link in the scope leads out', 'ln -s ../plan.md src/link; echo x > src/link'),
  row(
    'a link in the scope leads out of the workspace',
    'ln -s SECRET src/link; cat src/link; echo x > src/link',
  ),
  row('a hard link into the scope', 'ln plan.md src/hard; echo x > src/hard'),
  row('the file is renamed, and another put in its place', 'mv plan.md src/; echo x > plan.md'),
  row('the folder around it is renamed', 'mv "$PWD" "$PWD-gone"; mkdir "$PWD"; echo x > "$PWD/plan.md"'),
  row('an absolute path with `..`', 'echo x > "$PWD/src/../plan.md"; cat "$PWD/../outside/secret"'),
  row('a mount is made writable', 'mount -o remount,rw,bind "$PWD"; umount "$PWD"; echo x > plan.md'),
  row('a namespace of its own', 'unshare -Urm bash -c "mount -o remount,rw,bind $PWD; echo x > plan.md"'),
  row(
    'the root of another process',
    'cat /proc/1/root"SECRET"; cat /proc/*/root"SECRET"; echo x > /proc/1/cwd/plan.md',
  ),
  row(
    'a poisoned search path',
    'printf "#!/bin/sh\\necho x > plan.md\\n" > src/git; chmod +x src/git; PATH=$PWD/src:$PATH git',
  ),
  row('a library that is loaded first', 'LD_PRELOAD=$PWD/src/x.so ls; echo x > plan.md'),
  row(
    'an inherited descriptor',
    'for fd in /proc/self/fd/*; do cat "$fd" < /dev/null; done; cat <&7; cat <&40',
  ),
  row(
    'a socket in a read-only mount',
    "python3 -c \"import socket; s=socket.socket(socket.AF_UNIX); s.connect('engine.sock'); s.send(b'x')\"",
  ),
  row('the network of this machine', 'exec 3<>/dev/tcp/127.0.0.1/PORT; echo x >&3'),
  row('a device', 'cat /dev/mem /dev/kmsg /dev/vda /dev/sda; mknod src/disk b 254 0 && cat src/disk'),
  row('the keys and the state', 'cat "SECRET"; find /tmp /home /root /var /work -name secret -exec cat {} +'),
  row('a set-user-id program', 'su -c "echo x > plan.md"; sudo -n sh -c "echo x > plan.md"'),
];

function row(trick: string, line: string): SandboxRow {
  return { trick, refusedIn: 'sandboxed', line };
}
