/**
 * YAML text to document trees, with limits that hold before the tree is built: the composer of the library recurses,
 * and its check for duplicate keys compares each key with every other, so depth is capped and that check is our own.
 */
import { Composer, type Document, Lexer, Parser, Schema, type YAMLParseError } from 'yaml';
import { formatPosition, printable } from './position.ts';

/** What is wrong with a text as YAML. */
export interface YamlFault {
  stage: 'parse';
  message: string;
  hint: string;
  line: number;
  column: number;
}

const MAX_DEPTH = 100;
/** A manifest of 1 MiB with long texts has far fewer; a million brackets take seconds. */
const MAX_TOKENS = 250_000;
const MAX_DOCUMENTS = 2000;

/** Given as an object, it holds whatever a %YAML directive says, and is not rebuilt for each document. */
const CORE = new Schema({ schema: 'core', merge: false });

class Refused extends Error {
  readonly finding: YamlFault;
  constructor(finding: YamlFault) {
    super(finding.message);
    this.finding = finding;
  }
}

function* tokens(text: string) {
  const parser = new Parser();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('%') && parser.stack.length === 0 && !/^%YAML 1\.2\s*$/.test(lexeme)) {
      throw new Refused({
        stage: 'parse',
        message: 'YAML directives are not accepted',
        hint: 'Remove the line that begins with %: manifests are YAML 1.2.',
        ...formatPosition(text, parser.offset),
      });
    }
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_DEPTH) {
      throw new Refused({
        stage: 'parse',
        message: `values are nested more than ${MAX_DEPTH} deep`,
        hint: 'Flatten the document.',
        ...formatPosition(text, parser.offset),
      });
    }
    count += 1;
    if (count > MAX_TOKENS) {
      throw new Refused({
        stage: 'parse',
        message: 'the file holds too many values',
        hint: 'Split it into several files.',
        ...formatPosition(text, parser.offset),
      });
    }
  }
  yield* parser.end();
}

/**
 * The documents of a file, in order. A limit that was met ends the list and comes back as `finding`.
 * `sourceTokens`: nodes remember what they were read from, for editors of the text.
 */
export function composeDocuments(
  text: string,
  options: { sourceTokens?: boolean } = {},
): { documents: Document.Parsed[]; finding: YamlFault | null } {
  const composer = new Composer({
    version: '1.2',
    schema: CORE,
    uniqueKeys: false,
    prettyErrors: false,
    keepSourceTokens: options.sourceTokens ?? false,
    logLevel: 'silent',
  });
  const documents: Document.Parsed[] = [];
  try {
    for (const document of composer.compose(tokens(text))) {
      documents.push(document);
      if (documents.length > MAX_DOCUMENTS) {
        throw new Refused({
          stage: 'parse',
          message: `the file holds more than ${MAX_DOCUMENTS} documents`,
          hint: 'Split it into several files.',
          ...formatPosition(text, document.range[0]),
        });
      }
    }
  } catch (error) {
    if (error instanceof Refused) return { documents: [], finding: error.finding };
    // The library's own limits: what it cannot take is refused rather than guessed at.
    const message = 'the file cannot be read as YAML';
    return { documents: [], finding: { stage: 'parse', message, hint: 'Simplify it.', line: 1, column: 1 } };
  }
  return { documents, finding: null };
}

const HINTS: Partial<Record<YAMLParseError['code'], string>> = {
  TAB_AS_INDENT: 'Indent with spaces.',
  BAD_INDENT: 'Lines of one mapping or list begin at the same column.',
  MISSING_CHAR: 'A bracket, brace, quote or comma is missing here or further up.',
  BAD_SCALAR_START: 'Put the text in quotes.',
  UNEXPECTED_TOKEN: 'Put the text in quotes, or check the indentation.',
  MULTILINE_IMPLICIT_KEY: 'A line lacks its colon, or is indented too little.',
  BLOCK_AS_IMPLICIT_KEY: 'Put the text in quotes if the colon belongs to it.',
  BAD_DQ_ESCAPE: 'Double the backslash, or use single quotes.',
  BAD_ALIAS: 'An alias needs an anchor (&name) further up in the same document.',
  BAD_DIRECTIVE: 'Remove the line that begins with %.',
};

export function syntaxFinding(text: string, error: YAMLParseError): YamlFault {
  const message = error.message.split('\n')[0] ?? '';
  return {
    stage: 'parse',
    message: printable(message.slice(0, 1).toLowerCase() + message.slice(1, 300)),
    hint: HINTS[error.code] ?? 'Check the YAML here.',
    ...formatPosition(text, error.pos[0]),
  };
}
