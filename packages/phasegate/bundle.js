import { build } from 'rolldown';

// The command line as a few files instead of hundreds: a process that completes one phase pays for every module it
// loads. Commands that need the same things share a file, their family; what they need of npm packages lies in it.
// Families are in the order of how often they are loaded, and a module two of them need lies in the first.
const everyday =
  /packages\/(?:core\/dist|wire\/dist\/(?!schemas)|phasegate\/dist\/(?:localProject|config|runtime|stores|surfaces\/cli\/(?!commands|graph)|surfaces\/cli\/commands\/(?:done|next|status|task)\.))/;
const seldom =
  /surfaces\/cli\/help|catalog|memory|contract|verifyAudit|verify(?:Chain|Head|Project|Run|Sqlite)|backupSqlite|restoreSqlite|examine|prompts|writeMissing|defineWorkflow|compile(?:Phase|Check|Gates|Tools|Condition)|checkGraph|graph|runProgram|parseWithPlaces|describeWorkflows|engine\/denyRules|engine\/migrate|runtime\/migrate|plot\/|gatherCoverage|coverageReport|stateHere|writeText|definitionPlaces|junit|progress|describeWaiting/;
const FAMILIES = [
  { name: 'everyday', test: (id) => everyday.test(id) && !seldom.test(id) },
  {
    name: 'definitions',
    test: /node_modules\/(?:yaml|zod)\/|phasegate\/dist\/(?:runtime\/catalog|loaders\/(?:yaml|readSource)|surfaces\/cli\/commands\/(?:start|list|validate)\.)/,
  },
];

/** Left outside: what only a server needs, which lives long, and what must be the only one in its process. */
const OUTSIDE = /^(?:@hono\/|hono|@modelcontextprotocol\/|@opentelemetry\/|pino|prom-client)/;

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
  external: [/^node:/, OUTSIDE],
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
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: {
      groups: [
        { name: 'front', tags: ['$initial'], priority: FAMILIES.length + 1 },
        ...FAMILIES.map((family, index) => ({ ...family, priority: FAMILIES.length - index })),
      ],
    },
  },
});
