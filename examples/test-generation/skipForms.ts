/** A phase that is not reached, written in one of the ways an agent may write it. */
export interface SkipForm {
  readonly form: string;
  readonly phase: string | number;
}

/** Every form of asking for what is not reached. */
export function skipForms(next: number, nextName: string): readonly SkipForm[] {
  return [...spellings(next, nextName), ...elsewhere(next)];
}

/**
 * Forms that each mean another phase, and one spelling of the next, another one in every phase. The same refusal five
 * times in a visit is handed to a human, whatever comes in between, and this agent means to walk on.
 */
export function distinctForms(next: number, nextName: string): readonly SkipForm[] {
  const all = spellings(next, nextName);
  return [all[next % all.length] as SkipForm, ...elsewhere(next)];
}

function spellings(next: number, nextName: string): readonly SkipForm[] {
  return [
    { form: 'number', phase: next },
    { form: 'string', phase: String(next) },
    { form: 'float', phase: `${next}.0` },
    { form: 'name', phase: nextName },
    { form: 'padded string', phase: ` ${next} ` },
  ];
}

function elsewhere(next: number): readonly SkipForm[] {
  return [
    { form: 'negative', phase: -1 },
    { form: 'huge', phase: 2 ** 53 + 2 },
    { form: 'letter', phase: '1A' },
    { form: 'two ahead', phase: next + 1 },
    { form: 'between two', phase: next - 0.5 },
    { form: 'beyond floats', phase: '1e309' },
    { form: 'nothing', phase: '' },
  ];
}
