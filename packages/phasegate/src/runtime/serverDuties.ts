import { nameOf } from './auditDrafts.ts';
import type { ServerDuties } from './ports.ts';
import { keepWatch, type Watch, type WatchParts, type WatchSettings } from './watch.ts';
import { createDelivery } from './webhooks/webhookDelivery.ts';

/** What the duties of a server are done with. */
export interface DutyParts extends Omit<WatchParts, 'settings' | 'delivery'> {
  readonly watching?: WatchSettings | undefined;
  /** Starts the servers that the config names. */
  readonly attach?: (() => Promise<void>) | undefined;
}

/** What a server does beside answering; `end` stops every watch that is kept. */
export function createServerDuties({
  watching,
  attach,
  ...parts
}: DutyParts): ServerDuties & { end(): Promise<void> } {
  const { store } = parts;
  const watches = new Set<Watch>();
  return {
    async note(event, principal, data) {
      const time = new Date(parts.now()).toISOString();
      await store.note(null, [{ time, principal: nameOf(principal), event, data }]);
    },
    watch() {
      const watch = keepWatch({ ...parts, settings: watching ?? {}, delivery: createDelivery(parts) });
      watches.add(watch);
      return {
        async stop() {
          watches.delete(watch);
          await watch.stop();
        },
      };
    },
    isOnDuty: async () => store.duty === undefined || (await store.duty.isMine()),
    attachServers: async () => attach?.(),
    async end() {
      await Promise.all([...watches].map((watch) => watch.stop()));
    },
  };
}
