import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { LATE_FAMILIES } from './lateModules.js';

// The command line as a few files instead of hundreds: a process that completes one phase pays for every module it
// loads. Commands that need the same things share a file, their family; what they need of npm packages lies in it.
// Families are in the order of how often they are loaded, and a module two of them need lies in the first.
const everyday =
  /packages\/(?:core\/dist|audit\/dist|wire\/dist\/(?!schemas|watching)|phasegate\/dist\/(?:localProject|localDatabases|config|runtime|stores|surfaces\/cli\/(?!commands|graph)|surfaces\/cli\/commands\/(?:done|next|status|task)\.))/;
const seldom =
  /surfaces\/cli\/(?:help|setUp|completion|agentProgram|chooseRun|watch|dropTyped|exampleEvidence|runHere|text\/(?:card|excerpt|fileDiff|lineDiff))|sampleValue|catalog|memory|contract|verifyAudit|archiveBundle|writeBundle|archiveSqlite|runtime\/range|rangeText|makeAnchor|anchorsAt|archivesHere|auditVerdict|auditHeadline|hintOnGiven|missingArchives|cli\/attempt|requireFiles|unprovenText|newFile|audit\/dist\/(?:anchor|verify|passkeysThen|humansThen|explainedBy|anyWithin)|verify(?:Sqlite|Threads)|backupSqlite|restoreSqlite|copySource|examine|prompts|writeMissing|defineWorkflow|compile(?:Phase|Check|Gates|Tools|Condition)|checkGraph|graph|runProgram|parseWithPlaces|describeWorkflows|engine\/denyRules|engine\/migrate|runtime\/migrate|plot\/|gatherCoverage|coverageReport|stateHere|writeText|definitionPlaces|junit|progress|describeWaiting|runtime\/hooks\/(?!pauses|sessionList)|runtime\/passkeys\/passkeys|runtime\/signIns\/|localHooks/;
const own = (...paths) => new RegExp(`packages/phasegate/dist/(?:${paths.join('|')})`);
const commands = (...names) => `surfaces/cli/commands/(?:${names.join('|')})\\.js`;
const npm = (...names) => new RegExp(`node_modules/(?:${names.join('|')})/`);
const either =
  (...tests) =>
  (id) =>
    tests.some((test) => test.test(id));

const isLate = ({ paths }, id) => paths.has(/packages\/[\w/.-]+$/.exec(id)?.[0]);

const FAMILIES = [
  ...LATE_FAMILIES.map((late) => ({
    name: late.name,
    test: (id) => isLate(late, id),
    includeDependenciesRecursively: false,
  })),
  { name: 'everyday', test: (id) => everyday.test(id) && !seldom.test(id) },
  {
    name: 'definitions',
    test: either(
      npm('yaml', 'zod'),
      /packages\/markdown\/dist\/(?:index|folder\/markdownLoader)\.js/,
      own(
        'runtime/catalog',
        'loaders/(?:yaml|readSource|typescript/typeScriptLoader)',
        'surfaces/cli/text/excerpt',
        commands('start', 'list', 'validate'),
      ),
    ),
  },
  { name: 'hooks', test: own('surfaces/hooks', 'runtime/hooks', 'localHooks?\\.js', commands('hook')) },
  { name: 'fence', test: own('workspace/fence/(?!diffText|putBackPaths)') },
  {
    name: 'checks',
    test: own('checks/', 'workspace/(?!leftOpen|fence)', 'tools/(?!attached|connect)', 'localTools'),
  },
  { name: 'fenceActs', test: own('workspace/fence/(?:diffText|putBackPaths)') },
  { name: 'sandbox', test: own('sandbox/') },
  { name: 'verify', test: own('verify/', commands('deps', 'receipts')) },
  { name: 'database', test: own('database/') },
  {
    name: 'postgres',
    test: either(
      /packages\/postgres\/dist/,
      own('localMove', 'stores/sqlite/copySource', commands('migrateStore')),
    ),
  },
  { name: 'jose', test: npm('jose') },
  { name: 'markdown', test: /packages\/markdown\/dist/ },
  { name: 'prompts', test: either(npm('@clack', 'sisteransi'), own('surfaces/cli/dropTyped')) },
  {
    name: 'humans',
    test: own(
      'surfaces/cli/(?:chooseRun|text/(?:card|fileDiff|lineDiff))',
      commands(
        'answer',
        'decide',
        'doctor',
        'fence',
        'humans',
        'migrate',
        'pause',
        'resume',
        'override',
        'stop',
        'tokens',
        'trust',
      ),
    ),
  },
  {
    name: 'agents',
    test: own(
      'surfaces/cli/watch',
      commands('agents', 'ask', 'blocked', 'claim', 'runs', 'watch', 'webhooks'),
    ),
  },
  {
    name: 'audit',
    test: either(
      /packages\/audit\/dist\/(?:anchor|archiveBundle|verify)/,
      own(
        commands('archive', 'audit', 'backup', 'database', 'restore'),
        'anchoring/',
        'localAnchors',
        'surfaces/cli/(?:makeAnchor|anchorsAt|archivesHere|examineArchives|hintOnGiven|text/missingArchives|auditHeadline|newFile)',
        'verifyThreads',
        'stores/sqlite/(?:archiveSqlite|verify|backup|restore)',
      ),
    ),
  },
  {
    name: 'range',
    test: own(
      'range/',
      'runtime/range/',
      'localRanges',
      'surfaces/cli/rangeText',
      commands('attest', 'verifyRange'),
    ),
  },
  {
    name: 'runner',
    test: own(
      'runner/',
      'agents/',
      'launch/',
      'localRunner',
      'runLocalLaunch',
      'spawnLocalAgent',
      'surfaces/cli/runHere',
      commands('run', 'agent', 'exec'),
    ),
  },
  { name: 'prove', test: own('clients/', 'localProofs', 'localProve', 'surfaces/cli/proveHere') },
  {
    name: 'setUp',
    test: own('surfaces/cli/(?:completion|setUp)', 'templates/', commands('completion', 'init', 'uninit')),
  },
  { name: 'import', test: own('loaders/import', commands('import')) },
  { name: 'code', test: either(npm('acorn'), own('loaders/typescript')) },
  {
    name: 'proofs',
    test: either(
      /packages\/proofs\/dist/,
      own('loaders/rates', commands('check', 'coverage', 'replay', 'simulate')),
    ),
  },
  { name: 'tests', test: own('testing/', 'localTests', 'loaders/contracts', commands('test')) },
  { name: 'graph', test: own('surfaces/cli/graph', commands('graph')) },
  { name: 'search', test: either(/packages\/search\/dist/, own(commands('index', 'search', 'tasks'))) },
  { name: 'remote', test: either(/packages\/sdk\/dist/, own('remoteProject')) },
  {
    name: 'background',
    test: own(
      'backgroundServer',
      'localHttpHooks',
      'settings/',
      'surfaces/cli/(?:durationOption|text/describeServer)',
      commands('down', 'up'),
    ),
  },
  { name: 'isolation', test: own('isolation/', 'localIsolation', commands('isolate')) },
  { name: 'mcp', test: own('surfaces/mcp', commands('mcp')) },
  {
    name: 'server',
    test: either(
      /packages\/wire\/dist\/(?:schemas|watching)/,
      own(
        'surfaces/rest',
        'keysNotice',
        'localServer',
        'dashboardFiles',
        'mountHooks',
        'passkeyPlace',
        'runtime/passkeys/passkeys',
        'runtime/signIns/',
        'serverCredentials',
        commands('serve'),
      ),
    ),
  },
];

/** Left outside: what only a server needs, which lives long, and what must be the only one in its process. */
const OUTSIDE =
  /^(?:@hono\/|@simplewebauthn\/|hono|@modelcontextprotocol\/|@opentelemetry\/|pino|prom-client|pg$)/;

/**
 * Each family is one function, as `bin/phasegate.js` calls it: V8 can then be given what it made of it before, which a
 * module cannot. A family that needs packages from outside is loaded after those were imported.
 */
const asFunctions = {
  name: 'as-functions',
  generateBundle(_, files) {
    const chunks = Object.values(files).filter(({ type }) => type === 'chunk');
    const outside = new Map(chunks.map(({ fileName }) => [fileName, packagesOf(fileName, files)]));
    for (const chunk of chunks) {
      const code = plainExports(chunk.code)
        .replace(BUILTIN_CALL, '$1(')
        .replace(LATE_TAKEN, '')
        .replace(LATE_USED, 'require.$1')
        .replace(OUTER, 'require.late($1)')
        .replace(LATE, (call, name) => {
          const packages = outside.get(name) ?? [];
          return packages.length === 0 ? call : `require.after(${JSON.stringify(packages)}, "./${name}")`;
        });
      chunk.code = `(function (exports, require, __filename, __dirname) { "use strict"; ${code}\n})`;
    }
  },
};
/** A family that is loaded when something of it is first asked for: a property, so that `new` takes what it holds. */
const LATE_NAMES = LATE_FAMILIES.map(({ name }) => name).join('|');
const LATE_TAKEN = new RegExp(`^const require_(${LATE_NAMES}) = require\\("\\./\\1\\.js"\\);\\n`, 'gm');
const LATE_USED = new RegExp(`\\brequire_(${LATE_NAMES})\\b`, 'g');
/** Functions of Node’s modules take no notice of what they are called on. */
const BUILTIN_CALL = /\(0, (node_\w+\.\w+)\)\(/g;
/** Only the program itself may import: from a script, Node warns that this may change. */
const OUTER = /\bimport\(("[^"]+")\)/g;
const LATE = /Promise\.resolve\(\)\.then\(\(\) => require\("\.\/([\w-]+\.js)"\)\)/g;

/** What never changes is exported as it is: making and calling a function for each takes longer than all else here. */
function plainExports(code) {
  const fixed = new Set(
    [...code.matchAll(/^(?:const|class|(?:async )?function\*?) ([\w$]+)/gm)].map(([, name]) => name),
  );
  return code.replace(LIVE, (whole, as, name) => (fixed.has(name) ? `exports.${as} = ${name};` : whole));
}
const LIVE =
  /^Object\.defineProperty\(exports, "([\w$]+)", \{\n\tenumerable: true,\n\tget: function\(\) \{\n\t\treturn ([\w$]+);\n\t\}\n\}\);$/gm;

/** Rolldown fails on a constant that is exported and that nobody asks for. */
const withoutConstant = {
  name: 'without-constant',
  transform(code, id) {
    if (!/\/jose\/dist\/webapi\/index\.js$/.test(id)) return null;
    return code.replace('const cryptoRuntime = "WebCryptoAPI";\n', '').replace('  cryptoRuntime,\n', '');
  },
};

/** The packages that a file and those it imports at once need from outside. */
function packagesOf(fileName, files) {
  const seen = new Set([fileName]);
  for (const name of seen) for (const imported of files[name]?.imports ?? []) seen.add(imported);
  return [...seen].filter((name) => OUTSIDE.test(name)).sort();
}

/**
 * A file of plain ASCII is read as it is; one other character, and all of it is decoded and takes twice the memory.
 * What stands in a tagged text is left alone: it would read the escape and not the character.
 */
const plainAscii = {
  name: 'plain-ascii',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      file.code = file.code.replace(NOT_ASCII, (found) =>
        found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};
const NOT_ASCII = /String\.raw`(?:[^`\\]|\\.)*`|[\u0080-\uffff]/gs;

/** A module that was moved or renamed would be loaded by every command again, and nobody would notice. */
const lateAreThere = {
  name: 'late-are-there',
  generateBundle(_, files) {
    for (const { name, paths } of LATE_FAMILIES) {
      const there = new Set(files[`${name}.js`].moduleIds.map((id) => /packages\/[\w/.-]+$/.exec(id)?.[0]));
      const missing = [...paths].filter((path) => !there.has(path));
      if (missing.length > 0)
        throw new Error(`\`lateModules.js\` names ${missing.join(', ')}, which is not built`);
    }
  },
};

/** The licences of all npm packages whose code is in these files, as they ask for. */
const notices = {
  name: 'notices',
  generateBundle(_, files) {
    const modules = Object.values(files).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id) ?? []);
    const texts = [...new Set(folders)].sort().map(noticeOf);
    const source = `${NOTICES_INTRO}\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
    this.emitFile({ type: 'asset', fileName: 'THIRD_PARTY_NOTICES.txt', source });
  },
};
const NOTICES_INTRO = 'The files in this folder hold code of these packages, each under its own licence.';

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(?:\.|$)/i.test(entry));
  if (file === undefined) throw new Error(`\`${name}\` has no licence file, so its code cannot be carried`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

await build({
  input: { main: 'dist/main.js' },
  cwd: import.meta.dirname,
  platform: 'node',
  // Nothing imports the program; what it exports may be whatever its families need of each other.
  preserveEntrySignatures: 'allow-extension',
  external: [/^node:/, OUTSIDE],
  // The SDK carries a copy of its own, for the one who installs it alone.
  resolve: { alias: { '#wire': `${import.meta.dirname}/../wire/dist/index.js` } },
  plugins: [withoutConstant, lateAreThere, asFunctions, plainAscii, notices],
  // What `phasegate test` loads late, others load at once; that is as meant.
  checks: { ineffectiveDynamicImport: false },
  logLevel: 'warn',
  output: {
    dir: 'dist/cli',
    format: 'cjs',
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
