/** Words that say nothing about what a question is about. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are aren as at be because been before being below between
  both but by can cannot could couldn did didn do does doesn doing don down during each either etc few for from further
  get gets got had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it
  its itself just ll let may me might more most must mustn my myself need no nor not now of off on once only or other
  ought our ours ourselves out over own please re s same shall shan she should shouldn so some such t than that the
  their theirs them themselves then there these they this those through to too under until up us use used using ve very
  was wasn we were weren what when where which while who whom whose why will with won would wouldn you your yours
  yourself yourselves`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
