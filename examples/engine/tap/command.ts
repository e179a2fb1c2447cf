import { missingValue, type UsageError, unexpected } from '../usage.ts';
import { LEAST_INTERVAL_MS, MOST_EVENTS, type TapRequest } from './request.ts';

export const TAP_FORMATS = ['json', 'yaml', 'logfmt'] as const;
export type TapFormat = (typeof TAP_FORMATS)[number];

export interface TapCommand extends TapRequest {
  kind: 'tap';
  format: TapFormat;
  url: URL;
  durationMs: number | undefined;
  quiet: boolean;
  meta: boolean;
  reconnect: boolean;
}

const USAGE = 'headgate-engine tap [OPTIONS] [COMPONENT_ID_PATTERNS]...';
const HELP = `Usage: ${USAGE}

Shows events on their way, as copies. Patterns are globs over component ids and
named outputs (id.port); without any, all outputs are meant.

Options:
      --outputs-of <PATTERNS>  Components to look at, as seen at their outputs
      --inputs-of <PATTERNS>   Components to look at, as seen at their inputs
  -i, --interval <MS>          Time between two bursts of events [default: 500]
  -l, --limit <LIMIT>          Events of one interval, chosen at random [default: 100]
  -f, --format <FORMAT>        json, yaml or logfmt [default: json]
  -u, --url <URL>              The engine's API [default: http://127.0.0.1:8686]
  -d, --duration-ms <MS>       End after this time
  -m, --meta                   Name the component of each event
  -n, --no-reconnect           End when the connection does
  -q, --quiet                  No notices about patterns
  -h, --help                   Print help`;

const SHORT: Record<string, string> = {
  '-i': '--interval',
  '-l': '--limit',
  '-f': '--format',
  '-u': '--url',
  '-d': '--duration-ms',
  '-m': '--meta',
  '-n': '--no-reconnect',
  '-q': '--quiet',
  '-h': '--help',
};

/** The words after `tap`, with `--flag=value` split already. */
export function tapCommand(
  words: readonly string[],
): TapCommand | UsageError | { kind: 'help'; text: string } {
  const command: TapCommand = {
    kind: 'tap',
    outputsOf: [],
    inputsOf: [],
    intervalMs: 500,
    limit: 100,
    format: 'json',
    url: new URL('http://127.0.0.1:8686'),
    durationMs: undefined,
    quiet: false,
    meta: false,
    reconnect: true,
  };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const flag = SHORT[word] ?? word;
    if (flag === '--help') return { kind: 'help', text: HELP };
    if (flag === '--quiet') command.quiet = true;
    else if (flag === '--meta') command.meta = true;
    else if (flag === '--no-reconnect') command.reconnect = false;
    else if (!flag.startsWith('-')) command.outputsOf.push(...patterns(word));
    else {
      const set = VALUES[flag];
      if (!set) return unexpected(word, USAGE);
      at += 1;
      const value = words[at];
      if (value === undefined || !set(command, value)) return missingValue(flag);
    }
  }
  if (command.outputsOf.length + command.inputsOf.length === 0) command.outputsOf = ['*'];
  return command;
}

const patterns = (text: string) => text.split(',').filter((pattern) => pattern !== '');

/** Take a value into the command; false where it is none. */
const VALUES: Record<string, (command: TapCommand, value: string) => boolean> = {
  '--outputs-of': (command, value) => command.outputsOf.push(...patterns(value)) > 0,
  '--inputs-of': (command, value) => command.inputsOf.push(...patterns(value)) > 0,
  '--interval': (command, value) => {
    command.intervalMs = Number(value);
    return isWhole(value) && command.intervalMs >= LEAST_INTERVAL_MS;
  },
  '--limit': (command, value) => {
    command.limit = Math.min(MOST_EVENTS, Number(value));
    return isWhole(value) && command.limit >= 1;
  },
  '--format': (command, value) => {
    const format = TAP_FORMATS.find((known) => known === value);
    if (format) command.format = format;
    return format !== undefined;
  },
  '--url': (command, value) => {
    const url = URL.parse(value);
    if (url) command.url = url;
    return url?.protocol === 'http:';
  },
  '--duration-ms': (command, value) => {
    command.durationMs = Number(value);
    return isWhole(value);
  },
};

const isWhole = (text: string) => /^\d{1,9}$/.test(text);
