import { build } from 'rolldown';

// The command line as a few files instead of a hundred: a process that completes one phase pays for every module it
// loads. What completing a phase needs is one file; what only other commands need stays in files of its own; npm
// packages stay outside.
const everyday =
  /packages\/(?:core\/dist|wire\/dist\/(?!schemas)|phasegate\/dist\/(?:localProject|config|runtime|stores|surfaces\/cli\/(?!commands|graph)|surfaces\/cli\/commands\/(?:done|next|status|task)\.))/;
const seldom =
  /catalog|memory|contract|verifyAudit|verify(?:Chain|Head|Project|Run|Sqlite)|backupSqlite|restoreSqlite|examine|prompts|writeMissing|defineWorkflow|compile(?:Phase|Check|Gates|Tools|Condition)|checkGraph|graph|runProgram|parseWithPlaces|describeWorkflows|engine\/denyRules|engine\/migrate|runtime\/migrate|plot\/|gatherCoverage|coverageReport|stateHere|writeText|definitionPlaces|junit|progress|describeWaiting/;

/**
 * An `import` of a built-in module reads every export it has, and reading some of `node:crypto`'s loads all of
 * WebCrypto. Asking for the module reads only what is used.
 */
const plainBuiltins = {
  name: 'plain-builtins',
  renderChunk(code) {
    return code.replace(/^import \{([^}]*)\} from "(node:[a-z/_]+)";$/gm, (_, names, from) => {
      return `const {${names.replace(/ as /g, ': ')}} = process.getBuiltinModule("${from}");`;
    });
  },
};

await build({
  input: { main: 'dist/main.js' },
  cwd: import.meta.dirname,
  platform: 'node',
  external: [/^node:/, /^(?!\.|\/|@phasegate\/)[a-z@]/],
  // The SDK carries a copy of its own, for whoever installs it alone.
  resolve: { alias: { '#wire': `${import.meta.dirname}/../wire/dist/index.js` } },
  plugins: [plainBuiltins],
  // What `phasegate test` loads late, others load at once; that is as meant.
  checks: { ineffectiveDynamicImport: false },
  logLevel: 'warn',
  output: {
    dir: 'dist/cli',
    format: 'esm',
    cleanDir: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'everyday', test: (id) => everyday.test(id) && !seldom.test(id) }] },
  },
});
