/** Values as YAML text, to be put between lines that others wrote. */
import { Document, isCollection, isScalar, type Scalar, visit } from 'yaml';

export type ScalarStyle = Scalar.Type;

/** What a line of a `|` block cannot hold, or not in a way that everybody reads alike. */
const NOT_IN_A_BLOCK = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]|^[ \t]+$/;

/** Whether a text can be written as a block: lines of their own under a `|`. */
export const fitsBlock = (value: string): boolean =>
  !/^[ \t\n]|\n\n$|^$/.test(value) && !value.split('\n').some((line) => NOT_IN_A_BLOCK.test(line));

/** The header of a block and its lines, without indentation. */
export function blockOf(value: string): { chomp: '' | '-'; lines: string[] } {
  const ends = value.endsWith('\n');
  return { chomp: ends ? '' : '-', lines: (ends ? value.slice(0, -1) : value).split('\n') };
}

/** No text is folded. */
const ONE_LINE = { lineWidth: 0, doubleQuotedMinMultiLineLength: 1_000_000_000 };

/** On one line. `flow`: inside of brackets or braces. */
export function inlineText(value: unknown, flow: boolean, style?: ScalarStyle): string {
  const quoted = typeof value === 'string' && (style === 'QUOTE_DOUBLE' || style === 'QUOTE_SINGLE');
  const scalar = typeof value !== 'object' || value === null;
  // A text of several lines stands in double quotes here.
  const type =
    typeof value === 'string' && /[\n\r]/.test(value) ? 'QUOTE_DOUBLE' : quoted ? style : undefined;
  const document = new Document(flow || !scalar ? [value] : { k: value }, {
    version: '1.2',
    schema: 'core',
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar(key, node) {
      if (key === 'key') return;
      if (typeof node.value === 'string' && /[\n\r]/.test(node.value)) node.type = 'QUOTE_DOUBLE';
      else if (scalar && type) node.type = type;
    },
  });
  if (flow || !scalar) {
    if (isCollection(document.contents)) document.contents.flow = true;
    return document.toString(ONE_LINE).trim().replace(/^\[ ?/, '').replace(/ ?\]$/, '');
  }
  return document.toString(ONE_LINE).replace(/\n$/, '').slice('k: '.length);
}

/** A collection that is not empty, as lines of its own without indentation. Texts of several lines are `|` blocks. */
export function blockLines(value: object, options: { step: number; indentSeq: boolean }): string[] {
  const document = new Document(value, { version: '1.2', schema: 'core', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string' || !isScalar(node)) return;
      if (!/[\n\r]/.test(node.value)) return;
      node.type = fitsBlock(node.value) ? 'BLOCK_LITERAL' : 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ ...ONE_LINE, indent: options.step, indentSeq: options.indentSeq });
  return text.replace(/\n$/, '').split('\n');
}

export const isEmptyCollection = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
