/**
 * The YAML that manifests are mostly written in, read ten times as fast as by the library: block maps and lists,
 * collections in brackets on one line, scalars on one line, `|` and `>` blocks. At anything else, and at anything that
 * could be wrong, it gives up and the library reads the whole file: it alone tells what is wrong, and where. What is
 * read here must be exactly what the library reads; the tests compare the two on mutilated manifests.
 */
import { formatPosition } from '../../../controller/platform/yaml/position.ts';
import {
  addTo,
  flow,
  GIVE_UP,
  plainScalar,
  type QuickLine,
  readKey,
  readText,
  skipSpaces,
} from './yaml-quick-line.ts';

/** So far below the limits on values, tokens and documents that none of them can be met. */
const MAX_CHARACTERS = 64 * 1024;
const MAX_DOCUMENTS = 1000;
const MAX_DEPTH = 20;
/** Tabs, carriage returns and byte order marks have rules of their own. */
const UNUSUAL = /[\t\r\ufeff]/;
const SPACE = 32;
const HASH = 35;
const DASH = 45;

export interface QuickDocument {
  /** Counts the empty documents before it, too. */
  index: number;
  line: number;
  column: number;
  value: Record<string, unknown>;
  hasFiles: boolean;
  hasPlaceholders: boolean;
}

class Reader implements QuickLine {
  readonly text: string;
  at = 0;
  end = 0;
  hasFiles = false;
  hasPlaceholders = false;
  /** Of the line, or of the place in it where a map begins; -1 between documents and at the end. */
  private indent = -1;
  /** The line is `---`. */
  private marker = false;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  documents(): QuickDocument[] {
    const documents: QuickDocument[] = [];
    let index = -1;
    this.next(0);
    while (this.marker || this.indent >= 0) {
      if (this.marker || index < 0) index += 1;
      if (index > MAX_DOCUMENTS) throw GIVE_UP;
      if (this.marker) this.next(this.end + 1);
      if (this.indent < 0) continue;
      const begin = formatPosition(this.text, this.at);
      this.hasFiles = false;
      this.hasPlaceholders = false;
      if (this.indent > 0) throw GIVE_UP;
      const value = this.map(0);
      const { hasFiles, hasPlaceholders } = this;
      documents.push({ index, ...begin, value, hasFiles, hasPlaceholders });
    }
    return documents;
  }

  /** Goes to the next line with content, at or after the line that begins at `from`. */
  private next(from: number): void {
    const { text } = this;
    let begin = from;
    for (;;) {
      this.marker = false;
      this.indent = -1;
      if (begin >= text.length) return;
      this.at = begin;
      skipSpaces(this);
      const found = text.indexOf('\n', this.at);
      this.end = found < 0 ? text.length : found;
      if (this.at < this.end && text.charCodeAt(this.at) !== HASH) break;
      begin = this.end + 1;
    }
    if (this.at === begin && (text.startsWith('---', begin) || text.startsWith('...', begin))) {
      if (text.slice(begin, this.end) !== '---') throw GIVE_UP;
      this.marker = true;
    } else {
      this.indent = this.at - begin;
    }
  }

  private isDash(): boolean {
    if (this.text.charCodeAt(this.at) !== DASH) return false;
    return this.at + 1 === this.end || this.text.charCodeAt(this.at + 1) === SPACE;
  }

  private map(indent: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.deeper();
    while (this.indent === indent) {
      const key = readKey(this);
      if (key === null) throw GIVE_UP;
      addTo(map, key, this.valueOfKey(indent));
    }
    if (this.indent > indent) throw GIVE_UP;
    this.depth -= 1;
    return map;
  }

  private list(indent: number): unknown[] {
    const list: unknown[] = [];
    this.deeper();
    while (this.indent === indent && this.isDash()) {
      const dash = this.at;
      this.at += 1;
      skipSpaces(this);
      const inner = indent + this.at - dash;
      if (this.isEndOfValue() || this.isDash()) throw GIVE_UP;
      list.push(this.isKey() ? this.mapFrom(inner) : this.inline(indent));
    }
    if (this.indent > indent) throw GIVE_UP;
    this.depth -= 1;
    return list;
  }

  private deeper(): void {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw GIVE_UP;
  }

  private isKey(): boolean {
    const before = this.at;
    const found = readKey(this) !== null;
    this.at = before;
    return found;
  }

  /** A map whose first key stands behind the dash of a list. */
  private mapFrom(indent: number): Record<string, unknown> {
    this.indent = indent;
    return this.map(indent);
  }

  private isEndOfValue(): boolean {
    return this.at === this.end || this.text.charCodeAt(this.at) === HASH;
  }

  private valueOfKey(indent: number): unknown {
    skipSpaces(this);
    if (!this.isEndOfValue()) return this.inline(indent);
    this.next(this.end + 1);
    if (this.indent === indent) return this.isDash() ? this.list(indent) : null;
    if (this.indent < indent) return null;
    return this.isDash() ? this.list(this.indent) : this.map(this.indent);
  }

  /** A value that begins on this line; what follows it must not be indented more than `indent`. */
  private inline(indent: number): unknown {
    const first = this.text.charAt(this.at);
    if (first === '|' || first === '>') return this.block(indent);
    const isPlain = !'[{"\''.includes(first);
    const value = isPlain ? plainScalar(this) : flow(this);
    const after = this.at;
    skipSpaces(this);
    if (!this.isEndOfValue() || (this.at === after && this.at < this.end)) throw GIVE_UP;
    this.next(this.end + 1);
    if (this.indent > indent) throw GIVE_UP;
    return value;
  }

  /** A block whose first line is not empty; a folded one has no empty and no further indented lines either. */
  private block(indent: number): string {
    const { text } = this;
    const header = text.slice(this.at, this.end);
    if (!/^[|>]-?$/.test(header)) throw GIVE_UP;
    const folded = header.startsWith('>');
    const lines: string[] = [];
    let begin = this.end + 1;
    let column = -1;
    let empty = 0;
    while (begin < text.length) {
      const end = text.indexOf('\n', begin);
      if (end < 0) throw GIVE_UP;
      this.at = begin;
      skipSpaces(this);
      const spaces = this.at - begin;
      if (this.at === end) {
        if (spaces > 0 || column < 0) throw GIVE_UP;
        empty += 1;
      } else {
        if (column < 0) column = spaces;
        if (spaces < column) break;
        if (folded && (empty > 0 || spaces > column)) throw GIVE_UP;
        for (; empty > 0; empty -= 1) lines.push('');
        lines.push(text.slice(begin + column, end));
      }
      begin = end + 1;
    }
    if (column <= indent) throw GIVE_UP;
    this.next(begin);
    if (this.indent > indent) throw GIVE_UP;
    const content = lines.join(folded ? ' ' : '\n');
    return readText(this, header.endsWith('-') ? content : `${content}\n`);
  }
}

/** The documents of a file that have content; null where the library has to read it. */
export function quickDocuments(text: string): QuickDocument[] | null {
  if (text.length > MAX_CHARACTERS || UNUSUAL.test(text) || !text.isWellFormed()) return null;
  try {
    return new Reader(text).documents();
  } catch (error) {
    if (error === GIVE_UP) return null;
    throw error;
  }
}
