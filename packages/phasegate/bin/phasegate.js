#!/usr/bin/env node
// Plain JavaScript on purpose: it must run, and say what is wrong, on a Node too old for the rest.
import module from 'node:module';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 16)) {
  console.error(
    `phasegate needs Node 22.16 or newer, and this is ${process.versions.node}; install a newer Node and try again`,
  );
  process.exit(2);
}
// Compiling takes longer than completing a phase; the cache is Node's own and lies outside the workspace.
module.enableCompileCache?.();
await import('../dist/cli/main.js');
