import type { WebhookProgress, WebhookRecord } from '../ports/webhooks.ts';
import type { Clause } from './clause.ts';
import { SAMPLE_TIME, sampleDraft } from './samples.ts';

/** What every store must do with webhooks. */
export const WEBHOOK_CLAUSES: readonly Clause[] = [
  {
    name: 'keeps webhooks in the order they came, replaces and removes them, and records each',
    async body(store, expect) {
      expect(await store.webhooks()).toEqual([]);
      const [one, two] = [sampleWebhook('w2'), sampleWebhook('w1')];
      await store.putWebhook(one, [sampleDraft('webhook_added')]);
      await store.putWebhook(two, [sampleDraft('webhook_added')]);
      const changed = { ...one, url: 'https://example.com/other', events: [] };
      await store.putWebhook(changed, [sampleDraft('webhook_added')]);
      expect(await store.webhooks()).toEqual([changed, two]);
      expect(await store.removeWebhook('w1', [sampleDraft('webhook_removed')])).toBe(true);
      expect(await store.removeWebhook('w1', [sampleDraft('webhook_removed')])).toBe(false);
      expect(await store.webhooks()).toEqual([changed]);
      expect((await store.history(null, { after: 0, limit: 10 })).length).toBe(4);
      expect((await store.verify()).findings).toEqual([]);
    },
  },
  {
    name: "moves a webhook's deliveries on, and not those of one that is gone",
    async body(store, expect) {
      const webhook = sampleWebhook('w1');
      await store.putWebhook(webhook, []);
      const progress = { id: 'w1', cursor: 7, failures: 2, retryAt: SAMPLE_TIME };
      expect(await store.putProgress(progress, webhook, [])).toBe(true);
      expect(await store.webhooks()).toEqual([{ ...webhook, ...progress }]);
      const done = { id: 'w1', cursor: 8, failures: 0, retryAt: null };
      expect(await store.putProgress(done, progress, [sampleDraft('webhook_failed')])).toBe(true);
      expect(await store.webhooks()).toEqual([{ ...webhook, ...done }]);
      const gone = { ...done, id: 'gone' };
      expect(await store.putProgress(gone, done, [sampleDraft('webhook_failed')])).toBe(false);
      expect((await store.history(null, { after: 0, limit: 10 })).length).toBe(1);
    },
  },
  {
    name: "moves a webhook's deliveries on only from where they are, and records nothing where they are elsewhere",
    async body(store, expect) {
      const webhook = sampleWebhook('w1');
      await store.putWebhook(webhook, []);
      const there = { id: 'w1', cursor: 7, failures: 1, retryAt: SAMPLE_TIME };
      expect(await store.putProgress(there, webhook, [])).toBe(true);
      const late = { id: 'w1', cursor: 3, failures: 0, retryAt: null };
      for (const was of [webhook, { cursor: 7, failures: 0 }, { cursor: 6, failures: 1 }]) {
        expect(await store.putProgress(late, was, [sampleDraft('webhook_failed')])).toBe(false);
      }
      expect(await store.webhooks()).toEqual([{ ...webhook, ...there }]);
      expect(await store.history(null, { after: 0, limit: 10 })).toEqual([]);
    },
  },
];

/** A webhook nothing was sent to yet. */
export function sampleWebhook(id: string): WebhookRecord & WebhookProgress {
  return {
    id,
    url: `https://example.com/${id}`,
    events: ['run_stuck'],
    secret: 's',
    addedAt: SAMPLE_TIME,
    cursor: 0,
    failures: 0,
    retryAt: null,
  };
}
