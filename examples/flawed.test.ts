import { readdirSync, readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { CheckReport, Finding } from '@phasegate/proofs';
import { describe, expect, test } from 'vitest';
import { openLocalProject } from '../packages/phasegate/src/localProject.ts';
import { runCli } from '../packages/phasegate/src/surfaces/cli/runCli.ts';
import { FINDINGS } from '../packages/proofs/src/check/report.ts';

const FOLDER = fileURLToPath(new URL('flawed', import.meta.url));
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.workflow.yaml'));
const FLAWED = FILES.filter((name) => !name.endsWith('.fixed.workflow.yaml'));
/** Notes with a pair of their own: what they tell of passes a check, and is a mistake all the same. */
const NOTED: readonly string[] = ['claims_alone'];

test.each(FLAWED.filter((file) => !NOTED.includes(codeOf(file))))(
  '%s has its one flaw, found with the shortest way there, and validates',
  async (file) => {
    const { command, trace } = headOf(file);

    const { code, stdout } = await call([...command, '--json']);
    const { findings, clean } = JSON.parse(stdout) as Printed;

    expect(command.slice(0, 2)).toEqual(['check', file]);
    expect({ code, clean }).toEqual({ code: 1, clean: false });
    const flaws = findings.filter(({ severity }) => severity === 'error');
    expect(
      flaws.map((finding) => ({ code: finding.code, file: finding.file, trace: finding.trace })),
    ).toEqual([{ code: codeOf(file), file, trace }]);
    expect((await call(['validate', file])).code).toBe(0);
  },
);

test.each(FLAWED.filter((file) => NOTED.includes(codeOf(file))))(
  '%s has its note and its twin has none',
  async (file) => {
    const codesOf = async (path: string) => {
      const { code, stdout } = await call([...headOf(path).command, '--json']);
      return [code, ...(JSON.parse(stdout) as Printed).findings.map((finding) => finding.code)];
    };

    expect(await codesOf(file)).toEqual([0, codeOf(file)]);
    expect(await codesOf(fixedOf(file))).toEqual([0]);
  },
);

test.each(FLAWED.map(fixedOf))('%s is the same workflow without it', async (file) => {
  const { command } = headOf(file);

  const { code, stdout } = await call([...command, '--json']);

  const report = JSON.parse(stdout) as CheckReport;
  expect({ code, ...report }).toMatchObject({ code: 0, clean: true, bound: null });
  expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
});

describe('the folder', () => {
  test('has a pair for every kind of finding that fails a check, and for the notes that have one', () => {
    const errors = Object.entries(FINDINGS).flatMap(([code, severity]) =>
      severity === 'error' ? [code] : [],
    );

    expect([...new Set(FLAWED.map(codeOf))].sort()).toEqual([...errors, ...NOTED].sort());
    expect([...FILES].sort()).toEqual(FLAWED.flatMap((file) => [file, fixedOf(file)]).sort());
  });

  test('prints in words what its comments show', async () => {
    const { stdout } = await call(['check', 'writes_own_law.workflow.yaml']);

    expect(stdout).toMatch(
      /^writes_own_law\.workflow\.yaml:\d+:3: error writes_own_law: .*`scripts\/verify\.sh`.*\n {2}1\. start\n {2}2\. /,
    );
  });
});

interface Printed extends Omit<CheckReport, 'findings'> {
  readonly findings: readonly (Finding & { readonly file: string })[];
}

/** The command and the steps in the comment at the top of a file. */
function headOf(file: string): { readonly command: readonly string[]; readonly trace: readonly string[] } {
  const lines = readFileSync(`${FOLDER}/${file}`, 'utf8').split('\n');
  const head = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('#')),
  );
  const command = head.flatMap((line) => /^# {3}phasegate (.*)$/.exec(line)?.[1] ?? []);
  const trace = head.flatMap((line) => /^# {3}\d+\. (.*)$/.exec(line)?.[1] ?? []);
  return { command: (command[0] ?? '').split(' '), trace };
}

function codeOf(file: string): string {
  return file.replace(/[-.].*$/u, '');
}

function fixedOf(file: string): string {
  return file.replace('.workflow.yaml', '.fixed.workflow.yaml');
}

async function call(words: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  const stdout = new Collector();
  const code = await runCli({
    argv: [...words, '--project', FOLDER],
    env: {},
    stdin: Readable.from([]),
    stdout,
    stderr: new Collector(),
    isTty: false,
    openProject: openLocalProject,
  });
  return { code, stdout: stdout.text };
}

class Collector extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('utf8');
    done();
  }
}
