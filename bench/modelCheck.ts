/**
 * Every state of generated workflows with loops and human gates, walked by `phasegate check` and by `xstate/graph`.
 *
 *   npm run bench:model-check             50 phases, and 200
 *   npm run bench:model-check -- tiny     only to see that it runs
 *
 * What is the same: the graph (bench/modelCheck/generated.ts), and with it the number of states, which is printed for
 * both and must be equal: attempts, escalation, gates, exhausted loops and the counters of loops are states of the
 * machine too, and so is what the property asks about.
 *
 * What is not: a step of ours is a decision of the engine that decides real runs (verdict, blockers, events, the run
 * after them), and the time of ours is that of the whole check: reading the conditions, walking, following the
 * property and looking for all findings. A step of xstate's is a transition of its own interpreter, with the guards
 * and counters written for this benchmark. `getShortestPaths` also spells out a path for every state, where we spell
 * out only those that are printed; `getAdjacencyMap`, which is the part of it that walks, is therefore timed alone.
 */
import { type CheckReport, checkWorkflow } from '@phasegate/proofs';
import { getAdjacencyMap, getShortestPaths } from 'xstate/graph';
import { generatedGraph, workflowOf } from './modelCheck/generated.ts';
import { machineOf } from './modelCheck/machineOf.ts';
import { median, print, seconds } from './transitions/measure.ts';

const tiny = process.argv.includes('tiny');
const SIZES = tiny ? [10] : [50, 200];
const ROUNDS = tiny ? 1 : 7;

for (const size of SIZES) {
  const graph = generatedGraph(size);
  const workflow = workflowOf(graph);
  const machine = machineOf(graph);
  let report: CheckReport = checkWorkflow(workflow);
  let paths = 0;
  let walked = 0;
  const times: Record<'ours' | 'paths' | 'walk', number[]> = { ours: [], paths: [], walk: [] };
  // Taken in turns, so that a machine that is busy for a while is so for all of them.
  for (let round = 0; round < ROUNDS; round++) {
    times.ours.push(await seconds(() => (report = checkWorkflow(workflow))));
    times.paths.push(await seconds(() => (paths = getShortestPaths(machine).length)));
    times.walk.push(await seconds(() => (walked = Object.keys(getAdjacencyMap(machine, {})).length)));
  }
  const seen = report.bound === null ? 'all' : `cut at ${report.bound.limit}`;
  print(`${size} phases`);
  const ours = line('phasegate check', report.states, times.ours);
  print(`${ours.text}  (${seen})  ${report.transitions} transitions  ${report.clean ? 'clean' : 'findings'}`);
  for (const [name, states, took] of [
    ['xstate getShortestPaths', paths, times.paths],
    ['xstate getAdjacencyMap', walked, times.walk],
  ] as const) {
    const theirs = line(name, states, took);
    print(`${theirs.text}  ours is ${(ours.rate / theirs.rate).toFixed(2)} times as fast`);
  }
  if (paths !== report.states || walked !== report.states)
    throw new Error('the two did not walk the same states, so their times say nothing about each other');
}

function line(name: string, states: number, times: readonly number[]) {
  const took = median(times);
  const rate = states / took;
  const text = `  ${name.padEnd(24)} ${states} states  ${(took * 1000).toFixed(1)} ms  ${Math.round(rate)} states/s`;
  return { text, rate };
}
