/** A value as YAML text and back. */
import { isAlias, LineCounter, parseDocument, stringify, visit } from 'yaml';

export interface TextProblem {
  /** From 1. */
  line: number;
  column: number;
  message: string;
}

export interface Read {
  /** Undefined where nothing is written, and where the text cannot be read. */
  value: unknown;
  problems: TextProblem[];
}

const MAX_TEXT = 262_144;

/** Not written is the empty text. */
export function toYaml(value: unknown): string {
  return value === undefined ? '' : stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Empty text, and comments alone, are "not written". */
export function fromYaml(text: string): Read {
  const fail = (message: string, line = 1, column = 1): Read => ({
    value: undefined,
    problems: [{ line, column, message }],
  });
  if (text.length > MAX_TEXT) return fail(`At most ${MAX_TEXT} characters.`);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true });
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ message, pos }) => {
      const { line, col } = lineCounter.linePos(pos[0]);
      return { line, column: col, message };
    });
    return { value: undefined, problems };
  }
  if (document.contents === null) return { value: undefined, problems: [] };
  let aliases = false;
  visit(document, (_, node) => {
    if (isAlias(node)) aliases = true;
  });
  if (aliases) return fail('Write the value out: anchors and aliases are not kept.');
  return { value: document.toJS(), problems: [] };
}
