/** JSON objects in texts from outside. */
import { isRecord } from './is-record.ts';

/** Code that visits values calls itself for each level. Ruby's own parser has this limit too. */
const MAX_NESTING = 100;

/** Null where the text is no JSON object, or is nested deeper than 100 levels. */
export function parseJsonRecord(text: string): Record<string, unknown> | null {
  if (nestingOf(text) > MAX_NESTING) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Brackets in strings do not count. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
