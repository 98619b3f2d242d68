import { ENGINE } from '../engine.ts';
import type { Store } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import type { LookAtSettings } from './lookAtSettings.ts';
import type { Attended, Sessions } from './sessions.ts';

/**
 * Builds what looks at the settings of a client with each event of a session that works on a run. Something new that
 * is wrong is told a human once, who fixes it or lets the run go on; a client that started with its hooks keeps them for
 * the session, so there is still one to tell of it.
 */
export function createSettingsWatch(parts: {
  readonly look: LookAtSettings | undefined;
  readonly store: Pick<Store, 'load'>;
  readonly runtime: Pick<Runtime, 'submit'>;
  readonly sessions: Pick<Sessions, 'remember'>;
}): (attended: Attended) => Promise<Attended> {
  const { look, store, runtime, sessions } = parts;
  return async (attended) => {
    const { run, data, event } = attended;
    const { settings: known } = data;
    if (look === undefined || known === null || run === null || run.status !== 'active') return attended;
    const found = await look(event.client, event.cwd);
    const now = found === null ? [GONE] : [...found.ours, ...found.others];
    const fresh = now.filter((problem) => !known.includes(problem));
    if (fresh.length === 0 && now.length === known.length) return attended;
    const noticed = await sessions.remember(attended, { settings: now });
    if (fresh.length === 0) return noticed;
    const told = fresh.slice(0, 3).join('; ').slice(0, 500);
    const message = `the settings by which its client asks first are not as they were written: ${told}; a human runs \`phasegate init\` and then \`phasegate resume ${run.id}\``;
    const command = { kind: 'escalate', reason: 'unjudged_calls', message } as const;
    await runtime.submit(run.id, command, { principal: ENGINE });
    return { ...noticed, run: (await store.load(run.id))?.run ?? null };
  };
}

const GONE = 'what `phasegate init` kept of them is gone';
