/** The version of this package; a test holds it against package.json, so that nothing is read at start-up. */
export const VERSION = '0.1.0';

/** The words that ask for it, alone on the line. */
export const VERSION_WORDS: readonly string[] = ['--version', '-v', '-V', 'version'];
