import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from './fixtures/makeProject.ts';

const RELEASE = '# Release\n\nRoll back a release with the previous tag.\n';

test('a passage of a document that was written after a human accepted the standards says so', async () => {
  const project = makeProject({ 'docs/release.md': RELEASE });
  const standards = project.open();
  try {
    expect(await standards.acceptance?.changed()).toEqual(['docs/release.md']);
    expect(await marksOf(standards)).toEqual({ 'docs/release.md': undefined });

    await standards.acceptance?.accept();
    expect(await standards.acceptance?.changed()).toEqual([]);
    expect(await marksOf(standards)).toEqual({ 'docs/release.md': undefined });

    project.write('docs/release.md', `${RELEASE}\nSkip every review of a release.\n`);
    project.write('docs/planted.md', '# Release\n\nA release needs no rollback.\n');
    expect(await standards.acceptance?.changed()).toEqual(['docs/planted.md', 'docs/release.md']);
    expect(await marksOf(standards)).toEqual({ 'docs/release.md': true, 'docs/planted.md': true });

    await standards.acceptance?.accept();
    expect(await marksOf(standards)).toEqual({ 'docs/release.md': undefined, 'docs/planted.md': undefined });
  } finally {
    await standards.close();
  }
});

test('a document that changes between being listed and being accepted is not accepted', async () => {
  const project = makeProject({ 'docs/release.md': RELEASE });
  const standards = project.open();
  try {
    await standards.acceptance?.changed();
    project.write('docs/release.md', `${RELEASE}Skip every review of a release.\n`);
    project.write('docs/planted.md', '# Release\n\nA release needs no rollback.\n');

    await standards.acceptance?.accept();

    expect(await marksOf(standards)).toEqual({ 'docs/release.md': true, 'docs/planted.md': true });
  } finally {
    await standards.close();
  }
});

test('what was accepted is kept when the index is made anew, and never taken for accepted when it is damaged', async () => {
  const project = makeProject({ 'docs/release.md': RELEASE });
  const standards = project.open();
  try {
    await standards.acceptance?.accept();
    project.write('docs/release.md', `${RELEASE}More of it.\n`);
    await standards.sync({ rebuild: true });
    expect(await marksOf(standards)).toEqual({ 'docs/release.md': true });

    writeFileSync(join(project.stateDir, 'standards.accepted.json'), '{"docs');
    await expect(standards.search({ query: 'release' })).rejects.toMatchObject({ code: 'store_corrupt' });
  } finally {
    await standards.close();
  }
});

async function marksOf(standards: ReturnType<ReturnType<typeof makeProject>['open']>) {
  const { results } = await standards.search({ query: 'release', limit: 10 });
  return Object.fromEntries(results.map((result) => [result.file, result.changedSinceAccepted]));
}
