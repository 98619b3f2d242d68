import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import type { PhaseDraft } from '../model/draft.ts';
import { CONTRACT_TOOLS } from '../model/tools.ts';
import type { Phase } from '../model/workflow.ts';
import { type DenyRule, denyRulesOf, rulesAgainst } from './denyRules.ts';
import { complete, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import { judgeTool } from './judgeTool.ts';
import type { Run } from './run.ts';

const POLICY: Partial<PhaseDraft> = {
  allowedTools: ['read_files', 'write_files', 'bash', 'mcp:docs/*'],
  forbiddenTools: ['git', 'mcp:docs/delete*', 'fetch'],
  toolConstraints: {
    read_files: { denied: ['secrets/**', '**/*.pem'] },
    write_files: { denied: ['src/generated/**'] },
    bash: { allowed: ['npm test', 'npm run *'], denied: ['npm run deploy'] },
  },
  writes: ['src/**'],
};

describe('the rule that refuses a call', () => {
  test.each<[string, { path?: string; command?: string }, string[]]>([
    ['fetch', {}, ['forbidden fetch']],
    ['git', { command: 'git push' }, ['forbidden git']],
    ['bash', { command: 'npm test && git push' }, ['forbidden git']],
    ['mcp:docs/delete_all', {}, ['forbidden mcp:docs/delete*']],
    ['grep', { path: 'src' }, ['not_listed']],
    ['spawn_agent', {}, ['not_listed']],
    [
      'read_files',
      { path: 'secrets/key.pem' },
      ['denied read_files secrets/**', 'denied read_files **/*.pem'],
    ],
    ['write_files', { path: 'src/generated/a.ts' }, ['denied write_files src/generated/**']],
    ['edit_file', { path: 'src/generated/a.ts' }, ['denied write_files src/generated/**']],
    ['bash', { command: 'npm run deploy' }, ['denied bash npm run deploy']],
    ['bash', { command: 'rm -rf x' }, ['not_permitted bash']],
    ['write_files', { path: 'docs/a.md' }, ['write_scope']],
  ])('`%s` %j: %j', (tool, input, expected) => {
    expect(rulesAgainst(at(POLICY), { tool, input }).map(words)).toEqual(expected);
  });

  test.each<[string, { path?: string; command?: string }]>([
    ['read_files', { path: 'src/a.ts' }],
    ['write_files', { path: '.phasegate/x' }],
    ['write_files', { path: '../x' }],
    ['write_files', {}],
    ['teleport', {}],
    ['bash', { command: 'npm test "' }],
  ])('`%s` %j is allowed, or refused by what holds everywhere', (tool, input) => {
    const policy = { ...POLICY, forbiddenTools: ['fetch'] };

    expect(rulesAgainst(at(policy), { tool, input })).toEqual([]);
  });

  test('in a run that has ended there is none', () => {
    const run = started(workflowOf(phases(1, () => POLICY)));
    const ended = submit(run, complete(run)).run;

    expect(rulesAgainst(ended, { tool: 'fetch', input: {} })).toEqual([]);
  });

  test('a listed `git` that runs something else is not refused by the allow list', () => {
    const run = at({ allowedTools: ['git'] });

    expect(judgeTool(run, { tool: 'git', input: { command: 'rm x' } }).allowed).toBe(false);
    expect(rulesAgainst(run, { tool: 'git', input: { command: 'rm x' } })).toEqual([]);
  });
});

describe('the rules of a phase', () => {
  test('are those a call can run into, each once', () => {
    expect(rules(POLICY)).toEqual([
      'forbidden git',
      'forbidden mcp:docs/delete*',
      'forbidden fetch',
      'not_listed',
      'denied read_files secrets/**',
      'denied read_files **/*.pem',
      'denied write_files src/generated/**',
      'denied bash npm run deploy',
      'not_permitted bash',
      'write_scope',
    ]);
  });

  test('leave out a write scope that a narrower constraint stands before, and one of everything', () => {
    const narrow = {
      allowedTools: ['write_files'],
      toolConstraints: { write_files: { allowed: ['test/*.js'] } },
    };

    expect(rules({ ...narrow, writes: ['test/**'] })).toEqual(['not_listed', 'not_permitted write_files']);
    expect(rules({ ...narrow, writes: ['src/**'] })).toContain('write_scope');
    expect(rules({ allowedTools: ['write_files'], writes: ['**'] })).toEqual(['not_listed']);
  });

  test('leave out constraints and scope of tools that are forbidden or not listed', () => {
    const constraints = { bash: { denied: ['rm **'] }, write_files: { denied: ['a/**'] } };

    expect(rules({ allowedTools: ['grep'], forbiddenTools: ['bash'], toolConstraints: constraints })).toEqual(
      ['forbidden bash', 'not_listed'],
    );
    expect(rules({})).toEqual([]);
  });

  test('hold every rule that ever refuses anything', () => {
    const tool = fc.constantFrom(...CONTRACT_TOOLS, 'mcp:docs/read', 'mcp:docs/delete_all');
    const path = fc.constantFrom(
      'src/a.ts',
      'src/generated/x',
      'docs/a.md',
      'secrets/a',
      '.phasegate/x',
      '../x',
    );
    const command = fc.constantFrom(
      'npm test',
      'npm run deploy',
      'git push',
      'rm x',
      'echo "',
      'npm test; git log',
    );
    const names = fc.subarray([...CONTRACT_TOOLS, 'mcp:docs/*', 'mcp:docs/delete*']);
    const globs = fc.record({
      allowed: fc.subarray(['src/**', 'docs/*']),
      denied: fc.subarray(['src/generated/**', 'docs/a.md']),
    });
    const patterns = fc.record({
      allowed: fc.subarray(['npm **', 'git log']),
      denied: fc.subarray(['npm run *', 'git push']),
    });
    const policy = fc.record({
      allowedTools: names,
      forbiddenTools: names,
      toolConstraints: fc.record(
        { read_files: globs, write_files: globs, edit_file: globs, bash: patterns, git: patterns },
        { requiredKeys: [] },
      ),
      writes: fc.subarray(['src/**', 'docs/*.md']),
    });

    fc.assert(
      fc.property(policy, tool, path, command, (draft, name, file, line) => {
        const run = at(draft);
        const use = { tool: name, input: { path: file, command: line } };
        const known = denyRulesOf(run.workflow.phases[0] as Phase).map(words);
        const against = rulesAgainst(run, use).map(words);
        const verdict = judgeTool(run, use);

        expect(known).toEqual(expect.arrayContaining(against));
        expect(new Set(known).size).toBe(known.length);
        if (verdict.allowed) expect(against).toEqual([]);
        else if (/forbidden|constraint/.test(verdict.blockers[0].code)) expect(against).not.toEqual([]);
      }),
      { numRuns: cases({ quick: 400, full: 10_000 }) },
    );
  });
});

function at(policy: Partial<PhaseDraft>): Run {
  return started(workflowOf(phases(1, () => policy)));
}

function rules(policy: Partial<PhaseDraft>): readonly string[] {
  return denyRulesOf(at(policy).workflow.phases[0] as Phase).map(words);
}

function words(rule: DenyRule): string {
  return Object.values(rule).join(' ');
}
