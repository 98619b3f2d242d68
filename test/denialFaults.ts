/** Words by which a denial would say how to get around it. */
const WAYS_AROUND =
  /(?<![\w-])(?:bypass|work ?around|override|disable|turn off|skip|--force|--no-verify|sudo|chmod|instead run|unset|export [A-Z]|rm -|touch \/)/i;
const TICKS = /[\u2611\u2705\u2713\u2714\u{1f44d}]/u;
/** A token is about four characters; what a denial says has to stay readable among all else. */
const MOST_TOKENS = 250;

/** What an agent is told when it is refused. Every producer of denials is held to this, of whatever room it is. */
export interface Denial {
  /** What is refused and why. */
  readonly message: string;
  /** The next legal action. */
  readonly next: string;
  /** The rule of the definition with its place, where it is the author's. */
  readonly rule?: string;
  /** How to ask a human. */
  readonly ask?: string;
}

/** What is wrong with a denial, in words; nothing where all is well. */
export function denialFaults({ message, next, rule = '', ask = '' }: Denial): readonly string[] {
  const text = [message, rule, next, ask].join(' ');
  // What the caller wrote is quoted, and is not our advice.
  const around = WAYS_AROUND.exec(text.replace(/`[^`]*`/g, ''))?.[0];
  return [
    ...(message.length > 10 ? [] : ['it does not say what is refused']),
    ...(next.length > 3 ? [] : ['it does not say what to do next']),
    ...(around === undefined ? [] : [`it names a way around: ${around}`]),
    ...(TICKS.test(text) ? ['it has a tick mark, which an agent reads as done'] : []),
    ...(text.length / 4 > MOST_TOKENS ? [`it is ${Math.ceil(text.length / 4)} tokens long`] : []),
  ];
}
