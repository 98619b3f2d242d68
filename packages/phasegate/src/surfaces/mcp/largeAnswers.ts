import type { AnswerPage } from '../../runtime/ports.ts';

/** The large answers of one agent. */
export interface LargeAnswers {
  keep(text: string): string;
  page(id: string, page: number): AnswerPage | null;
}
