import { quoted } from '../wording.ts';
import { type Token, tokensOf } from './expressionTokens.ts';
import { type Expression, type ExpressionError, ExpressionFault } from './expressionTree.ts';

/** Parses a condition; errors carry the offset of what is wrong. */
export function parseExpression(
  source: string,
):
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly error: ExpressionError } {
  try {
    if (source.length > MAX_SOURCE) {
      throw syntax(MAX_SOURCE, `a condition has at most ${MAX_SOURCE} characters, found ${source.length}`);
    }
    return { ok: true, expression: new Parser(tokensOf(source)).parse() };
  } catch (error) {
    if (error instanceof ExpressionFault) return { ok: false, error: error.error };
    throw error;
  }
}

const MAX_SOURCE = 2000;
const MAX_DEPTH = 64;

type Binary = { readonly kind: 'and' | 'or' } | { readonly kind: 'compare'; readonly operator: Comparison };
type Comparison = (Expression & { readonly kind: 'compare' })['operator'];

/** How tightly an operator binds, as in JavaScript, and what it makes. */
const OPERATORS: ReadonlyMap<string, { readonly binds: number; readonly makes: Binary }> = new Map([
  ['||', { binds: 1, makes: { kind: 'or' } }],
  ['&&', { binds: 2, makes: { kind: 'and' } }],
  ['===', { binds: 3, makes: { kind: 'compare', operator: '===' } }],
  ['==', { binds: 3, makes: { kind: 'compare', operator: '===' } }],
  ['!==', { binds: 3, makes: { kind: 'compare', operator: '!==' } }],
  ['!=', { binds: 3, makes: { kind: 'compare', operator: '!==' } }],
  ['<', { binds: 4, makes: { kind: 'compare', operator: '<' } }],
  ['<=', { binds: 4, makes: { kind: 'compare', operator: '<=' } }],
  ['>', { binds: 4, makes: { kind: 'compare', operator: '>' } }],
  ['>=', { binds: 4, makes: { kind: 'compare', operator: '>=' } }],
  ['in', { binds: 4, makes: { kind: 'compare', operator: 'in' } }],
]);

const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expression {
    if (this.#peek().kind === 'end') throw syntax(this.#peek().at, 'the condition is empty');
    const expression = this.#binary(1);
    const rest = this.#peek();
    if (rest.kind === 'end') return expression;
    if (rest.text === '-') throw syntax(rest.at, 'unexpected `-`: a condition has no arithmetic');
    if (rest.text === '(')
      throw syntax(rest.at, 'unexpected `(`: `length(x)` is the only call a condition has');
    throw syntax(rest.at, `expected an operator or the end, found ${found(rest)}`);
  }

  /** Operators of one strength group to the left, so a long chain adds no recursion. */
  #binary(weakest: number): Expression {
    let left = this.#unary();
    for (;;) {
      const token = this.#peek();
      const operator =
        token.kind === 'symbol' || token.kind === 'name' ? OPERATORS.get(token.text) : undefined;
      if (operator === undefined || operator.binds < weakest) return left;
      this.#next += 1;
      const right = this.#binary(operator.binds + 1);
      left = { ...operator.makes, left, right, at: token.at };
    }
  }

  #unary(): Expression {
    const token = this.#take();
    if (token.kind === 'string' || token.kind === 'number') {
      return { kind: 'literal', value: token.value, at: token.at };
    }
    if (token.kind === 'name' && token.text !== 'in') return this.#name(token);
    if (token.kind === 'symbol') {
      if (token.text === '!') {
        return { kind: 'not', operand: this.#nested(token, () => this.#unary()), at: token.at };
      }
      if (token.text === '(') return this.#enclosed(token);
      if (token.text === '[') return { kind: 'list', items: this.#items(token), at: token.at };
      if (token.text === '-') return this.#negative(token);
    }
    throw syntax(token.at, `expected a value, found ${found(token)}`);
  }

  #negative(minus: Token): Expression {
    const number = this.#take();
    if (number.kind !== 'number')
      throw syntax(number.at, `expected a number after \`-\`, found ${found(number)}`);
    return { kind: 'literal', value: -number.value, at: minus.at };
  }

  #name(token: Token): Expression {
    const constant = CONSTANTS.get(token.text);
    if (constant !== undefined) return { kind: 'literal', value: constant, at: token.at };
    if (token.text === 'undefined') {
      throw syntax(
        token.at,
        '`undefined` is not a value here: a missing path is an error, and `null` is written `null`',
      );
    }
    const next = this.#peek();
    if (next.text === '(' && next.kind === 'symbol') {
      if (token.text !== 'length') {
        throw syntax(token.at, `${quoted(token.text)} cannot be called: \`length(x)\` is the only call`);
      }
      this.#next += 1;
      return { kind: 'length', operand: this.#enclosed(next), at: token.at };
    }
    return { kind: 'path', root: token.text, steps: this.#steps(), at: token.at };
  }

  #steps(): readonly (string | number)[] {
    const steps: (string | number)[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind !== 'symbol' || (token.text !== '.' && token.text !== '[')) return steps;
      this.#next += 1;
      steps.push(token.text === '.' ? this.#member() : this.#index(token));
    }
  }

  #member(): string {
    const token = this.#take();
    if (token.kind !== 'name') throw syntax(token.at, `expected a name after \`.\`, found ${found(token)}`);
    return token.text;
  }

  #index(bracket: Token): string | number {
    const token = this.#take();
    const isIndex = token.kind === 'number' && Number.isSafeInteger(token.value) && token.value >= 0;
    if (token.kind !== 'string' && !isIndex) {
      throw syntax(token.at, `expected a key in quotes or an index after \`[\`, found ${found(token)}`);
    }
    this.#close(']', bracket);
    return token.value;
  }

  #enclosed(parenthesis: Token): Expression {
    const inner = this.#nested(parenthesis, () => this.#binary(1));
    this.#close(')', parenthesis);
    return inner;
  }

  #items(bracket: Token): readonly Expression[] {
    const items: Expression[] = [];
    if (this.#peek().text === ']' && this.#peek().kind === 'symbol') {
      this.#next += 1;
      return items;
    }
    for (;;) {
      items.push(this.#nested(bracket, () => this.#binary(1)));
      const token = this.#peek();
      if (token.kind !== 'symbol' || token.text !== ',') break;
      this.#next += 1;
    }
    this.#close(']', bracket);
    return items;
  }

  #nested<T>(token: Token, parse: () => T): T {
    if (this.#depth >= MAX_DEPTH) throw syntax(token.at, `a condition is nested at most ${MAX_DEPTH} deep`);
    this.#depth += 1;
    const parsed = parse();
    this.#depth -= 1;
    return parsed;
  }

  #close(symbol: ')' | ']', opened: Token): void {
    const token = this.#take();
    if (token.kind === 'symbol' && token.text === symbol) return;
    throw syntax(
      token.at,
      `expected \`${symbol}\` for the ${quoted(opened.text)} at ${opened.at}, found ${found(token)}`,
    );
  }

  #peek(): Token {
    const token = this.#tokens[this.#next] ?? this.#tokens.at(-1);
    if (token === undefined) throw new RangeError('a list of tokens ends with `end`');
    return token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }
}

function found(token: Token): string {
  return token.kind === 'end' ? 'the end' : quoted(token.text);
}

function syntax(at: number, message: string): ExpressionFault {
  return new ExpressionFault({ code: 'syntax', message, at });
}
