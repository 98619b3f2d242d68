export {
  decodeBlockers,
  decodeNext,
  encodeBlockers,
  type WireBlocker,
  type WireNext,
  type WireWarning,
} from './blockers.ts';
export {
  type Dialect,
  type HumansTurn,
  type NextCall,
  type Place,
  type Reader,
  type Spell,
  spellAction,
  spellNext,
} from './nextCall.ts';
