/**
 * What a dynamic run costs for a `tasks.md` of 2,000 lines: the first access (reading the source and rendering a phase
 * and a task), reading them again, and what the run keeps.
 *
 *   npm run --silent build && node bench/render.ts
 */
import { rmSync } from 'node:fs';
import { canonicalJson, type Json } from '@phasegate/core';
import { phaseText, taskText } from '@phasegate/core/engine';
import { openSpec } from './render/openSpec.ts';
import { specOf } from './render/specOf.ts';
import { folder, median, print, seconds } from './transitions/measure.ts';

const LINES = 2000;
const ROUNDS = 50;
const READS = 1000;

const spec = specOf(LINES);
const place = folder();
const project = await openSpec(place, spec);
const parser = (await project.sources()).get('spec_tasks_parser');
if (parser === undefined) throw new Error('the parser is not there');
const starting = { params: { spec_path: 'specs/one' }, target: null };

const parsing: number[] = [];
const loading: number[] = [];
const rendering: number[] = [];
const cached: number[] = [];
let bytes = 0;
let shape = '';
for (let round = 0; round < ROUNDS; round++) {
  parsing.push(await seconds(() => parser.parse(project.root, 'specs/one')));
  let workflow = (await project.catalog.load('spec_execution')).workflow;
  loading.push(
    await seconds(async () => {
      workflow = (await project.catalog.load('spec_execution', starting)).workflow;
    }),
  );
  const phase = workflow.phases[1];
  if (phase === undefined) throw new Error('the source has no phases');
  const read = () => phaseText(workflow, phase).length + taskText(workflow, phase, 1).length;
  rendering.push(await seconds(read));
  cached.push(
    (await seconds(() => {
      for (let count = 0; count < READS; count++) read();
    })) / READS,
  );
  bytes = canonicalJson(workflow as unknown as Json).length;
  const tasks = workflow.phases.reduce((sum, { tasks: list }) => sum + list.length, 0);
  shape = `${workflow.phases.length} phases, ${tasks} tasks`;
}
rmSync(place, { recursive: true });

const first = parsing.map((time, round) => time + (rendering[round] as number));
print(`a tasks.md of ${spec.split('\n').length} lines, ${(spec.length / 1024).toFixed(0)} KiB: ${shape}`);
print(
  `first access, parse and render    ${ms(median(first))} (aim 10 ms); the very first ${ms(first[0] as number)} (limit of the design 100 ms)`,
);
print(`  of that, rendering              ${ms(median(rendering))}: the source is parsed when the run starts`);
print(`  starting a run, all it reads    ${ms(median(loading))}; the very first ${ms(loading[0] as number)}`);
print(`cached access                     ${ms(median(cached))} (aim 1 ms; limit of the design 5 ms)`);
print(`a session keeps                   ${(bytes / 1024).toFixed(0)} KiB (aim 1024 KiB)`);

function ms(value: number): string {
  const time = value * 1000;
  return `${time < 0.1 ? time.toFixed(5) : time.toFixed(1)} ms`;
}
