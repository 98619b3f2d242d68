import { PhasegateError } from '@phasegate/core';
import { trustText } from '@phasegate/core/contract';
import { oneLine, shellWord, type Unaccepted } from '@phasegate/core/model';
import type {
  AcceptedFiles,
  Catalog,
  ConfiguredServer,
  GuardedFiles,
  Store,
  Trust,
  TrustCard,
  TrustRecord,
  UnlockedHuman,
} from '../ports.ts';
import { demandRole } from '../roles.ts';
import { isAccepted, isLastAccepted } from './acceptance.ts';
import { createDifferences } from './differences.ts';
import { createGuardedTrust, type GuardedTrust } from './guardedTrust.ts';
import { createNestedTrust } from './nestedTrust.ts';
import { createServerTrust } from './serverTrust.ts';

/** What acceptance is built from. */
export interface ProjectTrustParts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly servers?: () => Promise<readonly ConfiguredServer[]>;
  readonly guarded?: GuardedFiles;
  readonly acceptedFiles?: AcceptedFiles;
  /** SHA-256, hex. */
  hash(text: string): string;
  /** ISO time. */
  now(): string;
}

/** What humans accept of a project, and whether a guarded file is as one of them accepted it. */
export interface ProjectTrust extends Trust {
  readonly guarded: Trust['guarded'] & Pick<GuardedTrust, 'isAccepted'>;
}

/** Builds it. Every acceptance is signed by its human and stands on the project's chain. */
export function createProjectTrust({ store, catalog, hash, now, ...parts }: ProjectTrustParts): ProjectTrust {
  const accepted = (trust: TrustRecord) => isAccepted(trust, store);

  async function keep(
    human: UnlockedHuman,
    what: Pick<TrustRecord, 'hash' | 'workflow' | 'files'>,
  ): Promise<TrustRecord> {
    await demandRole(store, human.principal, { least: 'admin', what: 'accepting files' });
    const [by, at] = [human.principal.name, now()];
    const signature = human.sign(trustText({ hash: what.hash, workflow: what.workflow, by, at }));
    const trust: TrustRecord = { ...what, by, at, signature };
    const data = { workflow: trust.workflow, closure: trust.hash, signature };
    await store.putTrust(trust, [{ time: at, principal: `human:${by}`, event: 'workflow_trusted', data }]);
    return trust;
  }

  /** A workflow's files: of code that nobody accepted, what can be read without running it. */
  async function readable(name: string): Promise<Unaccepted> {
    try {
      const { workflow, path, closure, files } = await catalog.load(name);
      return { workflow: workflow.id, path, closure, files };
    } catch (error) {
      if (error instanceof PhasegateError && error.unaccepted !== undefined) return error.unaccepted;
      throw error;
    }
  }

  const guarded = createGuardedTrust({
    store,
    files: parts.guarded,
    copies: parts.acceptedFiles,
    keep,
    isSigned: accepted,
    hash,
  });
  const folders = createNestedTrust({ store, keep, accepted, hash });

  return {
    workflows: {
      async card(name) {
        const { workflow, path, closure, files } = await readable(name);
        const trusted = await isLastAccepted(closure, store);
        const before = (await store.trustedBefore(workflow))?.files ?? {};
        const paths = [...new Set([...Object.keys(before), ...Object.keys(files)])].sort();
        const shown = paths.map((file) => ({
          path: file,
          change: changeOf(before[file], files[file]),
          sha256: files[file] ?? null,
          accepted: before[file] ?? null,
        }));
        return { workflow, path, closure, trusted, files: shown };
      },
      async accept(name, shown, human) {
        const { workflow, path, closure, files } = await readable(name);
        if (closure !== shown) {
          throw new PhasegateError(
            'untrusted_workflow',
            `\`${oneLine(path)}\` changed since it was shown; look again`,
            {
              hint: `phasegate trust ${shellWord(workflow)}`,
            },
          );
        }
        const trust = await keep(human, { hash: closure, workflow, files });
        // Accepted is accepted: without a copy only the next difference cannot be shown.
        await parts.acceptedFiles?.keep(files).catch(() => undefined);
        return trust;
      },
      ...createDifferences({ store, files: parts.acceptedFiles }),
    },
    servers: createServerTrust({
      store,
      servers: parts.servers ?? (async () => []),
      keep,
      accepted,
      openChanges: guarded.cards,
      hash,
    }),
    guarded,
    folders: { mayEnter: folders.mayEnter, acceptNested: folders.accept, acceptWorktree: folders.accept },
  };
}

function changeOf(
  before: string | undefined,
  after: string | undefined,
): TrustCard['files'][number]['change'] {
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  return before === after ? 'same' : 'changed';
}
