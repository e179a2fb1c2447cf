/** What every command of `headgate` is made of: one parser, one form of help, one meaning of exit codes. */
import { parseArgs } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';

export const EXIT = {
  fine: 0,
  /** It ran, and something is wrong with what it looked at. */
  findings: 1,
  /** It could not do its work: bad arguments, an unreadable folder, a server that does not answer. */
  couldNotRun: 2,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a command knows of the world. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

export interface OptionSpec {
  /** What stands behind it in the help, such as `<folder>`; absent for one without a value. */
  value?: string;
  /** The values that it takes. */
  oneOf?: readonly string[];
  repeated?: boolean;
  help: string;
}

export interface ParsedOptions {
  positionals: readonly string[];
  flag(name: string): boolean;
  /** Undefined where it was not given. */
  value(name: string): string | undefined;
  values(name: string): readonly string[];
}

export interface Command {
  /** A line each: `headgate plan <folder> …`. */
  usage: readonly string[];
  help: string;
  options?: Readonly<Record<string, OptionSpec>>;
  /** How many arguments that are no options it takes. */
  positionals?: number;
  /** The exit code of what cannot be set up: 1 where 1 does not mean findings. Default: 2. */
  failure?: ExitCode;
  run(given: ParsedOptions, io: Io): Promise<ExitCode>;
}

/** The arguments make no sense; the message says what to write. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** It failed for a reason that the operator can mend. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}

export const FORMATS = ['text', 'json', 'junit', 'github'] as const;
export type Format = (typeof FORMATS)[number];
export const FORMAT_OPTION: OptionSpec = {
  value: '<form>',
  oneOf: FORMATS,
  help: 'text (default), json, junit, or github: annotations of a workflow',
};
export const formatOf = (given: ParsedOptions): Format => (given.value('format') ?? 'text') as Format;

export function parse(command: Command, args: readonly string[]): ParsedOptions & { help: boolean } {
  const specs: Readonly<Record<string, OptionSpec>> = command.options ?? {};
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { value, repeated }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: repeated ?? false },
    ]),
  );
  const { positionals, values } = parsed([...args], options);
  const help = values.help === true;
  const most = command.positionals ?? 0;
  if (!help && positionals.length > most)
    throw new UsageError(`"${positionals[most]}" is one argument too many`);
  // What a variable of a script did not hold: never to be taken for what is meant where nothing is said.
  const empty = positionals.includes('')
    ? 'an argument'
    : Object.keys(specs)
        .map((name) => (values[name] === '' || [values[name]].flat().includes('') ? `--${name}` : null))
        .find((name) => name !== null);
  if (!help && empty) throw new UsageError(`${empty} is empty`);
  for (const [name, { oneOf }] of Object.entries(specs)) {
    const strange = [values[name] ?? []].flat().find((one) => oneOf && !oneOf.includes(String(one)));
    if (strange !== undefined) throw new UsageError(`--${name} takes ${oneOf?.join(', ')}, not "${strange}"`);
  }
  return {
    help,
    positionals,
    flag: (name) => values[name] === true,
    value(name) {
      const found = values[name];
      return typeof found === 'string' ? found : undefined;
    },
    values: (name) => [values[name] ?? []].flat().map(String),
  };
}

function parsed(args: string[], options: Record<string, { type: 'boolean' | 'string'; multiple: boolean }>) {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    });
    const found: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>> = values;
    return { positionals, values: found };
  } catch (error) {
    // It says which option, and goes on with advice about positional arguments.
    const [message = ''] = String(error instanceof Error ? error.message : error).split('. ');
    const word = /^Unknown option '--([^']*)'/.exec(message)?.[1];
    throw new UsageError(message + (word === undefined ? '' : didYouMean(word, Object.keys(options), '--')));
  }
}

/** `; did you mean --format?`, or nothing. */
export function didYouMean(word: string, known: readonly string[], before = ''): string {
  const near = known.length > 0 && word.length <= 100 ? closest(word, known) : '';
  return near !== '' && distance(near, word) <= Math.min(3, near.length - 1)
    ? `; did you mean ${before}${near}?`
    : '';
}

const WIDTH = 26;

/** Printed with a mistake: the usage, and where to read more. */
export const usageOf = ({ usage }: Command, name: string): string =>
  `${usage.join('\n')}\n\nheadgate ${name} --help tells more.\n`;

export function helpOf({ usage, help, options = {} }: Command): string {
  const lines = Object.entries(options).map(
    ([name, { value, help }]) =>
      `  ${`--${name}${value === undefined ? '' : ` ${value}`}`.padEnd(WIDTH)} ${help}`,
  );
  return [usage.join('\n'), help.trim(), ...(lines.length > 0 ? [lines.join('\n')] : [])]
    .join('\n\n')
    .concat('\n');
}
