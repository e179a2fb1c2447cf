/** Reads a configuration of Fluentd into a tree. What is wrong becomes a problem with its position, never an exception. */
import type { ConfigDirective, ConfigParam, ConfigTree } from '../config-tree.ts';
import { type Literal, takeDoubleQuoted, takeLiteral, takeSingleQuoted } from './literal.ts';
import { Scanner } from './scanner.ts';

export const MAX_CONFIG_BYTES = 500 * 1024;
const MAX_NESTING = 32;
const MAX_DIRECTIVES = 4_000;
const MAX_PARAMS = 20_000;
const MAX_ARGUMENT_CHARS = 4_096;

interface Open extends ConfigDirective {
  params: ConfigParam[];
  children: ConfigDirective[];
}

export function parseFluentd(text: string): ConfigTree {
  return parseCounted(text).tree;
}

/** `steps` are the characters that were looked at: the limit of a test, which cannot depend on a clock. */
export function parseCounted(text: string): { tree: ConfigTree; steps: number } {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CONFIG_BYTES) {
    const message = `the configuration has ${bytes} bytes, the limit is ${MAX_CONFIG_BYTES} (500 KB); migrate it in parts`;
    return {
      tree: { directives: [], problems: [{ severity: 'error', line: 1, column: 1, message }] },
      steps: 0,
    };
  }
  const parser = new Parser(new Scanner(text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text));
  const tree = parser.parse();
  return { tree, steps: parser.scanner.steps };
}

class Parser {
  readonly scanner: Scanner;
  readonly #root: Open = directive('', '', 1);
  readonly #open: Open[] = [this.#root];
  #directives = 0;
  #params = 0;

  constructor(scanner: Scanner) {
    this.scanner = scanner;
  }

  parse(): ConfigTree {
    const { scanner } = this;
    for (;;) {
      scanner.takeWhile(isSpace);
      if (scanner.isAtEnd) break;
      if (scanner.peek() === '#') scanner.takeLine();
      else if (scanner.startsWith('</')) this.#closeTag();
      else if (scanner.peek() === '<') this.#openTag();
      else this.#param();
    }
    for (const open of this.#open.slice(1).reverse()) {
      this.#close(open);
      if (!scanner.isStopped) {
        scanner.report(
          'error',
          `<${open.name}> of line ${open.line} is not closed; write </${open.name}> at its end`,
        );
      }
    }
    return { directives: this.#root.children, problems: scanner.problems };
  }

  get #current(): Open {
    return this.#open.at(-1) ?? this.#root;
  }

  #openTag(): void {
    const { scanner } = this;
    const start = scanner.pos;
    const line = scanner.line;
    scanner.pos += 1;
    const name = scanner.takeWhile(isNameChar);
    if (name === '') {
      scanner.takeLine();
      scanner.report('error', 'a directive needs a name, such as <source>', start);
      return;
    }
    scanner.skipBlanks();
    const argument = this.#argument(start);
    if (argument === null) return;
    this.#directives += 1;
    if (this.#directives > MAX_DIRECTIVES) {
      scanner.stop(
        `there are more than ${MAX_DIRECTIVES} directives; migrate the configuration in parts`,
        start,
      );
      return;
    }
    if (this.#open.length > MAX_NESTING) {
      scanner.stop(`directives are nested deeper than ${MAX_NESTING}`, start);
      return;
    }
    const opened = directive(name, argument, line);
    this.#current.children.push(opened);
    this.#open.push(opened);
    this.#lineEnd(`write what stands behind <${name}> on a line of its own`);
  }

  /** Up to `>`; null if the tag is none. */
  #argument(start: number): string | null {
    const { scanner } = this;
    let argument: string;
    const first = scanner.peek();
    if (first === '"' || first === "'") {
      const literal = first === '"' ? takeDoubleQuoted(scanner) : takeSingleQuoted(scanner);
      scanner.skipBlanks();
      argument = literal.value;
    } else {
      argument = scanner.takeWhile((char) => char !== '>' && char !== '\n' && char !== '\r').trim();
    }
    if (!scanner.skip('>')) {
      scanner.takeLine();
      if (!scanner.isStopped) scanner.report('error', 'a directive must end with > on its line', start);
      return null;
    }
    if (argument.length <= MAX_ARGUMENT_CHARS) return argument;
    scanner.report(
      'error',
      `the text behind the name is longer than ${MAX_ARGUMENT_CHARS} characters`,
      start,
    );
    return argument.slice(0, MAX_ARGUMENT_CHARS);
  }

  #closeTag(): void {
    const { scanner } = this;
    const start = scanner.pos;
    scanner.pos += 2;
    const name = scanner.takeWhile(isNameChar);
    scanner.skipBlanks();
    if (!scanner.skip('>')) scanner.report('error', `</${name} must end with >`, start);
    const at = this.#open.findLastIndex((open, index) => index > 0 && open.name === name);
    if (at < 0) {
      scanner.report('error', `</${name}> closes nothing; take it out`, start);
    } else {
      for (const open of this.#open.splice(at).reverse()) {
        this.#close(open, start);
        if (open.name === name) continue;
        scanner.report('error', `<${open.name}> of line ${open.line} is not closed before </${name}>`, start);
      }
    }
    this.#lineEnd(`write what stands behind </${name}> on a line of its own`);
  }

  #close(open: Open, at = Math.max(0, this.scanner.text.length - 1)): void {
    open.endLine = this.scanner.lineAt(at);
  }

  #param(): void {
    const { scanner } = this;
    const line = scanner.line;
    const start = scanner.pos;
    const key = this.#key();
    scanner.skipBlanks();
    if (key === '@include' || (key === 'include' && this.#open.length === 1)) {
      this.#include(key, start);
      return;
    }
    const isBare = scanner.isAtEnd || scanner.peek() === '\n' || scanner.peek() === '\r';
    const literal: Literal = isBare ? { value: '', quoting: 'none', embeddedRuby: [] } : takeLiteral(scanner);
    this.#params += 1;
    if (this.#params > MAX_PARAMS) {
      scanner.stop(`there are more than ${MAX_PARAMS} parameters; migrate the configuration in parts`, start);
      return;
    }
    if (this.#open.length === 1) {
      scanner.report(
        'warning',
        `"${short(key)}" stands outside of any directive, where Fluentd ignores it`,
        start,
      );
    } else {
      this.#warnOfLegacy(key, start);
      this.#current.params.push({ key, ...literal, line });
    }
    this.#lineEnd('write one parameter on a line, and # before a comment');
  }

  #key(): string {
    const { scanner } = this;
    if (scanner.peek() === '"') return takeDoubleQuoted(scanner).value;
    if (scanner.peek() === "'") return takeSingleQuoted(scanner).value;
    return scanner.takeWhile((char) => !isSpace(char));
  }

  #include(key: string, start: number): void {
    const { scanner } = this;
    const path = short(takeLiteral(scanner).value);
    if (key === 'include')
      scanner.report('warning', 'include is deprecated in Fluentd: it is @include', start);
    scanner.report(
      'warning',
      `the file ${path} is not part of this text; paste its content in place of ${key}`,
      start,
    );
  }

  #warnOfLegacy(key: string, start: number): void {
    const isPlugin = ['source', 'match', 'filter', 'store'].includes(this.#current.name);
    if (isPlugin && (key === 'type' || key === 'id')) {
      this.scanner.report('warning', `${key} is written @${key} since version 1 of Fluentd`, start);
    } else if (key.startsWith('@') && !RESERVED.has(key)) {
      this.scanner.report(
        'warning',
        `@ begins names that Fluentd reserves; ${short(key)} is none of them`,
        start,
      );
    }
  }

  /** Nothing but blanks and a comment may follow. */
  #lineEnd(hint: string): void {
    const { scanner } = this;
    scanner.skipBlanks();
    if (scanner.isAtEnd || scanner.peek() === '\n' || scanner.peek() === '\r' || scanner.peek() === '#') {
      scanner.takeLine();
      return;
    }
    const start = scanner.pos;
    scanner.takeLine();
    scanner.report('error', `the line has to end here; ${hint}`, start);
  }
}

const RESERVED: ReadonlySet<string> = new Set(['@type', '@id', '@label', '@log_level', '@include']);

const directive = (name: string, argument: string, line: number): Open => ({
  ...{ name, argument, params: [], children: [] },
  ...{ line, endLine: line },
});
const isSpace = (char: string): boolean => char === ' ' || char === '\t' || char === '\n' || char === '\r';
const isNameChar = (char: string): boolean => /^[a-zA-Z0-9_]$/.test(char);
/** A text of the user in a message. */
const short = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
