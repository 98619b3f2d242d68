/** A condition in the engine's own words, or why it could not be understood. */
export type Translated =
  | { readonly ok: true; readonly condition: string }
  | { readonly ok: false; readonly reason: string };

/** What the names of a rule stand for: the engine's word for each, or undefined for a name nobody knows. */
export type Names = (name: string) => string | undefined;

/**
 * Translates a rule as gate files have them (`lambda x: 0 <= x <= 100`, `len(x) > 0`, `x is not None`) into a
 * condition of the engine. Only what can be said in both is understood: anything else is refused, never run.
 */
export function translateRule(rule: string, names: Names): Translated {
  try {
    return { ok: true, condition: new Reader(tokensOf(rule), names).read() };
  } catch (error) {
    if (error instanceof NotUnderstood) return { ok: false, reason: error.message };
    throw error;
  }
}

/** The arguments and the body of a lambda; a rule without one is all body. */
export function splitLambda(rule: string): { readonly args: readonly string[]; readonly body: string } {
  const match = /^\s*lambda\s+([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*:(.*)$/s.exec(rule);
  if (match === null) return { args: [], body: rule.trim() };
  return {
    args: (match[1] as string).split(',').map((name) => name.trim()),
    body: (match[2] as string).trim(),
  };
}

class NotUnderstood extends Error {}

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)|('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|([A-Za-z_]\w*)|(===|!==|==|!=|<=|>=|&&|\|\||[<>!()[\],.-]))/y;

function tokensOf(rule: string): readonly string[] {
  const tokens: string[] = [];
  const text = rule.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null)
      throw new NotUnderstood(`\`${text.slice(at).trim().slice(0, 20)}\` is not understood`);
    tokens.push(match[0].trim());
  }
  return tokens;
}

const COMPARISONS: Readonly<Record<string, string>> = {
  '==': '===',
  '===': '===',
  '!=': '!==',
  '!==': '!==',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};
const CONSTANTS: Readonly<Record<string, string>> = {
  True: 'true',
  true: 'true',
  False: 'false',
  false: 'false',
  None: 'null',
  null: 'null',
};
const DEEPEST = 30;

class Reader {
  readonly #tokens: readonly string[];
  readonly #names: Names;
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly string[], names: Names) {
    this.#tokens = tokens;
    this.#names = names;
  }

  read(): string {
    if (this.#tokens.length === 0) throw new NotUnderstood('the rule is empty');
    const condition = this.#either();
    const rest = this.#tokens[this.#next];
    if (rest !== undefined) throw new NotUnderstood(`\`${rest}\` is not understood here`);
    return condition;
  }

  #either(): string {
    return this.#joined(['or', '||'], '||', () => this.#both());
  }

  #both(): string {
    return this.#joined(['and', '&&'], '&&', () => this.#negated());
  }

  #joined(words: readonly string[], operator: string, part: () => string): string {
    const parts = [part()];
    while (words.includes(this.#tokens[this.#next] ?? '')) {
      this.#next += 1;
      parts.push(part());
    }
    return parts.length === 1 ? (parts[0] as string) : `(${parts.join(` ${operator} `)})`;
  }

  #negated(): string {
    if (!this.#takes('not') && !this.#takes('!')) return this.#compared();
    return this.#deeper(() => `!(${this.#negated()})`);
  }

  /** `a < b < c` means both, in the language these rules come from. */
  #compared(): string {
    let left = this.#operand();
    const parts: string[] = [];
    for (let operator = this.#operator(); operator !== null; operator = this.#operator()) {
      const right = this.#operand();
      parts.push(operator === 'not in' ? `!(${left} in ${right})` : `${left} ${operator} ${right}`);
      left = right;
    }
    if (parts.length === 0) return left;
    return parts.length === 1 ? (parts[0] as string) : `(${parts.join(' && ')})`;
  }

  #operator(): string | null {
    const token = this.#tokens[this.#next] ?? '';
    const comparison = Object.hasOwn(COMPARISONS, token) ? COMPARISONS[token] : undefined;
    if (comparison !== undefined) {
      this.#next += 1;
      return comparison;
    }
    if (this.#takes('is')) return this.#takes('not') ? '!==' : '===';
    if (this.#takes('in')) return 'in';
    if (token !== 'not' || this.#tokens[this.#next + 1] !== 'in') return null;
    this.#next += 2;
    return 'not in';
  }

  #operand(): string {
    const token = this.#take();
    if (/^\d/.test(token)) return token;
    if (/^['"]/.test(token)) return token;
    if (token === '-') {
      const number = this.#take();
      if (!/^\d/.test(number)) throw new NotUnderstood('a rule has no arithmetic');
      return `-${number}`;
    }
    if (token === '(') return this.#deeper(() => this.#closed(')', `(${this.#either()})`));
    if (token === '[') return this.#deeper(() => this.#list());
    if (Object.hasOwn(CONSTANTS, token)) return CONSTANTS[token] as string;
    if (token === 'len' || token === 'length') {
      this.#demand('(');
      return this.#deeper(() => this.#closed(')', `length(${this.#either()})`));
    }
    if (/^[A-Za-z_]/.test(token)) return this.#path(token);
    throw new NotUnderstood(`\`${token}\` is not understood here`);
  }

  #path(name: string): string {
    if (this.#tokens[this.#next] === '(')
      throw new NotUnderstood(`\`${name}(…)\` cannot be called; \`len(x)\` can`);
    const root = this.#names(name);
    if (root === undefined) throw new NotUnderstood(`\`${name}\` is not known here`);
    let path = root;
    for (;;) {
      if (this.#takes('[')) {
        const key = this.#take();
        if (!/^(?:['"]|\d+$)/.test(key)) throw new NotUnderstood(`\`[${key}]\` is not a key`);
        path += this.#closed(']', `[${key}`, ']');
      } else if (this.#takes('.')) {
        path += this.#member(name);
      } else return path;
    }
  }

  #member(name: string): string {
    const member = this.#take();
    if (this.#tokens[this.#next] !== '(') return `.${member}`;
    this.#next += 1;
    const key = this.#take();
    if (member !== 'get' || !/^['"]/.test(key))
      throw new NotUnderstood(`\`${name}.${member}(…)\` cannot be called`);
    return this.#closed(')', `[${key}]`);
  }

  #list(): string {
    const items: string[] = [];
    while (!this.#takes(']')) {
      items.push(this.#operand());
      if (!this.#takes(',') && this.#tokens[this.#next] !== ']')
        throw new NotUnderstood('a list is not closed');
    }
    return `[${items.join(', ')}]`;
  }

  #closed(close: string, text: string, end = ''): string {
    this.#demand(close);
    return `${text}${end}`;
  }

  #deeper<T>(part: () => T): T {
    if (++this.#depth > DEEPEST) throw new NotUnderstood('the rule is nested too deeply');
    const made = part();
    this.#depth -= 1;
    return made;
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#next] !== token) return false;
    this.#next += 1;
    return true;
  }

  #demand(token: string): void {
    if (!this.#takes(token)) throw new NotUnderstood(`\`${token}\` is missing`);
  }

  #take(): string {
    const token = this.#tokens[this.#next];
    if (token === undefined) throw new NotUnderstood('the rule ends too early');
    this.#next += 1;
    return token;
  }
}
