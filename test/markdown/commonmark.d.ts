/** The part of the reference implementation that is used here; it has no types of its own. */
declare module 'commonmark' {
  interface Node {
    readonly type: string;
    readonly level: number;
    readonly sourcepos?: readonly [readonly [number, number], readonly [number, number]];
    readonly _isFenced?: boolean;
  }
  interface Walker {
    next(): { readonly node: Node; readonly entering: boolean } | null;
  }
  class Parser {
    parse(text: string): { walker(): Walker };
  }
}
