/** A check did not answer in time. The runtime tells it from other errors by its name and says `check_timed_out`. */
export class CheckTimeout extends Error {
  override readonly name = 'CheckTimeout';
}
