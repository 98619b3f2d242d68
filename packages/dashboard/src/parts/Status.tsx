import type { RunLine } from '@phasegate/wire';
import { plainText } from './plainText.ts';

/** The colours a thing can have; each says something, and never alone. */
export type Tone = 'blue' | 'amber' | 'red' | 'green' | 'grey';

/** What a run is doing, in a word and a colour. */
export function Status({ status }: { readonly status: RunLine['status'] }) {
  return <Tag tone={TONES[status] ?? 'grey'} text={status} />;
}

/** How a phase was left. What a human led the run past is never shown as passed. */
export function OutcomeTag({ outcome }: { readonly outcome: string }) {
  if (outcome === 'overridden') return <Tag tone="red" text="overridden" />;
  return <Tag tone={outcome === 'ok' ? 'green' : 'amber'} text={outcome} />;
}

/** A word with a colour. */
export function Tag({
  tone = 'grey',
  text,
  plain = false,
}: {
  readonly tone?: Tone;
  readonly text: string;
  readonly plain?: boolean;
}) {
  return (
    <span className={plain ? 'tag plain' : 'tag'} data-tone={tone}>
      {plainText(text)}
    </span>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  queued: 'grey',
  active: 'blue',
  waiting: 'amber',
  escalated: 'red',
  completed: 'green',
  stopped: 'grey',
};
