/** Someone who was asked put it off (Ctrl-C, or no). Nothing is wrong with the call, and nothing was done: exit code 1. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled: nothing was changed');
    this.name = 'Cancelled';
  }
}
