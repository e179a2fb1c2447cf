/** Tag patterns of `<match>` and `<filter>`, as automata, as conditions in VRL, and as expressions. */
import { TAG, TAG_TEXT } from '../event-form.ts';
import { splitRegexp, translateRegexp } from '../text/regexp.ts';
import { vrlRegexp, vrlString } from '../text/vrl.ts';
import { Automaton, type Node } from './automaton.ts';

export interface TagPattern {
  /** As it is written. */
  text: string;
  /** Null where only the engine can match it: an expression between slashes. */
  automaton: Automaton | null;
  matchesAll: boolean;
  /** In VRL; null if it cannot be written there. */
  condition: string | null;
  /** Why there is no condition. */
  problem: string | null;
}

const MAX_PATTERN_CHARS = 1_024;

/** Several patterns with blanks between match what one of them matches. */
export function parsePattern(text: string): TagPattern {
  const words = text.slice(0, MAX_PATTERN_CHARS).split(/\s+/).filter(Boolean);
  const parts = words.map((word) => (word.startsWith('/') ? parseExpression(word) : parseGlob(word)));
  const automata = parts.map(({ node }) => node);
  const problem = parts.find((part) => part.problem !== null)?.problem ?? null;
  const matchesAll = words.includes('**');
  return {
    text: words.join(' '),
    automaton: automata.every((node) => node !== null) ? new Automaton({ either: automata }) : null,
    matchesAll,
    condition: matchesAll ? 'true' : problem ? null : parts.map(({ condition }) => condition).join(' || '),
    problem: matchesAll ? null : problem,
  };
}

interface Part {
  node: Node | null;
  condition: string;
  problem: string | null;
}

/** `/…/`, which Fluentd matches from the beginning of a tag to its end. */
function parseExpression(word: string): Part {
  const { body } = splitRegexp(word);
  const negative = /^\^?\(\?!(?:\^)?([^()|]*|\((?:\?:)?[^()]*\)[^()|]*)\)\.[*+]\$?$/.exec(body);
  const translated = translateRegexp(negative ? `\\A(?:${negative[1] ?? ''})` : `\\A${body}\\Z`);
  if ('problem' in translated) {
    return { node: null, condition: '', problem: `the tag pattern ${word} has ${translated.problem}` };
  }
  const condition = `match(${TAG_TEXT}, ${vrlRegexp(translated.source)})`;
  return { node: null, condition: negative ? `!${condition}` : condition, problem: null };
}

function parseGlob(word: string): Part {
  const node = new GlobParser(word).parse();
  return { node, condition: conditionOf(word, node), problem: null };
}

function conditionOf(word: string, node: Node): string {
  if (/^[^*{}\\]+$/.test(word)) return `${TAG} == ${vrlString(word)}`;
  const prefix = /^([^*{}\\]+)\.\*\*$/.exec(word)?.[1];
  if (prefix !== undefined) {
    return `(${TAG} == ${vrlString(prefix)} || starts_with(${TAG_TEXT}, ${vrlString(`${prefix}.`)}))`;
  }
  return `match(${TAG_TEXT}, ${vrlRegexp(`\\A${expressionOf(node)}\\z`)})`;
}

function expressionOf(node: Node): string {
  if ('char' in node) return node.char.replace(/[^A-Za-z0-9_]/u, '\\$&');
  if ('repeat' in node) return node.repeat === 'any' ? '.*' : '[^.]*';
  if ('sequence' in node) return node.sequence.map(expressionOf).join('');
  return `(?:${node.either.map(expressionOf).join('|')})`;
}

const DOT: Node = { char: '.' };
const ANY: Node = { repeat: 'any' };
const NONE: Node = { sequence: [] };

/** `**` takes dots with it: `a.**` matches `a`, and `**.a` too. */
class GlobParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Node {
    const alternatives = [this.#sequence(0)];
    // A closing brace or a comma without an opening brace is a character.
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? '';
      this.#at += 1;
      alternatives.push({ sequence: [alternatives.pop() ?? NONE, { char }, this.#sequence(0)] });
    }
    return alternatives[0] ?? NONE;
  }

  #sequence(depth: number): Node {
    const nodes: Node[] = [];
    const text = this.#text;
    while (this.#at < text.length) {
      const char = text[this.#at] ?? '';
      if (depth > 0 && (char === ',' || char === '}')) break;
      this.#at += 1;
      if (char === '\\') {
        nodes.push({ char: text[this.#at] ?? '\\' });
        this.#at += 1;
      } else if (char === '.' && text.startsWith('**', this.#at)) {
        this.#at += 2;
        if (text[this.#at] === '.') {
          this.#at += 1;
          nodes.push(DOT, { either: [{ sequence: [ANY, DOT] }, NONE] });
        } else nodes.push({ either: [{ sequence: [DOT, ANY] }, NONE] });
      } else if (char === '*' && text[this.#at] === '*') {
        this.#at += 1;
        if (text[this.#at] === '.') {
          const isFirst = this.#at === 2;
          this.#at += 1;
          nodes.push(isFirst ? { either: [{ sequence: [ANY, DOT] }, NONE] } : { sequence: [ANY, DOT] });
        } else nodes.push(ANY);
      } else if (char === '*') nodes.push({ repeat: 'part' });
      else if (char === '{' && depth < 8) nodes.push(this.#alternatives(depth + 1));
      else nodes.push({ char });
    }
    return { sequence: nodes };
  }

  #alternatives(depth: number): Node {
    const either = [this.#sequence(depth)];
    while (this.#text[this.#at] === ',') {
      this.#at += 1;
      either.push(this.#sequence(depth));
    }
    this.#at += 1;
    return { either };
  }
}
