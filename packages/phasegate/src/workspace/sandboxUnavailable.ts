/** A program that must be in a sandbox, where there can be none. It is not run. */
export class SandboxUnavailable extends Error {
  readonly code = 'sandbox_unavailable';

  constructor(message: string) {
    super(message);
    this.name = 'SandboxUnavailable';
  }
}
