// Preloaded into a node: its clock is wrong by as many milliseconds as PHASEGATE_TEST_SHIFT says.
const shift = Number(process.env.PHASEGATE_TEST_SHIFT ?? '0');
const RealDate = Date;
const now = () => RealDate.now() + shift;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, words, made) => Reflect.construct(target, words.length === 0 ? [now()] : words, made),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
