import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Standards, StandardsQuery } from '@phasegate/core/ports';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import { makeProject } from './fixtures/makeProject.ts';

const LOCKS = '# Locks\n\n## Order\n\nTake every mutex in one order, or a deadlock follows.\n';
const CACHE = '# Caching\n\nA stale entry is served while one caller recomputes it.\n';

describe('an answer', () => {
  test('carries the fields of search_standards [S0.60]', async () => {
    const project = makeProject({ 'docs/locks.md': `---\ntags: [threads]\nphase: 2\n---\n${LOCKS}` });
    const standards = project.open();

    const answer = await standards.search({ query: 'deadlock of mutexes' });

    expect(answer).toEqual({
      results: [
        {
          content: '# Locks\n\n## Order\n\nTake every mutex in one order, or a deadlock follows.',
          file: 'docs/locks.md',
          line: 5,
          title: 'Locks',
          section: 'Order',
          relevanceScore: 1,
          tokens: 18,
          tags: ['threads'],
          phase: 2,
        },
      ],
      totalTokens: 18,
      retrievalMethod: 'bm25',
      queryTimeMs: expect.any(Number),
      lowConfidence: false,
    });
    await standards.close();
  });

  test('holds at most two passages of one file, best first, with falling relevance', async () => {
    const section = (name: string) => `## ${name}\n\n${`rollback ${name} `.repeat(30)}\n`;
    const project = makeProject({
      'docs/a.md': `# Release\n\n${['one', 'two', 'three', 'four'].map(section).join('\n')}`,
      'docs/b.md': '# Other\n\nA word about rollback.\n',
    });
    const standards = project.open();

    const { results } = await standards.search({ query: 'rollback', limit: 10 });

    expect(results.filter(({ file }) => file === 'docs/a.md')).toHaveLength(2);
    expect(results.map(({ file }) => file)).toContain('docs/b.md');
    const scores = results.map(({ relevanceScore }) => relevanceScore);
    expect(scores).toEqual(scores.toSorted((one, other) => other - one));
    expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    await standards.close();
  });

  test('is found by any word, whatever its ending, and by terms', async () => {
    const standards = makeProject({ 'docs/locks.md': LOCKS, 'docs/cache.md': CACHE }).open();

    expect(await filesFor(standards, { query: 'deadlocked giraffes' })).toEqual(['docs/locks.md']);
    expect(await filesFor(standards, { query: 'the program froze' })).toEqual([]);
    expect(await filesFor(standards, { query: 'the program froze', terms: ['deadlock'] })).toEqual([
      'docs/locks.md',
    ]);
    await standards.close();
  });

  test('no query is a command to the index, and every query has an answer or a usage fault', async () => {
    const standards = makeProject({ 'docs/locks.md': LOCKS }).open();
    for (const query of [
      '"',
      'a" OR "b',
      'NEAR(x y)',
      'title:locks',
      '-- drop',
      '*',
      'AND OR NOT',
      'locks*',
      '\0',
    ]) {
      await standards.search({ query: `${query} deadlock` });
    }

    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 80 }), async (query) => {
        await standards.search({ query, terms: [query] }).catch((error) => expect(error.code).toBe('usage'));
      }),
      { numRuns: cases({ quick: 40, full: 1000 }) },
    );
    await standards.close();
  });

  test.each([{ query: '' }, { query: ' ?! ' }, { query: 'x', limit: 0 }, { query: 'x', limit: 1.5 }])(
    'a query without a word or with no whole number of results is a usage fault: %o',
    async (query) => {
      const standards = makeProject({ 'docs/locks.md': LOCKS }).open();

      await expect(standards.search(query)).rejects.toMatchObject({ code: 'usage' });
      await standards.close();
    },
  );

  test('without documents says so instead of answering with nothing [fail.37]', async () => {
    const standards = makeProject().open();

    const answer = await standards.search({ query: 'deadlock' });

    expect(answer).toMatchObject({
      results: [],
      lowConfidence: true,
      hint: 'no document is indexed; `phasegate index` shows what is',
    });
    expect((await standards.search({ query: 'deadlock', tags: ['locks'] })).hint).toContain(
      'matches the filters, or none is indexed',
    );
    await standards.close();
  });
});

describe('the index follows the files', () => {
  test('new, changed, moved and deleted files, before each search [fail.34]', async () => {
    const project = makeProject({ 'docs/locks.md': LOCKS });
    const standards = project.open();
    expect(await filesFor(standards, { query: 'deadlock' })).toEqual(['docs/locks.md']);

    project.write('docs/cache.md', CACHE);
    expect(await filesFor(standards, { query: 'stale' })).toEqual(['docs/cache.md']);

    renameSync(join(project.root, 'docs/locks.md'), join(project.root, 'docs/mutex.md'));
    expect(await filesFor(standards, { query: 'deadlock' })).toEqual(['docs/mutex.md']);

    project.write('docs/mutex.md', LOCKS.replace('deadlock', 'lifelock'));
    expect(await filesFor(standards, { query: 'deadlock' })).toEqual([]);
    expect(await filesFor(standards, { query: 'lifelock' })).toEqual(['docs/mutex.md']);

    rmSync(join(project.root, 'docs'), { recursive: true });
    expect(await filesFor(standards, { query: 'lifelock stale' })).toEqual([]);
    expect(await standards.sync({ rebuild: false })).toMatchObject({ files: 0, chunks: 0 });
    await standards.close();
  });

  test('a file changed again within one tick of the clock, at the same length, is seen', async () => {
    const project = makeProject({ 'docs/locks.md': LOCKS });
    const tick = new Date('2026-01-01T00:00:00Z');
    const standards = project.open({ now: () => tick.getTime() + 1 });
    utimesSync(join(project.root, 'docs/locks.md'), tick, tick);
    await standards.sync({ rebuild: false });

    project.write('docs/locks.md', LOCKS.replace('deadlock', 'lifelock'));
    utimesSync(join(project.root, 'docs/locks.md'), tick, tick);

    expect(await filesFor(standards, { query: 'lifelock' })).toEqual(['docs/locks.md']);
    await standards.close();
  });

  test('says what it did, and reads nothing twice', async () => {
    const project = makeProject({ 'docs/a.md': LOCKS, 'docs/b.md': CACHE });
    const past = new Date(Date.now() - 60_000);
    for (const name of ['a', 'b']) utimesSync(join(project.root, `docs/${name}.md`), past, past);
    const standards = project.open();

    expect(await standards.sync({ rebuild: false })).toMatchObject({
      files: 2,
      chunks: 2,
      added: 2,
      changed: 0,
    });
    expect(await standards.sync({ rebuild: false })).toMatchObject({ added: 0, changed: 0, removed: 0 });
    project.write('docs/a.md', `${LOCKS}\nMore.\n`);
    rmSync(join(project.root, 'docs/b.md'));
    expect(await standards.sync({ rebuild: false })).toMatchObject({
      files: 1,
      added: 0,
      changed: 1,
      removed: 1,
    });
    expect(await standards.sync({ rebuild: true })).toMatchObject({
      files: 1,
      added: 1,
      changed: 0,
      removed: 0,
    });
    expect((await standards.sync({ rebuild: false })).bytes).toBeGreaterThan(0);
    await standards.close();
  });

  test('a nested duplicate is indexed once, and takes over when the original goes [fail.34]', async () => {
    const project = makeProject({ 'standards/locks.md': LOCKS, 'standards/standards/locks.md': LOCKS });
    const standards = project.open();

    expect(await filesFor(standards, { query: 'deadlock' })).toEqual(['standards/locks.md']);
    rmSync(join(project.root, 'standards/locks.md'));
    expect(await filesFor(standards, { query: 'deadlock' })).toEqual(['standards/standards/locks.md']);
    await standards.close();
  });

  test('workflow files are not documents [C26 fail.34]', async () => {
    const project = makeProject({
      'docs/locks.md': LOCKS,
      'workflows/w/phases/1/phase.md': 'deadlock one',
      '.praxis-os/workflows/w/phases/1/phase.md': 'deadlock two',
      '.phasegate/workflows/w/phase.md': 'deadlock three',
      'docs/flow/metadata.json': '{"workflow_type": "flow"}',
      'docs/flow/phases/1/phase.md': 'deadlock four',
      'docs/broken/metadata.json': '{',
      'docs/broken/README.md': 'deadlock five',
      'docs/site/metadata.json': '{"author": "x"}',
      'docs/site/page.md': 'deadlock six',
      'docs/guide/workflows/page.md': 'deadlock seven',
      'node_modules/p/README.md': 'deadlock eight',
      'docs/spec/tasks.md': '# Tasks\n\ndeadlock nine\n',
      'docs/spec/Tasks.MD': '# Tasks\n\ndeadlock ten\n',
      'docs/flow.workflow.yaml': 'workflow: deadlock\n',
      'docs/sub/agent_workflow.yaml': 'workflow: deadlock\n',
    });
    const standards = project.open({ docs: ['**/*.md', '**/*.MD', '**/*.yaml'] });

    const files = await filesFor(standards, { query: 'deadlock', limit: 20 });

    expect(files.toSorted()).toEqual(['docs/guide/workflows/page.md', 'docs/locks.md', 'docs/site/page.md']);
    await standards.close();
  });

  test('the usual places are README, docs and standards; the config replaces them', async () => {
    const project = makeProject({
      'README.md': 'deadlock a',
      'docs/x/y.md': 'deadlock b',
      'standards/x.md': 'deadlock c',
      '.praxis-os/standards/x.md': 'deadlock d',
      'src/README.md': 'deadlock e',
      'notes/x.txt': 'deadlock f',
    });
    const usual = project.open();
    expect((await filesFor(usual, { query: 'deadlock', limit: 20 })).toSorted()).toEqual([
      '.praxis-os/standards/x.md',
      'README.md',
      'docs/x/y.md',
      'standards/x.md',
    ]);
    await usual.close();

    const chosen = project.open({ docs: ['notes/*.txt'] });
    expect(await filesFor(chosen, { query: 'deadlock', limit: 20 })).toEqual(['notes/x.txt']);
    await chosen.close();
    await expect(project.open({ docs: ['../*.md'] }).sync({ rebuild: false })).rejects.toMatchObject({
      code: 'config_invalid',
    });
  });

  test('links are not followed, and what is not text is left out with a warning', async () => {
    const outside = makeProject({ 'secret.md': 'deadlock outside' });
    const project = makeProject({ 'docs/locks.md': LOCKS, 'docs/open.md': '---\ntags: a\n\nText\n' });
    symlinkSync(join(outside.root, 'secret.md'), join(project.root, 'docs/link.md'));
    symlinkSync(outside.root, join(project.root, 'docs/folder'));
    project.write('docs/nul.md', 'deadlock\0');
    project.write('docs/latin.md', Uint8Array.from([0x64, 0xe4, 0x64]));
    mkdirSync(join(project.root, 'docs/directory.md'));
    const standards = project.open();

    expect(await filesFor(standards, { query: 'deadlock outside' })).toEqual(['docs/locks.md']);
    const { warnings = [] } = await standards.sync({ rebuild: false });
    expect(warnings.map(({ file, message }) => `${file} ${message}`)).toEqual([
      'docs/latin.md it is not UTF-8; it is left out',
      'docs/nul.md it holds a NUL byte, so it is not text; it is left out',
      'docs/open.md front matter has no end; it is read as text',
    ]);
    await standards.close();
  });
});

describe('documents of a workflow', () => {
  const FILES = {
    'standards/one.md':
      '---\nworkflow: audit\nphase: 1\ntags: [checkpoint, evidence]\n---\n# Phase 1\n\nEvidence: must provide `count`. requirements\n',
    'standards/two.md':
      '---\nworkflow: audit\nphase: 2\ntags: [checkpoint, evidence]\n---\n# Phase 2\n\nEvidence: must provide `list`. requirements\n',
    'standards/other.md': '---\nworkflow: other\nphase: 1\n---\n# Phase 1\n\nOther requirements.\n',
    'standards/audit/phases/1/more.md': '# Commands\n\nRun the requirements of phase one.\n',
    'standards/general.md': '# General requirements\n\nEvidence is kept. Phase 1 is the first.\n',
  };

  test('are found by workflow, phase and tag only [C26 S0.57 S0.58 S0.61]', async () => {
    const standards = makeProject(FILES).open();
    const query = 'Phase 1 requirements commands checkpoint';

    const { results } = await standards.search({ query, workflow: 'audit', phase: 1, limit: 3 });
    expect(results.map(({ file }) => file).toSorted()).toEqual([
      'standards/audit/phases/1/more.md',
      'standards/one.md',
    ]);
    expect(results.every(({ phase }) => phase === 1)).toBe(true);
    const tagged = { query: 'evidence examples', workflow: 'audit', phase: 1, tags: ['example', 'Evidence'] };
    expect(await filesFor(standards, tagged)).toEqual(['standards/one.md']);
    expect(await filesFor(standards, { query, workflow: 'audit', phase: 3 })).toEqual([]);
    expect(await filesFor(standards, { query, workflow: 'unknown', phase: 1 })).toEqual([]);
    await standards.close();
  });

  test('are not shown to a plain search, neither as results nor in its hint', async () => {
    const standards = makeProject(FILES).open();

    for (const query of ['must provide list requirements', 'zebra unknown']) {
      const answer = await standards.search({ query, limit: 50 });
      expect(JSON.stringify(answer)).not.toMatch(/one\.md|two\.md|other\.md|Phase 2/);
    }
    await standards.close();
  });

  test('are given whole, also where a passage has no word of the query', async () => {
    const section = (name: string) => `## ${name}\n\n${`${name} `.repeat(80)}\n`;
    const body = ['alpha', 'beta', 'gamma', 'requirements'].map(section).join('\n');
    const standards = makeProject({ 'docs/p.md': `---\nworkflow: w\nphase: 0\n---\n# P\n\n${body}` }).open();

    const { results } = await standards.search({ query: 'requirements', workflow: 'w', phase: 0, limit: 10 });

    expect(results.map(({ section: name }) => name)).toEqual(['requirements', 'alpha', 'beta', 'gamma']);
    await standards.close();
  });

  test('the same text in two phases is two documents [S0.61]', async () => {
    const standards = makeProject({
      'docs/w/phases/1/a.md': '# Same\n\nrequirements\n',
      'docs/w/phases/2/a.md': '# Same\n\nrequirements\n',
    }).open();

    for (const phase of [1, 2]) {
      expect(await filesFor(standards, { query: 'requirements', workflow: 'w', phase })).toEqual([
        `docs/w/phases/${phase}/a.md`,
      ]);
    }
    await standards.close();
  });
});

async function filesFor(standards: Standards, query: StandardsQuery): Promise<readonly string[]> {
  return (await standards.search(query)).results.map(({ file }) => file);
}
