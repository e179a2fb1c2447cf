import type { CodeProblem } from '../../ui/code/code-problem.ts';

const MAX_BYTES = 65_536;

/** What keeps a text from being an event; null where it is one. Engines of browsers tell places in words of their own. */
export function eventProblem(text: string): CodeProblem | null {
  const problem = (message: string, line = 1, column = 1): CodeProblem => ({
    severity: 'error',
    message,
    line,
    column,
  });
  if (text.trim() === '')
    return problem('Write one event as a JSON object, for example { "message": "hello" }.');
  if (new TextEncoder().encode(text).length > MAX_BYTES) return problem('An event has at most 64 KiB here.');
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return null;
    return problem('An event is a JSON object, for example { "message": "hello" }.');
  } catch (error) {
    const words = error instanceof Error ? error.message : 'This is no JSON.';
    const { line, column } = placeIn(text, words);
    return problem(
      `${words.replace(/ in JSON at position.*| \(line.*/, '')}. Keys and texts stand in double quotes.`,
      line,
      column,
    );
  }
}

function placeIn(text: string, words: string): { line: number; column: number } {
  const position = /line (\d+) column (\d+)/.exec(words);
  if (position) return { line: Number(position[1]), column: Number(position[2]) };
  const at = /position (\d+)/.exec(words);
  const before = text.slice(0, at ? Number(at[1]) : text.length);
  const lines = before.split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
