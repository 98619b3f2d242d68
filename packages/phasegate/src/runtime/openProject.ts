import {
  canonicalJson,
  type GateDecision,
  gateCard,
  PhasegateError,
  type Principal,
  type Run,
} from '@phasegate/core';
import { verifyHumanSignature } from './humanKeys.ts';
import { createHumans } from './people.ts';
import type { HumanRecord, OpenProject, TrustCard, TrustRecord } from './ports.ts';
import { createRuntime, type RuntimeParts } from './runtime.ts';

export { createHumans } from './people.ts';

/** What an open project is built from: the runtime's parts, and where backups go. */
export interface ProjectParts extends Omit<RuntimeParts, 'signed' | 'accepted'> {
  /** Absolute path for a backup made without naming a file. */
  readonly backupFile: () => string;
}

/** A project with its store open: the runtime, its humans, what is trusted, and the audit. */
export function createOpenProject(parts: ProjectParts): OpenProject {
  const { store, catalog } = parts;
  const now = () => new Date(parts.now()).toISOString();
  const runtime = createRuntime({
    ...parts,
    async accepted({ hash, workflow, by, at, signature }) {
      const human = (await store.humans()).find((record) => record.name === by);
      const text = trustText({ closure: hash, workflow, by, at });
      return human !== undefined && verifyHumanSignature(human.publicKey, text, signature);
    },
    async signed(run, principal, command) {
      const human = (await store.humans()).find((record) => record.name === principal.name);
      if (human === undefined) return false;
      const { gate, option, input = null, shown, signature } = command;
      return decisionIsSigned(run, { gate, option, input, shown, by: principal.name, signature }, [human]);
    },
  });

  return {
    as: (principal: Principal) => runtime.as(principal),
    humans: createHumans(store, now),

    async gateCard(runId) {
      const stored = await store.load(runId);
      if (stored === undefined) throw new PhasegateError('run_unknown', `there is no run \`${runId}\``);
      const card = gateCard(stored.run);
      const shown = runtime.shown(stored.run);
      if (card === null || shown === undefined) return null;
      return { card, shown, gate: String(card.gate) };
    },

    async trustCard(name): Promise<TrustCard> {
      const found = await catalog.load(name);
      const trusted = (await store.trusted(found.closure)) !== undefined;
      const before = (await store.trustedBefore(found.workflow.id))?.files ?? {};
      const paths = [...new Set([...Object.keys(before), ...Object.keys(found.files)])].sort();
      const files = paths.map((path) => ({ path, change: changeOf(before[path], found.files[path]) }));
      return { workflow: found.workflow.id, path: found.path, closure: found.closure, trusted, files };
    },

    async trust(name, closure, human): Promise<TrustRecord> {
      const found = await catalog.load(name);
      if (found.closure !== closure) {
        throw new PhasegateError(
          'untrusted_workflow',
          `\`${found.path}\` changed since it was shown; look again`,
          {
            hint: `phasegate trust ${found.workflow.id}`,
          },
        );
      }
      const by = human.principal.name;
      const at = now();
      const signature = human.sign(
        trustText({ closure: found.closure, workflow: found.workflow.id, by, at }),
      );
      const trust: TrustRecord = {
        hash: found.closure,
        workflow: found.workflow.id,
        files: found.files,
        by,
        at,
        signature,
      };
      const data = { workflow: trust.workflow, closure: trust.hash, signature };
      await store.putTrust(trust, [{ time: at, principal: `human:${by}`, event: 'workflow_trusted', data }]);
      return trust;
    },

    verifyAudit: () => store.verify(),
    backup: (file) => store.backup(file ?? parts.backupFile()),
    async close() {
      await parts.functions.close();
      await store.close();
    },
  };
}

/** Whether a decision carries the signature of the human it names. A decision is its signature, not its row. */
export function decisionIsSigned(
  run: Pick<Run, 'id'>,
  decision: Omit<GateDecision, 'at'>,
  humans: readonly HumanRecord[],
): boolean {
  const human = humans.find((record) => record.name === decision.by);
  if (human === undefined) return false;
  const { gate, option, input, shown, by, signature } = decision;
  return verifyHumanSignature(
    human.publicKey,
    canonicalJson({ run: run.id, gate, option, input, shown, by }),
    signature,
  );
}

/** What a human signs when accepting a workflow. */
function trustText(trust: { closure: string; workflow: string; by: string; at: string }): string {
  const { closure, ...rest } = trust;
  return canonicalJson({ trust: closure, ...rest });
}

function changeOf(
  before: string | undefined,
  after: string | undefined,
): TrustCard['files'][number]['change'] {
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  return before === after ? 'same' : 'changed';
}
