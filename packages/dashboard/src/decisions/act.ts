/** What is sent, and where to. */
export interface Act {
  readonly path: string;
  readonly method?: 'POST' | 'DELETE';
  readonly body: Readonly<Record<string, unknown>>;
}
