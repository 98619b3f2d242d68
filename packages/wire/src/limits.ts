/** Longest name of an agent. */
export const NAME_LIMIT = 64;
/** Most capabilities one agent or run may have. */
export const CAPABILITY_LIMIT = 64;
/** Most calls in one batch. */
export const BATCH_LIMIT = 50;
/** Most entries one page may have. */
export const PAGE_LIMIT = 1000;
/** Longest text a human or an agent writes: a reason, a note, an answer. */
export const TEXT_LIMIT = 16_384;
/** Longest id, label or path in a request. */
export const WORD_LIMIT = 256;
/** Longest path in a request about files. */
export const PATH_LIMIT = 4096;
/** Longest diff in an answer, in characters. */
export const DIFF_LIMIT = 1024 * 1024;
