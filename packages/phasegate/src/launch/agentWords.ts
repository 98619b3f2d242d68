/**
 * The words that start an agent. `{prompt}` becomes the path of the prompt's file; where no word asks for it, the
 * prompt is given on standard input.
 */
export function agentWords(
  [program, ...rest]: readonly [string, ...string[]],
  promptFile: string,
): { readonly argv: readonly [string, ...string[]]; readonly onInput: boolean } {
  const words = rest.map((word) => word.replaceAll(/\{prompt(?:_file)?\}/g, () => promptFile));
  return { argv: [program, ...words], onInput: rest.every((word, index) => word === words[index]) };
}
