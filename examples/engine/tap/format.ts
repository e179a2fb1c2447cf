import type { TapFormat } from './command.ts';
import type { StreamLine } from './streams.ts';

type EventLine = Exclude<StreamLine, { notice: string }>;
/** Turns an event into text with its line break; undefined for what the format cannot hold. */
export type FormatEvent = (line: EventLine) => string | undefined;

/** YAML is loaded where it is asked for. */
export async function formatterOf(format: TapFormat, meta: boolean): Promise<FormatEvent> {
  const shape = (line: EventLine) => (meta ? line : line.event);
  if (format === 'json') return (line) => `${JSON.stringify(shape(line))}\n`;
  if (format === 'yaml') {
    const { stringify } = await import('yaml');
    return (line) => `---\n${stringify(shape(line))}`;
  }
  return (line) => {
    if (!('log' in line.event)) return undefined;
    const { event, ...component } = line;
    return `${logfmt({ ...(meta && component), ...pairs(event.log, '') })}\n`;
  };
}

/** The fields of nested tables under their whole path. */
function pairs(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return { [path]: value };
  const found: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value))
    found.push(...Object.entries(pairs(item, path === '' ? key : `${path}.${key}`)));
  return Object.fromEntries(found);
}

function logfmt(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([key, value]) => `${quote(key)}=${quote(String(value))}`)
    .join(' ');
}

function quote(text: string): string {
  return /^[^\s"=\\]+$/.test(text) ? text : JSON.stringify(text);
}
