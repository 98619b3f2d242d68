// The command line as a few files instead of a hundred: a process that completes one phase pays for every module it
// loads. What is imported lazily in the source stays in files of its own, and npm packages stay outside.
export default {
  input: { main: 'dist/main.js' },
  cwd: import.meta.dirname,
  platform: 'node',
  external: [/^node:/, /^[a-z@](?!phasegate\/core)/],
  output: { dir: 'dist/cli', format: 'esm', cleanDir: true, entryFileNames: '[name].js', chunkFileNames: '[name].js' },
};
