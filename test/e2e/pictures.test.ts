import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { graphOf } from '@phasegate/core/model';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import { toSvg } from '../../packages/phasegate/src/surfaces/cli/graph/svg.ts';
import { someOf } from '../tier.ts';
import { openBrowser } from './browser.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
const MINUTES = 120_000;

let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
}, MINUTES);

afterAll(() => browser?.close());

const PICTURES: readonly (readonly [string, string, number])[] = [
  ['tdd', 'tdd', 5],
  ['w1-editing', 'w1_editing', 8],
  ['test-generation', 'test_generation_v3', 8],
  ['spec-execution', 'spec_execution_v1', 1],
  ['many-agents', 'change', 5],
];

test.each(someOf(PICTURES, { quick: 2, full: PICTURES.length }))(
  'in a browser, the picture of %s has every word in its place, light and dark',
  async (folder, id, phases) => {
    const { catalog } = await openLocalProject({ projectDir: join(EXAMPLES, folder), env: process.env });
    const { workflow } = await catalog.load(id);
    const svg = toSvg(graphOf(workflow));
    const grounds: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await (await browser.newContext({ colorScheme })).newPage();
      await page.setContent(`<!doctype html><body style="margin:0">${svg}`);

      const seen = (await page.evaluate(MEASURE)) as Measured;

      expect(seen.nodes).toBe(phases + 1);
      expect(seen.faults).toEqual([]);
      grounds.push(seen.ground);
      await page.close();
    }
    expect(grounds).toEqual(['rgb(255, 255, 255)', 'rgb(13, 17, 23)']);
  },
  MINUTES,
);

interface Measured {
  readonly nodes: number;
  readonly ground: string;
  readonly faults: readonly string[];
}

/** Runs in the page: words must lie in a node or clear of every node, of every way and of each other. */
const MEASURE = `(() => {
  const boxOf = (element) => element.getBoundingClientRect();
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const inside = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
  const sheet = boxOf(document.querySelector('svg'));
  const nodes = [...document.querySelectorAll('g > g > rect, g > g > polygon')].map(boxOf);
  const texts = [...document.querySelectorAll('text')].map((text) => ({ words: text.textContent, box: boxOf(text) }));
  const points = [...document.querySelectorAll('path[fill="none"]')].flatMap((path) => {
    const place = path.getScreenCTM();
    return Array.from({ length: Math.ceil(path.getTotalLength() / 2) }, (_, index) =>
      path.getPointAtLength(2 * index).matrixTransform(place));
  });
  const faults = [];
  for (const { words, box } of texts) {
    if (!inside(box, sheet)) faults.push(words + ' leaves the picture');
    if (texts.some((other) => other.box !== box && meet(box, other.box))) faults.push(words + ' lies on other words');
    if (nodes.some((node) => meet(box, node) && !inside(box, node))) faults.push(words + ' leaves its node');
    if (points.some(({ x, y }) => x > box.left && x < box.right && y > box.top && y < box.bottom))
      faults.push('a way runs through ' + words);
  }
  const ground = getComputedStyle(document.querySelector('svg > rect')).fill;
  return { nodes: nodes.length, ground, faults };
})()`;
