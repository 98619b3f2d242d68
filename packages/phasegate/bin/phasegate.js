#!/usr/bin/env node
// Plain JavaScript on purpose: it must run, and say what is wrong, on a Node too old for the rest.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 16)) {
  console.error(
    `phasegate needs Node 22.16 or newer, and this is ${process.versions.node}; install a newer Node and try again`,
  );
  process.exit(2);
}
await import('../dist/main.js');
