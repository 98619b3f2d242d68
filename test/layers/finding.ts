/** One thing in the house that is not as `layers.json` says. */
export interface Finding {
  readonly rule:
    | 'arrow'
    | 'cycle'
    | 'impure'
    | 'undeclared'
    | 'unresolved'
    | 'name'
    | 'length'
    | 'no_room'
    | 'empty_room'
    | 'unknown_room'
    | 'stale_exception';
  readonly where: string;
  readonly message: string;
}
