/** How much each name may have of something without waiting. What was taken comes back with time. */
export interface Allowances {
  /** Takes that much of what the name has left; false, with nothing taken, where it is not enough. */
  take(name: string, amount: number): boolean;
}

/** Gives every name `most`, and `perSecond` back, up to `most` again. */
export function createAllowances({ most, perSecond, now }: AllowanceRules): Allowances {
  // Oldest first; anyone who is not in it has all of theirs.
  const taken = new Map<string, { readonly amount: number; readonly at: number }>();

  return {
    take(name, amount) {
      const at = now();
      const backAt = (since: number) => (Math.max(0, at - since) / 1000) * perSecond;
      // INVARIANT: no more names are held than those that took something of late.
      for (const [other, one] of taken) {
        if (backAt(one.at) < one.amount) break;
        taken.delete(other);
      }
      const last = taken.get(name);
      const used = last === undefined ? 0 : Math.max(0, last.amount - backAt(last.at));
      const isEnough = used + amount <= most;
      // Also where it is not: a clock that was set back counts on from here.
      taken.delete(name);
      taken.set(name, { amount: isEnough ? used + amount : used, at });
      return isEnough;
    },
  };
}

/** How much there is, and how fast it comes back. */
export interface AllowanceRules {
  readonly most: number;
  readonly perSecond: number;
  /** In milliseconds. */
  readonly now: () => number;
}
