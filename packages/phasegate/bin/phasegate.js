#!/usr/bin/env node
// Plain JavaScript on purpose: it must run, and say what is wrong, on a Node or a system the rest does not work on.
import module from 'node:module';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 16)) {
  console.error(
    `phasegate needs Node 22.16 or newer, and this is ${process.versions.node}; install a newer Node and try again`,
  );
  process.exit(2);
}
if (process.platform !== 'linux' && process.platform !== 'darwin') {
  console.error(
    `phasegate runs on Linux and macOS, and this is ${process.platform}; on Windows install it inside WSL and start it there`,
  );
  process.exit(2);
}
withoutSqliteNotice();
keepCompiled();
await import('../dist/cli/main.js');

/**
 * Older Nodes say on every start that their SQLite is experimental, among the lines that are meant for the user.
 * That one notice is left out; every other warning is shown.
 */
function withoutSqliteNotice() {
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => {
    const isNotice = rest[0] === 'ExperimentalWarning' && /^SQLite is an experimental/.test(String(warning));
    if (!isNotice) emitWarning.call(process, warning, ...rest);
  };
}

/**
 * Lets Node keep what it compiled, which takes longer than completing a phase. Node runs what it finds there without
 * comparing it with the code, so anyone who can write that folder decides what a human's next command does. It therefore
 * lies beside the code, belongs to the owner of the code and is closed to all others: a shared folder for temporary
 * files, Node's own choice, is open to agents. Where that cannot be, everything is compiled again.
 */
function keepCompiled() {
  const { lstatSync, mkdirSync } = process.getBuiltinModule('node:fs');
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  const folder = fileURLToPath(new URL('../dist/compiled', import.meta.url));
  const user = process.getuid?.();
  if (user === undefined || module.enableCompileCache === undefined) return;
  try {
    if (lstatSync(fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))).uid !== user) return;
    let found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) {
      mkdirSync(folder, { mode: 0o700 });
      found = lstatSync(folder);
    }
    if (found.isDirectory() && found.uid === user && (found.mode & 0o077) === 0)
      module.enableCompileCache(folder);
  } catch {
    // Two may make it at once, or it cannot be made: this process compiles for itself.
  }
}
