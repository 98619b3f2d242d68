import { type JsonObject, PhasegateError, type Principal, type Run } from '@phasegate/core';
import { type DecisionToSign, decisionText, overrideText } from '@phasegate/core/contract';
import { type GateDecision, type Override, overrideTarget } from '@phasegate/core/engine';
import type { Masking } from './masking.ts';
import { humanSigned } from './passkeys/humanSigned.ts';
import type { GateChoice, Gates, HumanRecord, OverrideOrder, Signing, Store, StoredRun } from './ports.ts';
import type { Runtime } from './runtime.ts';
import type { RuntimeParts } from './runtimeParts.ts';

/** What humans are shown at gates, and what they choose there. */
export function createGates(runtime: Runtime, masking?: Masking): Gates & Signing {
  // A card that was shown stands for the run it was made of, for as long as somebody has it.
  const madeOf = new WeakMap<JsonObject, StoredRun>();
  // INVARIANT: what is signed is what is kept and shown.
  const masked = (said: string) => masking?.mask(said) ?? said;

  function decisionOf(run: string, choice: GateChoice, by: string): DecisionToSign {
    const { gate, option, input, shown } = choice;
    return { run, gate, option, input: input === undefined ? null : masked(input), shown, by };
  }

  async function overridden(runId: string, { reason, to: asked, epoch }: OverrideOrder, human: Principal) {
    const run = await runtime.attend(runId, human);
    const to = overrideTarget(run, asked);
    if (typeof to === 'object' && to !== null) {
      const ways = to.choices.map((way) => (way === null ? 'the end' : `\`${way}\``)).join(' or ');
      throw new PhasegateError(
        'usage',
        `phase \`${run.phase}\` leads to ${ways}: say where the override leads`,
        { hint: '--to PHASE, or --to end' },
      );
    }
    return { phase: run.phase ?? '', epoch: epoch ?? run.epoch, to, reason: masked(reason) };
  }

  return {
    async gateCard(runId) {
      const found = await runtime.card(runId);
      if (found === null) return null;
      const { card, shown, of } = found;
      if (of !== undefined) madeOf.set(card, of);
      return { card, shown, gate: String(card.gate) };
    },
    toSign: {
      decide: async (runId, choice, by) => decisionText(decisionOf(runId, choice, by)),
      override: async (runId, order, human) => {
        const place = await overridden(runId, order, human);
        return overrideText({ run: runId, ...place, by: human.name });
      },
    },
    decide(runId, choice, { principal, sign }) {
      const { card } = choice;
      const { by: _by, run: _run, input, ...decision } = decisionOf(runId, choice, principal.name);
      const words = input === null ? {} : { input };
      const signature = sign(decisionText(decisionOf(runId, choice, principal.name)));
      const command = { kind: 'decide' as const, ...decision, ...words, signature };
      const of = card === undefined ? undefined : madeOf.get(card);
      const loaded = of?.run.id === runId ? of : undefined;
      return runtime.as(principal, { loaded }).submit(runId, command);
    },
    async override(runId, order, { principal, sign }) {
      const place = await overridden(runId, order, principal);
      const signature = sign(overrideText({ run: runId, ...place, by: principal.name }));
      return runtime.as(principal).submit(runId, { kind: 'override', ...place, signature });
    },
  };
}

/** Which decisions count: those that carry the signature of a human of the project. */
export function createSignatures(
  store: Pick<Store, 'humans'>,
): Pick<RuntimeParts, 'signed' | 'votes' | 'humans'> {
  return {
    humans: async () => (await store.humans()).map(({ name }) => name),
    async signed(run, principal, command) {
      const human = (await store.humans()).find((record) => record.name === principal.name);
      if (human === undefined) return false;
      if (command.kind === 'override') {
        return decisionIsSigned(run, { ...command, by: principal.name }, [human]);
      }
      const { gate, option, input = null, shown, signature } = command;
      return decisionIsSigned(run, { gate, option, input, shown, by: principal.name, signature }, [human]);
    },
    async votes(run) {
      const votes = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.votes : [];
      const humans = await store.humans();
      const voided = votes.flatMap((vote, place) => (decisionIsSigned(run, vote, humans) ? [] : [place]));
      const made = humans.flatMap(({ name, addedBy, addedAt }) =>
        // A time that cannot be read is no proof of an old key.
        addedBy === undefined || Date.parse(addedAt) <= Date.parse(run.startedAt) ? [] : [[name, addedBy]],
      );
      return {
        ...(voided.length === 0 ? {} : { voided }),
        ...(made.length === 0
          ? {}
          : { madeBy: Object.fromEntries(made) as Readonly<Record<string, string>> }),
      };
    },
  };
}

/** Whether a decision, or an override, carries the signature of the human it names: it is its signature, not its row. */
export function decisionIsSigned(
  run: Pick<Run, 'id'>,
  decision: Omit<GateDecision, 'at'> | Omit<Override, 'at'>,
  humans: readonly HumanRecord[],
): boolean {
  const { by, signature } = decision;
  const text =
    'gate' in decision
      ? decisionText({ ...decision, run: run.id })
      : overrideText({ ...decision, run: run.id });
  // One who was removed and added again has a key for each time.
  return humans.filter((record) => record.name === by).some((record) => humanSigned(record, text, signature));
}
