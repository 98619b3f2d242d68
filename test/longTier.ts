/**
 * Runs the long tier and writes its result down: `npm run test:long`. Random faults and seeds in numbers that take hours,
 * and a real client. Where a part is not available, the page says so; it does not count as passed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LongPart, type LongRecord, longPage, type PARTS } from './docs/longPage.ts';
import { testFiles } from './testFiles.ts';
import type { Tier } from './tier.ts';
import { hasLongCounts } from './tierCounts.ts';

const TIER: Tier = 'long';
const root = fileURLToPath(new URL('..', import.meta.url));

const RUN: Readonly<Record<keyof typeof PARTS, () => Omit<LongPart, 'minutes'>>> = {
  seeds: runSeeds,
  conformance: () => {
    if (spawnSync('npm', ['view', '@modelcontextprotocol/conformance', 'version']).status !== 0) {
      return { result: 'not available', detail: 'the npm registry cannot be reached' };
    }
    const { status } = spawnSync('npm', ['run', 'conformance'], { cwd: root, stdio: 'inherit' });
    return { result: status === 0 ? 'passed' : 'failed', detail: 'against the baselines of each version' };
  },
  clients: () => {
    const { status } = spawnSync('npm', ['run', 'test:clients'], { cwd: root, stdio: 'inherit' });
    if (status === 3) return { result: 'not available', detail: 'the client cannot be installed' };
    return {
      result: status === 0 ? 'passed' : 'failed',
      detail: 'Claude Code, offline, with a scripted model',
    };
  },
};

const parts: Record<string, LongPart> = {};
for (const [name, run] of Object.entries(RUN)) {
  const begun = performance.now();
  const part = run();
  parts[name] = { ...part, minutes: Math.round((performance.now() - begun) / 60_000) };
}
const record: LongRecord = {
  date: new Date().toISOString().slice(0, 10),
  commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim(),
  versions: {
    phasegate: JSON.parse(readFileSync(join(root, 'packages/phasegate/package.json'), 'utf8')).version,
    Node: process.versions.node,
    SQLite: process.versions.sqlite ?? 'unknown',
    Linux: release(),
  },
  parts,
};
writeFileSync(join(root, 'test/docs/long.json'), `${JSON.stringify(record, null, 2)}\n`);
writeFileSync(join(root, 'docs/reference/long-tests.md'), longPage(record));
if (Object.values(parts).some(({ result }) => result === 'failed')) process.exitCode = 1;

function runSeeds(): Omit<LongPart, 'minutes'> {
  const files = testFiles(root).filter((file) => hasLongCounts(readFileSync(join(root, file), 'utf8')));
  const vitest = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')));
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-long-'));
  try {
    const report = join(folder, 'report.json');
    const words = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...files];
    const { status } = spawnSync(process.execPath, [vitest, ...words], {
      cwd: root,
      env: { ...process.env, PHASEGATE_TIER: TIER },
      stdio: 'inherit',
    });
    const counts = JSON.parse(readFileSync(report, 'utf8')) as Readonly<Record<string, number>>;
    const detail = `${counts.numPassedTests} tests passed, ${counts.numFailedTests} failed`;
    return { result: status === 0 ? 'passed' : 'failed', detail };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
