import { loadConfig } from './config.ts';
import { lazy, lazyPort } from './lazyPort.ts';
import type { Standards } from './runtime/ports.ts';

/** Where a project is, and in which environment. */
interface Where {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The documentation of a project, indexed when it is first asked. */
export function lazyStandards(where: Where): Standards {
  const standards = lazy<Standards>(async () => {
    const [{ openStandards }, { docs }] = await Promise.all([
      import('@phasegate/search'),
      loadConfig(where.root),
    ]);
    return openStandards({ root: where.root, stateDir: where.stateDir, docs, env: where.env });
  });
  return {
    ...lazyPort(standards, { calls: ['search', 'sync', 'served'], ends: ['close'] }),
    acceptance: {
      changed: async () => (await (await standards.get()).acceptance?.changed()) ?? [],
      accept: async () => (await standards.get()).acceptance?.accept(),
    },
  };
}
