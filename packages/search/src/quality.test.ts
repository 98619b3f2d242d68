import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Standards } from '@phasegate/core/ports';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DIRECT, type Judged, NONSENSE, PARAPHRASED } from './fixtures/judged.ts';
import { makeProject } from './fixtures/makeProject.ts';
import { mean, ndcg } from './fixtures/ndcg.ts';
import { wordsOf } from './wordsOf.ts';

let standards: Standards;

beforeAll(() => {
  const project = makeProject();
  cpSync(join(import.meta.dirname, 'fixtures/standards'), join(project.root, 'standards'), {
    recursive: true,
  });
  standards = project.open();
});

afterAll(() => standards.close());

test('direct questions find their document: nDCG@10 of at least 0.93', async () => {
  expect(mean(await scoresOf(DIRECT))).toBeGreaterThanOrEqual(0.93);
});

test('paraphrased questions with terms find theirs: nDCG@10 of at least 0.80', async () => {
  expect(mean(await scoresOf(PARAPHRASED))).toBeGreaterThanOrEqual(0.8);
});

test('also when no term gives away a title', async () => {
  const blind = PARAPHRASED.map((judged) => ({ ...judged, terms: withoutTitles(judged) }));

  expect(mean(await scoresOf(blind))).toBeGreaterThanOrEqual(0.7);
});

test('terms are what finds paraphrased questions', async () => {
  const alone = await scoresOf(PARAPHRASED.map(({ query, files }) => ({ query, files })));

  expect(mean(await scoresOf(PARAPHRASED))).toBeGreaterThan(mean(alone) + 0.2);
});

test('nonsense is answered with low confidence and a hint that names documents', async () => {
  for (const query of NONSENSE) {
    const { lowConfidence, hint } = await standards.search({ query });

    expect(lowConfidence, query).toBe(true);
    expect(hint).toMatch(/`terms`.*Nearest documents: .+;/s);
  }
});

test('direct questions are answered with confidence, nearly all of them', async () => {
  const answers = await Promise.all(DIRECT.map(({ query }) => standards.search({ query })));

  expect(answers.filter(({ lowConfidence }) => lowConfidence).length).toBeLessThanOrEqual(3);
});

async function scoresOf(questions: readonly Judged[]): Promise<readonly number[]> {
  return Promise.all(
    questions.map(async ({ query, terms = [], files }) => {
      const { results } = await standards.search({ query, terms, limit: 10 });
      return ndcg(
        results.map(({ file }) => file.replace('standards/', '')),
        files,
      );
    }),
  );
}

/** The terms without every word that is in the name of a right file, which is its title here. */
function withoutTitles({ terms = [], files }: Judged): readonly string[] {
  const named = files.flatMap((file) => wordsOf(file.replace(/\.md$/, ''))).map((word) => word.slice(0, 5));
  return terms.filter((term) => !wordsOf(term).some((word) => named.includes(word.slice(0, 5))));
}
