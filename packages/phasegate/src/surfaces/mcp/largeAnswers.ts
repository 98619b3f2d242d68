import type { AnswerPage } from '../../runtime/ports/keptAnswers.ts';

/** The large answers of one agent. */
export interface LargeAnswers {
  keep(text: string): string;
  page(id: string, page: number): AnswerPage | null;
}
