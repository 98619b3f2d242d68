import { isJsonObject } from '@phasegate/core';
import { idFrom, newPhase, type PhaseDraft, type WorkflowDraft } from '../draft.ts';
import { at, type KeyLedger, others, type Spot, textOf } from '../keyLedger.ts';
import { gateOptions } from './gateOptions.ts';
import { describeStep, PLAIN } from './plainSteps.ts';

/** Where a way leads, known once every phase is made. */
type Way = () => string | null;

/** Turns steps into phases. Branches and loops are decided by a human: their conditions are not ours to evaluate. */
export class StepBuilder {
  readonly #draft: WorkflowDraft;
  readonly #ledger: KeyLedger;
  readonly #later: (() => void)[] = [];
  readonly #taken = ['finish'];

  constructor(draft: WorkflowDraft, ledger: KeyLedger) {
    this.#draft = draft;
    this.#ledger = ledger;
  }

  build(steps: Spot): void {
    const branches = this.#ledger.list(steps).some((step) => BRANCHES.includes(typeOf(step)));
    const finish = branches ? newPhase('finish', 'Finish') : null;
    this.#list(steps, { exit: () => finish?.id ?? null, certain: true });
    if (finish !== null) {
      finish.instructions.push('Say what was done on the way here.');
      finish.next = null;
      this.#draft.phases.push(finish);
      this.#draft.added.push('phase `finish`, where the branches meet');
    }
    for (const settle of this.#later) settle();
  }

  /** The phases of a list of steps; gives the way to the first of them. */
  #list(steps: Spot, around: { readonly exit: Way; readonly certain: boolean }): Way {
    const all = this.#ledger.list(steps);
    const ways: Way[] = [];
    for (let index = 0; index < all.length; index++) {
      const step = all[index] as Spot;
      const after = all[index + 1];
      const plain = PLAIN.includes(typeOf(step));
      const gated = plain && after !== undefined && typeOf(after) === 'gate';
      const following = index + (gated ? 2 : 1);
      const next: Way = () => (ways[following] ?? around.exit)();
      if (![...PLAIN, ...BRANCHES, 'gate'].includes(typeOf(step))) {
        const hint = `types: ${[...PLAIN, ...BRANCHES, 'gate'].join(', ')}`;
        throw this.#ledger.refusal(at(step, 'type'), `there is no step of type \`${typeOf(step)}\``, hint);
      }
      const phase = this.#phase(step, around.certain);
      const first = plain || typeOf(step) === 'gate' ? this.#single(step, phase, next) : null;
      ways[index] = first ?? this.#branch(step, phase, { next, certain: around.certain });
      if (!gated) continue;
      this.#gate(after, phase);
      index++;
    }
    return () => (ways[0] ?? around.exit)();
  }

  #phase(step: Spot, certain: boolean): PhaseDraft {
    const given = textOf(at(step, 'id'));
    if (given === undefined) throw this.#ledger.refusal(step, 'a step has no `id`', 'give every step an id');
    const phase = newPhase(this.#idFor(given), given);
    phase.onEveryWay = certain;
    this.#ledger.mapped(at(step, 'id'), 'id');
    this.#ledger.mapped(at(step, 'type'), `phase \`${phase.id}\``);
    return phase;
  }

  #single(step: Spot, phase: PhaseDraft, next: Way): Way {
    this.#draft.phases.push(phase);
    if (typeOf(step) === 'gate') {
      phase.instructions.push('A human decides here. Say what there is to decide about.');
      this.#gate(step, phase);
    } else describeStep(step, phase, this.#ledger);
    this.#settle(phase, next);
    return () => phase.id;
  }

  #gate(step: Spot, phase: PhaseDraft): void {
    const message = textOf(at(step, 'message')) ?? 'Review required.';
    const file = textOf(at(step, 'show_file'));
    phase.approvals.push(file === undefined ? message : `${message}\n\nLook at ${file}.`);
    phase.options = gateOptions(step, phase.id, this.#ledger);
    for (const key of ['id', 'type', 'message', 'show_file'])
      this.#ledger.mapped(at(step, key), `${phase.id}.gate.human`);
    this.#ledger.leftOut(
      at(step, 'verdict_input'),
      'a gate is decided by a human with a credential, not by an input',
    );
    for (const one of others(step, GATE_KEYS)) {
      phase.confirm.push(`${String(one.path.at(-1))}: ${JSON.stringify(one.value)}`);
      this.#ledger.human(one, 'not known here: a human confirms it');
    }
  }

  #branch(
    step: Spot,
    phase: PhaseDraft,
    { next, certain }: { readonly next: Way; readonly certain: boolean },
  ): Way {
    const type = typeOf(step);
    const question = at(step, type === 'switch' ? 'expression' : 'condition');
    const text = textOf(question) ?? JSON.stringify(question.value ?? null);
    phase.instructions.push(`Find out and say with your reasons: ${text}`);
    phase.approvals.push(`Which way from here? ${text}`);
    this.#ledger.human(
      question,
      'conditions of the other tool are not evaluated here: a human chooses the way',
    );
    this.#ledger.leftOut(at(step, 'max_iterations'), 'a human ends the loop');
    const body = (spot: Spot, exit: Way) => this.#list(spot, { exit, certain: false });
    if (type === 'do-while') return this.#loop(phase, at(step, 'steps'), { next, certain });
    this.#draft.phases.push(phase);
    const ways: { readonly label: string; readonly way: Way }[] = [];
    if (type === 'while') {
      // Asked again behind the body: a human's way back has no limit, an agent's has.
      const again = newPhase(this.#idFor(`${phase.id}-again`), `${phase.name} again`);
      again.instructions.push(...phase.instructions);
      again.approvals.push(...phase.approvals);
      const way = this.#loop(again, at(step, 'steps'), { next, certain: false });
      ways.push({ label: 'Go in', way });
    }
    if (type === 'if') ways.push({ label: 'It holds', way: body(at(step, 'then'), next) });
    for (const one of type === 'switch' ? others(this.#ledger.map(at(step, 'cases')), []) : [])
      ways.push({ label: String(one.path.at(-1)), way: body(one, next) });
    const otherwise = { if: 'else', switch: 'default', while: '' }[type] ?? '';
    const rest = otherwise === '' ? next : body(at(step, otherwise), next);
    const label = { if: 'It does not hold', switch: 'None of these', while: 'Go on' }[type] ?? 'Go on';
    this.#later.push(() => {
      phase.options = [
        { label },
        ...ways
          .map((one) => ({ label: one.label, next: one.way(), approves: true }))
          .filter(({ next: to }) => to !== phase.next),
      ];
    });
    this.#settle(phase, rest);
    return () => phase.id;
  }

  /** A body, and behind it a phase at which a human ends the loop or sends back. */
  #loop(
    phase: PhaseDraft,
    steps: Spot,
    { next, certain }: { readonly next: Way; readonly certain: boolean },
  ): Way {
    phase.onEveryWay = certain;
    const first = this.#list(steps, { exit: () => phase.id, certain });
    this.#draft.phases.push(phase);
    this.#later.push(() => {
      phase.options = [{ label: 'Done' }, { label: 'Again', next: first(), requires_input: true }];
    });
    this.#settle(phase, next);
    return first;
  }

  #idFor(name: string): string {
    const id = idFrom(name, this.#taken);
    this.#taken.push(id);
    return id;
  }

  #settle(phase: PhaseDraft, next: Way): void {
    // Before the options, which leave out the phase's own way.
    this.#later.unshift(() => {
      phase.next = next();
    });
  }
}

const GATE_KEYS = ['id', 'type', 'message', 'show_file', 'options', 'on_reject', 'verdict_input'];
const BRANCHES = ['if', 'switch', 'while', 'do-while'];

function typeOf(step: Spot): string {
  return textOf(at(step, 'type')) ?? (isJsonObject(step.value) ? 'command' : '');
}
