/**
 * What the compiler of VRL prints for a terminal, as one sentence. Undefined for any other text.
 *
 *     Transform "t":
 *     error[E103]: unhandled fallible assignment
 *       ┌─ :2:6
 *     2 │ .b = parse_json(.message)
 *       │ ---- ^^^^^^^^^^^^^^^^^^^^ this expression is fallible because …
 */
export function shortVrlError(text: string): string | undefined {
  const head = /error\[E\d+\]: [^\n]*/.exec(text);
  if (!head) return undefined;
  const before = text.slice(0, head.index).replace(/\s+/g, ' ').trim();
  const block = text.slice(head.index + head[0].length).split(/\nerror\[E\d+\]/)[0] ?? '';
  const position = /┌─ [^\n]*?:(\d+):(\d+)/.exec(block);
  const source = /(?:^|\n)\s*\d+ │ ([^\n]*)/.exec(block)?.[1]?.trim();
  const label = labelOf(block.split('\n'));
  const at = position ? ` at line ${position[1]}, column ${position[2]} of the program` : '';
  const parts = [`${before} ${head[0]}${at}`.trim(), source && `\`${source}\``, label];
  return parts.filter((part) => part).join(': ');
}

/** The first words beside or below the marks. */
function labelOf(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const marked = /^\s*│ (.*)$/.exec(line)?.[1];
    const words = marked?.replace(/^[\s│^-]+/, '').trim();
    if (words) return words;
  }
  return undefined;
}
