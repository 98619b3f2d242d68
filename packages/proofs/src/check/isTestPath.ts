/** Whether a path, or a glob, is one of tests, as projects commonly lay them out. */
export function isTestPath(path: string): boolean {
  return /(?:^|\/)(?:__tests__|tests?|specs?)(?:\/|$)|[._](?:test|spec)\.|(?:^|\/)test_/u.test(path);
}
