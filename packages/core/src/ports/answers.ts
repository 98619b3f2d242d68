/** Answers that were too large to be given at once, kept for a while, so that their agent can read them page by page. */
export interface KeptAnswers {
  /** Keeps the text of an answer; gives the id to read it by. */
  keep(agent: string, text: string): string;
  /** One page; null where this agent has no such answer (any more), or it has no such page. */
  page(agent: string, id: string, page: number): AnswerPage | null;
}

/** A part of the JSON text of an answer. */
export interface AnswerPage {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  readonly text: string;
}
