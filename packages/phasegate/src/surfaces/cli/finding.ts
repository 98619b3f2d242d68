/** One thing `doctor` looked at. Without what is missing not everything works; what is optional may stay as it is. */
export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'missing' | 'optional' | 'broken';
  readonly message: string;
  readonly next_step?: string;
}
