import { type JsonObject, PhasegateError, type Run } from '@phasegate/core';
import { decisionText, overrideText } from '@phasegate/core/contract';
import { type GateDecision, type Override, overrideTarget } from '@phasegate/core/engine';
import { verifyHumanSignature } from './humanKeys.ts';
import type { Masking } from './masking.ts';
import type { Gates, HumanRecord, Store, StoredRun } from './ports.ts';
import type { Runtime } from './runtime.ts';
import type { RuntimeParts } from './runtimeParts.ts';

/** What humans are shown at gates, and what they choose there. */
export function createGates(runtime: Runtime, masking?: Masking): Gates {
  // A card that was shown stands for the run it was made of, for as long as somebody has it.
  const madeOf = new WeakMap<JsonObject, StoredRun>();
  return {
    async gateCard(runId) {
      const found = await runtime.card(runId);
      if (found === null) return null;
      const { card, shown, of } = found;
      if (of !== undefined) madeOf.set(card, of);
      return { card, shown, gate: String(card.gate) };
    },
    decide(runId, { gate, option, input: said, shown, card }, { principal, sign }) {
      // INVARIANT: what is signed is what is kept and shown.
      const input = said === undefined ? undefined : (masking?.mask(said) ?? said);
      const text = decisionText({
        run: runId,
        gate,
        option,
        input: input ?? null,
        shown,
        by: principal.name,
      });
      const words = input === undefined ? {} : { input };
      const command = { kind: 'decide' as const, gate, option, ...words, shown, signature: sign(text) };
      const of = card === undefined ? undefined : madeOf.get(card);
      const loaded = of?.run.id === runId ? of : undefined;
      return runtime.as(principal, { loaded }).submit(runId, command);
    },
    async override(runId, { reason: said, to: asked, epoch }, { principal, sign }) {
      const run = await runtime.attend(runId, principal);
      const to = overrideTarget(run, asked);
      if (typeof to === 'object' && to !== null) {
        const ways = to.choices.map((way) => (way === null ? 'the end' : `\`${way}\``)).join(' or ');
        throw new PhasegateError(
          'usage',
          `phase \`${run.phase}\` leads to ${ways}: say where the override leads`,
          {
            hint: '--to PHASE, or --to end',
          },
        );
      }
      // INVARIANT: what is signed is what is kept and shown.
      const reason = masking?.mask(said) ?? said;
      const place = { phase: run.phase ?? '', epoch: epoch ?? run.epoch, to, reason };
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
  return humans
    .filter((record) => record.name === by)
    .some(({ publicKey }) => verifyHumanSignature(publicKey, text, signature));
}
