export { encodeRunMap, encodeScope } from './runMap.ts';
export type * from './watched.ts';
export { encodeGlance, encodeInboxItem, lineHolds } from './watched.ts';
