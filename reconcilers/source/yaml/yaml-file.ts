/** One YAML file, parsed: values without places. A place is looked up in the text when a problem needs it. */
import type { Document } from 'yaml';
import { composeDocuments, syntaxFinding } from '../../../controller/platform/yaml/documents.ts';
import { plainValue } from '../../../controller/platform/yaml/plain-value.ts';
import { formatPosition } from '../../../controller/platform/yaml/position.ts';
import type { Finding } from '../finding.ts';
import { decodeText } from './decode-text.ts';
import { FILE_KEY } from './file-reference.ts';
import { helmFinding } from './helm.ts';
import { hasPlaceholder } from './values.ts';
import { quickDocuments } from './yaml-quick.ts';

export const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FINDINGS = 20;

export interface ParsedDocument {
  index: number;
  /** Where the content begins. */
  line: number;
  column: number;
  /** What was read, even of a document with findings: good for telling which object is meant, for nothing else. */
  value: unknown;
  findings: Finding[];
  /** Whether anything has to be filled in before the value is what is meant. */
  hasFiles: boolean;
  hasPlaceholders: boolean;
}

export interface ParsedFile {
  text: string;
  /** Documents with content; empty ones are left out. */
  documents: ParsedDocument[];
  /** What is wrong with the file as a whole; it has no documents then. */
  finding: Finding | null;
}

/** Parsed once per blob and kept, so it holds nothing of where the blob lies. */
export function parseYamlBytes(bytes: Uint8Array): ParsedFile {
  const text = decodeText(bytes);
  return typeof text === 'string' ? parseYamlText(text) : { text: '', documents: [], finding: text };
}

export function tooLarge(bytes: number | null): ParsedFile {
  const message =
    bytes === null
      ? 'the repository here does not hold the content of this file; it may be above the limit of 2 MB'
      : `the file has ${bytes} bytes; ${MAX_FILE_BYTES} is the most`;
  const hint = 'Split it, or move long texts into files of their own and include them by $file.';
  return { text: '', documents: [], finding: { stage: 'source', message, hint, line: 1, column: 1 } };
}

export function parseYamlText(text: string): ParsedFile {
  const quick = quickDocuments(text);
  if (!quick) return parseYamlTextByLibrary(text);
  const documents = quick.map((document) => ({ ...document, findings: [] }));
  return { text, finding: null, documents };
}

/** The long way, which knows all of YAML and tells what is wrong. */
export function parseYamlTextByLibrary(text: string): ParsedFile {
  const { documents, finding } = composeDocuments(text);
  if (finding) return { text, documents: [], finding };
  return {
    text,
    finding: null,
    documents: documents.flatMap((document, index) => parseDocument(text, document, index)),
  };
}

function parseDocument(text: string, document: Document.Parsed, index: number): ParsedDocument[] {
  let hasFiles = false;
  let hasPlaceholders = false;
  const { value, findings } = plainValue(text, document, {
    key: (name) => {
      hasFiles ||= name === FILE_KEY;
    },
    text: (one) => {
      hasPlaceholders ||= hasPlaceholder(one);
    },
  });
  const syntax = document.errors.slice(0, MAX_FINDINGS).map((error) => syntaxFinding(text, error));
  // What follows a syntax error is often only its echo.
  const found = syntax.length > 0 ? syntax.slice(0, 3) : findings;
  const helm = helmFinding(text, found);
  const all = helm ? [helm] : found;
  if (value === null && all.length === 0) return [];
  const begin = formatPosition(text, document.contents?.range?.[0] ?? document.range[0]);
  return [{ index, ...begin, value, findings: all, hasFiles, hasPlaceholders }];
}
