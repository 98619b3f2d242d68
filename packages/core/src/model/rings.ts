/** How an agent is attached, from weakest to strongest. */
export type Attachment = 'served' | 'hooked' | 'sandboxed';

/** How an agent is attached, and whether the engine is out of its reach; `isolated` alone is one that is served. */
export type Ring = Attachment | 'isolated' | 'hooked+isolated' | 'sandboxed+isolated';

/** Every ring. They are in no single order: `holdsRing` compares them. */
export const RINGS: readonly Ring[] = [
  'served',
  'hooked',
  'sandboxed',
  'isolated',
  'hooked+isolated',
  'sandboxed+isolated',
];

/** Whether what has one ring may do what asks for another: attached at least as closely, and isolated if that is asked. */
export function holdsRing(has: Ring, asked: Ring): boolean {
  const [ours, theirs] = [partsOf(has), partsOf(asked)];
  if (ours === null || theirs === null) return false;
  const isClose = ATTACHMENTS.indexOf(ours.attached) >= ATTACHMENTS.indexOf(theirs.attached);
  return isClose && (ours.isolated || !theirs.isolated);
}

/** How closely the agent of a ring is attached, isolated or not. */
export function attachmentOf(ring: Ring): Attachment {
  return partsOf(ring)?.attached ?? 'served';
}

/** Whether the engine is out of the agent's reach in this ring. */
export function isIsolated(ring: Ring): boolean {
  return partsOf(ring)?.isolated ?? false;
}

/** The same ring with the engine out of the agent's reach. */
export function isolatedWith(attached: Attachment): Ring {
  return attached === 'served' ? 'isolated' : `${attached}+isolated`;
}

const ATTACHMENTS: readonly Attachment[] = ['served', 'hooked', 'sandboxed'];

/** Null for a word that is not a ring, as a stored run of another release may have one: that holds nothing. */
function partsOf(ring: Ring): { readonly attached: Attachment; readonly isolated: boolean } | null {
  for (const attached of ATTACHMENTS) {
    if (ring === attached) return { attached, isolated: false };
    if (ring === isolatedWith(attached)) return { attached, isolated: true };
  }
  return null;
}
