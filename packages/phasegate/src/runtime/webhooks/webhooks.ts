import { randomBytes } from 'node:crypto';
import { isJsonObject, PhasegateError } from '@phasegate/core';
import { isLoopbackHost } from '@phasegate/core/contract';
import { didYouMean, maskedUrl } from '@phasegate/core/model';
import type {
  AuditStore,
  DeadLetter,
  FeedStore,
  HumanStore,
  UnlockedHuman,
  WebhookRecord,
  WebhookStore,
  Webhooks,
} from '../ports.ts';
import { demandRole } from '../roles.ts';
import { ALERTS, eventNames, isEvent } from './webhookEvents.ts';

/** The webhooks of a project: who is told, and of what. */
export function createWebhooks({
  store,
  now,
}: {
  readonly store: AuditStore & FeedStore & HumanStore & WebhookStore;
  /** ISO time. */
  readonly now: () => string;
}): Webhooks {
  async function authorOf(by: UnlockedHuman | null, what: string): Promise<string> {
    if (by !== null) {
      await demandRole(store, by.principal, { least: 'admin', what: `${what} a webhook` });
      return `human:${by.principal.name}`;
    }
    if ((await store.humans()).length === 0) return 'setup';
    throw new PhasegateError('not_permitted', `a human is set up, so ${what} a webhook needs that human`);
  }

  return {
    async list() {
      return (await store.webhooks()).map(({ secret: _, ...webhook }) => webhook);
    },

    async deadLetters() {
      const known = new Set((await store.webhooks()).map(({ id }) => id));
      if (known.size === 0) return [];
      const found: DeadLetter[] = [];
      for (let after = 0; ; ) {
        const records = await store.history(null, { after, limit: PAGE });
        for (const { seq, time, event, data } of records) {
          after = seq;
          if (event !== 'webhook_failed' || !isJsonObject(data) || !known.has(String(data.webhook))) continue;
          const { webhook, record, message } = data;
          found.push({
            webhook: String(webhook),
            record: Number(record),
            message: String(message),
            at: time,
          });
        }
        if (records.length < PAGE) return found;
      }
    },

    async add(url, { events, by }) {
      const address = demandAddress(url);
      for (const event of events) demandEvent(event);
      const principal = await authorOf(by, 'adding');
      const webhook: WebhookRecord = {
        id: `wh_${randomBytes(8).toString('hex')}`,
        url: address,
        events: [...new Set(events)],
        secret: `whsec_${randomBytes(32).toString('base64')}`,
        addedAt: now(),
      };
      // From now on: what happened before was nobody's business here.
      const progress = { cursor: await store.feedEnd(), failures: 0, retryAt: null };
      // The audit is read by everybody who may look, and told to other webhooks.
      const data = { webhook: webhook.id, url: maskedUrl(webhook.url), events: webhook.events };
      await store.putWebhook({ ...webhook, ...progress }, [
        { time: webhook.addedAt, principal, event: 'webhook_added', data },
      ]);
      return webhook;
    },

    async remove(id, by) {
      const principal = await authorOf(by, 'removing');
      const draft = { time: now(), principal, event: 'webhook_removed' as const, data: { webhook: id } };
      if (await store.removeWebhook(id, [draft])) return;
      const ids = (await store.webhooks()).map((webhook) => webhook.id).join(', ') || 'none';
      throw new PhasegateError('usage', `there is no webhook \`${id.slice(0, 64)}\`; set up: ${ids}`);
    },
  };
}

const PAGE = 1_000;
const LONGEST_URL = 2048;
const SAFE =
  'give an address that begins with `https://`, or one of this machine, as `http://127.0.0.1:PORT`';

/** What happens in a project is not for everyone on the way: TLS, or this machine. */
function demandAddress(text: string): string {
  const url = text.length > LONGEST_URL ? null : URL.parse(text);
  if (url === null)
    throw new PhasegateError('usage', `\`${text.slice(0, 80)}\` is not an address`, { hint: SAFE });
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (!safe) {
    throw new PhasegateError('usage', `\`${url.origin}\` is neither https nor this machine`, { hint: SAFE });
  }
  if (url.username !== '' || url.password !== '') {
    throw new PhasegateError('usage', 'the address must not hold a name or password: it is shown in lists');
  }
  return url.href;
}

function demandEvent(event: string): void {
  if (isEvent(event)) return;
  const meant = didYouMean(event, eventNames());
  const others = eventNames().filter((name) => !(ALERTS as readonly string[]).includes(name));
  throw new PhasegateError('usage', `there is no event \`${event.slice(0, 64)}\`${meant}`, {
    hint: `leave it out for those a human should look at (${ALERTS.join(', ')}), or name one of ${others.join(', ')}`,
  });
}
