#!/usr/bin/env node
'use strict';
// Plain JavaScript on purpose: it must run, and say what is wrong, on a Node or a system the rest does not work on.
// A CommonJS file, as `package.json` beside it says: what a short command needs is loaded without Node's module loader.

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

const { isAscii } = require('node:buffer');
const fs = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { Script } = require('node:vm');

/** The families of commands, as `bundle.js` built them. */
const BUILT = join(__dirname, '../dist/cli');
/** What was compiled of them. It lies beside the code; see `compiledFolder`. */
const COMPILED = join(__dirname, '../dist/compiled');

/** What makes a folder a project, as in `config/findProjectRoot.ts`, which is not loaded yet. */
const PROJECT_MARKS = ['phasegate.config.json', 'phasegate.config.yaml', '.phasegate', 'agent_workflow.yaml'];

/** Commands that are called often and for a moment. Each has its own kept code; all others share one. */
const FREQUENT = ['done', 'hook', 'next', 'runs', 'start', 'status', 'task'];
/** Commands that end before kept code would be read. */
const LIGHT = ['--help', '--version', '-V', '-h', 'help', 'version'];
/** Code is kept anew until it was made so often: each time it knows more of what the command runs. */
const MOST_MAKINGS = 4;
/** The same where a family was loaded of which none is kept. */
const MOST_WITH_MISSING = 12;
/** What lives for longer is seldom started. */
const SHORT_SECONDS = 10;
const ALIGNMENT = 8;
/** Families that are loaded when something of them is first asked for, as in `lateModules.js`. */
const LATE = ['rules', 'acts'];
/** Whose code it is. */
const NODE = `${process.version} ${process.arch} ${process.versions.v8}`;

/** Families that are loaded: what they export, and their scripts. */
const families = new Map();
/** Packages that families import and that lie outside of them. */
const outside = new Map();

withoutSqliteNotice();
let kept = openKept();
process.once('exit', (code) => {
  if (kept !== null && code === 0 && process.uptime() < SHORT_SECONDS) keepCompiled(kept);
  // Nothing is under way any more, and the system takes the memory back faster than V8 clears it up.
  if (process.listenerCount('exit') === 0) process.exit();
});
load.after = loadAfter;
for (const name of LATE) {
  // A property and not a call: what families write as `new require.rules.Name()` must take the name, not the call.
  Object.defineProperty(load, name, { get: () => keepHeld(name), configurable: true });
}
load.late = async (name) => process.getBuiltinModule(name) ?? import(name);
load('./main.js');

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

/** What a family gets when it asks for a family, for a module of Node or for a package that was imported for it. */
function load(name) {
  if (!name.startsWith('./')) return outside.get(name) ?? process.getBuiltinModule(name);
  const known = families.get(name);
  if (known !== undefined) return known.exports;
  const file = join(BUILT, name);
  const bytes = fs.readFileSync(file);
  const { source, code } = kept?.of(name, bytes) ?? {};
  const script = new Script(isAscii(bytes) ? bytes.latin1Slice() : bytes.utf8Slice(), {
    filename: file,
    ...(code === undefined ? {} : { cachedData: code }),
  });
  const family = { exports: {}, source, script };
  families.set(name, family);
  script.runInThisContext()(family.exports, load, file, BUILT);
  return family.exports;
}

/** Loads a family that something is first asked of; from then on it is a plain property of `load`. */
function keepHeld(name) {
  const value = load(`./${name}.js`);
  Object.defineProperty(load, name, { value });
  return value;
}

/**
 * Imports what a family needs of packages outside of it, then loads it; families call it as `require.after`. Only what
 * lives for long needs such packages, so no more code is kept of it.
 */
async function loadAfter(packages, name) {
  const folder = compiledFolder();
  if (folder !== null) require('node:module').enableCompileCache?.(folder);
  await Promise.all(packages.map(async (from) => outside.set(from, await import(from))));
  const loaded = load(name);
  kept = null;
  return loaded;
}

/**
 * The code that V8 made of what this command ran before, which takes longer to make than a phase to complete; null where
 * none is kept. INVARIANT: V8 runs what it is given without comparing it with the source. It is therefore only read where
 * nobody but the owner of the source can write, and only if it is whole and was made of this very source by this Node.
 */
function openKept() {
  const words = process.argv.slice(2);
  const [first = '--help'] = words;
  if (LIGHT.includes(first) || process.env.NODE_DISABLE_COMPILE_CACHE === '1') return null;
  const folder = compiledFolder();
  if (folder === null) return null;
  const { hash } = require('node:crypto');
  const command = FREQUENT.find((name) => words.includes(name)) ?? 'other';
  const file = join(folder, `${command}-${process.version}-${process.arch}.code`);
  const found = readKept(file, hash);
  return {
    file,
    hash,
    missing: false,
    ...found,
    of(name, bytes) {
      const source = hash('sha256', bytes, 'hex');
      const entry = this.entries.get(name);
      if (entry?.source === source) return entry;
      this.missing = true;
      // The source is another than it was: how often code was made of it tells nothing.
      if (entry !== undefined) this.made = 0;
      return { source };
    },
  };
}

/** What a file of kept code holds: a line about all of it, and the code of each family. Nothing, if it is not whole. */
function readKept(file, hash) {
  const entries = new Map();
  try {
    const bytes = fs.readFileSync(file);
    const end = bytes.indexOf('\n') + 1;
    const { node, made, all, parts } = JSON.parse(bytes.latin1Slice(0, end));
    if (node !== NODE || all !== hash('sha256', bytes.subarray(end), 'hex')) return { made: 0, entries };
    let start = end;
    for (const { name, source, size } of parts) {
      entries.set(name, { source, code: bytes.subarray(start, start + size) });
      start += aligned(size);
    }
    return { made, entries };
  } catch {
    return { made: 0, entries };
  }
}

/** Keeps the code of what ran, with what was kept before of families that did not. */
function keepCompiled({ file, hash, made, missing, entries }) {
  if (made >= (missing ? MOST_WITH_MISSING : MOST_MAKINGS)) return;
  for (const [name, { source, script }] of families) {
    if (source !== undefined) entries.set(name, { source, code: script.createCachedData() });
  }
  const parts = [...entries].map(([name, { source, code }]) => ({ name, source, size: code.length }));
  const payload = Buffer.concat(
    [...entries.values()].flatMap(({ code }) => [code, Buffer.alloc(aligned(code.length) - code.length)]),
  );
  const about = JSON.stringify({ node: NODE, made: made + 1, all: hash('sha256', payload, 'hex'), parts });
  const line = `${about.padEnd(aligned(about.length + 1) - 1)}\n`;
  const draft = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(draft, Buffer.concat([Buffer.from(line, 'latin1'), payload]), { mode: 0o600 });
    fs.renameSync(draft, file);
  } catch {
    // A full disk, or a folder that can only be read: the next process compiles for itself, too.
    fs.rmSync(draft, { force: true });
  }
}

/** V8 takes code from where it lies if it begins at a multiple of this many bytes, and else copies it. */
function aligned(size) {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

/** The folder of kept code, if it and the code belong to this user, it is closed to all others and in no project. */
function compiledFolder() {
  const user = process.getuid?.();
  if (isInProject()) return null;
  try {
    if (user === undefined || fs.lstatSync(join(BUILT, 'main.js')).uid !== user) return null;
    let found = fs.lstatSync(COMPILED, { throwIfNoEntry: false });
    if (found === undefined) {
      fs.mkdirSync(COMPILED, { mode: 0o700 });
      found = fs.lstatSync(COMPILED);
    }
    return found.isDirectory() && found.uid === user && (found.mode & 0o077) === 0 ? COMPILED : null;
  } catch {
    // Two may make it at once, or it cannot be made: this process compiles for itself.
    return null;
  }
}

/**
 * Whether the code lies in a project: one of Phasegate's, or a package's with its `node_modules`. What is written there
 * is a change of the workspace, by which a command would refuse the very phase that it is called for.
 */
function isInProject() {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    if (PROJECT_MARKS.some((mark) => fs.existsSync(join(folder, mark)))) return true;
    // npm writes the second file where nothing else names what is installed. A global folder has neither.
    const installed = [join(dirname(folder), 'package.json'), join(folder, '.package-lock.json')];
    if (basename(folder) === 'node_modules' && installed.some((file) => fs.existsSync(file))) return true;
    if (folder === dirname(folder)) return false;
  }
}
