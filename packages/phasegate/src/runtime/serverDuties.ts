import { nameOf } from './auditDrafts.ts';
import type { ServerDuties } from './ports.ts';
import type { Tokens } from './tokens/tokens.ts';
import { keepWatch, type Watch, type WatchParts, type WatchSettings } from './watch.ts';
import { createDelivery, type Delivery } from './webhooks/webhookDelivery.ts';

/** What the duties of a server are done with. */
export interface DutyParts extends Omit<WatchParts, 'settings' | 'delivery'> {
  readonly watching?: WatchSettings | undefined;
  readonly tokens: Pick<Tokens, 'known'>;
  /** Starts the servers that the config names. */
  readonly attach?: (() => Promise<void>) | undefined;
}

/** What a server does beside answering; `end` stops every watch that is kept. */
export function createServerDuties({
  watching,
  attach,
  tokens,
  ...parts
}: DutyParts): ServerDuties & { end(): Promise<void> } {
  const { store } = parts;
  const watches = new Set<Watch>();
  const deliveries = new Set<Delivery>();
  return {
    async note(event, principal, data) {
      const time = new Date(parts.now()).toISOString();
      await store.note(null, [{ time, principal: nameOf(principal), event, data }]);
    },
    watch() {
      const delivery = createDelivery(parts);
      const watch = keepWatch({ ...parts, settings: watching ?? {}, delivery });
      watches.add(watch);
      deliveries.add(delivery);
      return {
        async stop() {
          watches.delete(watch);
          deliveries.delete(delivery);
          await watch.stop();
        },
      };
    },
    isOnDuty: async () => store.duty === undefined || (await store.duty.isMine()),
    giveUpDuty() {
      // Those who deliver leave it, as they know when nothing is under way.
      for (const delivery of deliveries) delivery.giveUpDuty();
    },
    // Whatever token it is: the keys are looked at first.
    demandKeys: () => void tokens.known(''),
    demandWritable: async () => store.demandWritable?.(),
    attachServers: async () => attach?.(),
    async end() {
      await Promise.all([...watches].map((watch) => watch.stop()));
    },
  };
}
