import type { Phase } from '@phasegate/core';
import type { Hear } from './compare.ts';
import type { Asked } from './interpreter.ts';
import type { State, Told } from './state.ts';

/** How often each thing worth reaching was reached. */
export class Coverage {
  readonly counts = new Map<string, number>();

  readonly hear: Hear = ({ asked, before, after, told }) => {
    const isAllowed = told.codes.length === 0;
    for (const code of told.codes) this.#count(`code ${code}`);
    for (const code of told.would) this.#count(`would ${code}`);
    if (after !== null) this.#count(`status ${after.status}`);
    if (asked === null || before === null || after === null) {
      this.#count(isAllowed ? 'start allowed' : 'start refused');
      return;
    }
    const { kind } = asked.command;
    this.#count(`${kind} ${isAllowed ? 'allowed' : 'refused'}`);
    if (after.status === 'escalated' && before.status !== 'escalated')
      this.#count(`escalated ${after.escalated}`);
    const phase = after.workflow.phases.find(({ id }) => id === before.phase);
    if (phase === undefined) return;
    if (kind === 'complete' && isAllowed) this.#completed(phase, before, after);
    if (kind === 'decide' && before.gate !== null) this.#decided(phase, { asked, after, told });
  };

  #completed(phase: Phase, before: State, after: State): void {
    const left = after.done.at(-1);
    if (after.gate !== null) {
      this.#count(`gate opened by ${after.gate.done.outcome}`);
      if (phase.parallel !== null) this.#count('join at a gate');
    } else if (after.epoch > before.epoch && left?.phase === phase.id) {
      this.#count(`route ${phase.next.kind}`);
      this.#count(`outcome ${left.outcome}`);
      if (phase.parallel !== null) this.#count('join left');
    }
  }

  #decided(phase: Phase, { asked, after, told }: { asked: Asked; after: State; told: Told }): void {
    const { option } = asked.command as Extract<typeof asked.command, { kind: 'decide' }>;
    const next = phase.humanGate?.options.find(({ label }) => label === option)?.next;
    const way = next === undefined ? 'the route' : next === null ? 'a stop' : 'a phase of its own';
    if (told.codes.length === 0) this.#count(after.gate === null ? `decided for ${way}` : 'voted');
    if (told.codes.includes('precondition_failed')) this.#count('human held by a precondition');
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}
