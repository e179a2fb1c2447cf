/**
 * What an engine sees of a text in a config, and where that stands in what was written. `$$` becomes `$`, and `${…}` the
 * value of a variable, before anything is parsed.
 */

/** Stands for the value of any variable. */
const PLACEHOLDER = 'secret';

export interface EngineView {
  text: string;
  /** From a place in `text`, in UTF-16 units, to the one in the written text. */
  written(offset: number): number;
}

export function engineView(source: string): EngineView {
  const shifts: { at: number; by: number }[] = [];
  let shift = 0;
  const text = source.replaceAll(/\$(\$|\{[^}]*\})/g, (match: string, what: string, at: number) => {
    const seen = what === '$' ? '$' : PLACEHOLDER;
    const seenAt = at - shift;
    shift += match.length - seen.length;
    // What is inside of the replacement stands at its beginning; what follows has moved.
    shifts.push({ at: seenAt + seen.length, by: shift });
    return seen;
  });
  return {
    text,
    written: (offset) => offset + (shifts.findLast(({ at }) => at <= offset)?.by ?? 0),
  };
}

/** Lines and columns from 1, in UTF-16 units. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
}

/** From a place in the text's UTF-8 to the one in the text. */
export function fromBytes(text: string, byteOffset: number): number {
  return Buffer.from(text, 'utf8').subarray(0, byteOffset).toString('utf8').length;
}
