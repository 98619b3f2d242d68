/** Every status of a run, in the order of its life. */
export const RUN_STATUSES = ['queued', 'active', 'waiting', 'escalated', 'completed', 'stopped'] as const;

/** Of a run that was begun and has not ended. */
export const UNFINISHED_STATUSES = ['active', 'waiting', 'escalated'] as const;
