/**
 * Items of a run that has many stand among its texts, all of them once (kind 3) and then those that changed (kind 4). No
 * table is another one for it: the number keeps out a version that would take such a run for one that was changed.
 */
export const itemsMigration = 'SELECT 1';
