/** What is typed about a stream, and what is sent of it. */

/** Headers, one a line: `name: value`. */
export function readHeaders(text: string): { headers: Record<string, string>; problem: string } {
  const headers: Record<string, string> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf(':');
    const name = line.slice(0, Math.max(0, at)).trim();
    if (name === '')
      return { headers: {}, problem: `Line ${index + 1} must be a name, a colon and a value.` };
    headers[name] = line.slice(at + 1).trim();
  }
  return { headers, problem: '' };
}
