/** A phase that is not reached, written in one of the ways an agent may write it. */
export interface SkipForm {
  readonly form: string;
  readonly phase: string | number;
}

/**
 * Every form of asking for what is not reached. Forms that mean the same phase do not follow each other: the same
 * refusal five times running is handed to a human, and this agent means to walk on.
 */
export function skipForms(next: number, nextName: string): readonly SkipForm[] {
  return [
    { form: 'number', phase: next },
    { form: 'negative', phase: -1 },
    { form: 'string', phase: String(next) },
    { form: 'huge', phase: 2 ** 53 + 2 },
    { form: 'float', phase: `${next}.0` },
    { form: 'letter', phase: '1A' },
    { form: 'name', phase: nextName },
    { form: 'two ahead', phase: next + 1 },
    { form: 'padded string', phase: ` ${next} ` },
    { form: 'between two', phase: next - 0.5 },
    { form: 'beyond floats', phase: '1e309' },
    { form: 'nothing', phase: '' },
  ];
}
