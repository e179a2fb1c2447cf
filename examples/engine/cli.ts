import type { LogFormat } from './log.ts';
import { type TapCommand, tapCommand } from './tap/command.ts';
import { missingValue, notBoolean, SEE_HELP, type UsageError, unexpected } from './usage.ts';

export type ConfigFormat = 'yaml' | 'json';
export interface ConfigPath {
  path: string;
  /** Set by `--config-yaml` and `--config-json`; otherwise the file's extension decides. */
  format?: ConfigFormat;
}

interface Common {
  configs: ConfigPath[];
  interpolate: boolean;
}
export type Command =
  | ({
      kind: 'run';
      verbosity: number;
      logFormat: LogFormat;
      shutdownLimitSecs: number;
      requireHealthy: boolean;
    } & Common)
  | ({ kind: 'validate'; noEnvironment: boolean; skipHealthchecks: boolean; denyWarnings: boolean } & Common)
  | ({ kind: 'test'; junitReport: string | undefined } & Common)
  | { kind: 'generate-schema'; output: string | undefined }
  | { kind: 'list'; format: 'text' | 'json' }
  | { kind: 'version' }
  | { kind: 'help'; text: string }
  | TapCommand
  | UsageError;

const HELP = `Usage: headgate-engine [OPTIONS] [COMMAND]

Commands:
  validate         Validate the configuration files given as paths, then exit
  test             Run the unit tests of the configuration files given as paths, then exit
  list             List the components that this engine has
  generate-schema  Print the JSON Schema of configuration files, then exit
  tap              Show events of a running engine on their way

Options:
  -c, --config <CONFIG>         Read configuration from a file; may repeat, files are merged
      --config-yaml <CONFIG>    The same, read as YAML whatever the file's name
      --config-json <CONFIG>    The same, read as JSON whatever the file's name
      --dangerously-allow-env-var-interpolation
                                Expand \${VAR} in configuration files
      --graceful-shutdown-limit-secs <SECS>  Time to drain after SIGTERM or SIGINT [default: 60]
  -r, --require-healthy <true|false>  Whether an unhealthy sink keeps the engine from starting
      --log-format <FORMAT>     text (to stderr) or json (to stdout) [default: text]
  -v, --verbose                 More log lines; may repeat
  -q, --quiet                   Fewer log lines; may repeat
  -V, --version                 Print version
  -h, --help                    Print help`;

const VALIDATE_HELP = `Usage: headgate-engine validate [OPTIONS] [PATHS]...

Options:
      --no-environment          Check the files alone: no data directory, no health checks
      --skip-healthchecks       Check components but not health
  -d, --deny-warnings           Fail on warnings
      --config-yaml <CONFIG>    Read a file as YAML whatever its name
      --config-json <CONFIG>    Read a file as JSON whatever its name
      --dangerously-allow-env-var-interpolation
                                Expand \${VAR} in configuration files
  -h, --help                    Print help`;

const TEST_HELP = `Usage: headgate-engine test [OPTIONS] [PATHS]...

Options:
      --junit-report <FILE>     Write the results to a file for build servers
      --config-yaml <CONFIG>    Read a file as YAML whatever its name
      --config-json <CONFIG>    Read a file as JSON whatever its name
      --dangerously-allow-env-var-interpolation
                                Expand \${VAR} in configuration files
  -h, --help                    Print help`;
const HELPS = { run: HELP, validate: VALIDATE_HELP, test: TEST_HELP };

const SCHEMA_USAGE = 'headgate-engine generate-schema [OPTIONS]';
const SCHEMA_HELP = `Usage: ${SCHEMA_USAGE}

Options:
  -o, --output-path <OUTPUT_PATH>  Write to a file, which must not exist yet
  -h, --help                       Print help`;

const LIST_USAGE = 'headgate-engine list [OPTIONS]';
const LIST_HELP = `Usage: ${LIST_USAGE}

Options:
      --format <FORMAT>  text or json [default: text]
  -h, --help             Print help`;

/** Variables that must be `true` or `false`, by the flag that says the same. */
const SWITCHES: Record<string, string> = {
  VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: '--dangerously-allow-env-var-interpolation',
  VECTOR_REQUIRE_HEALTHY: '--require-healthy <REQUIRE_HEALTHY>',
  VECTOR_WATCH_CONFIG: '--watch-config',
};

const DEFAULT_SHUTDOWN_LIMIT_SECS = 60;

/** Turns arguments and environment into a command. Never throws: a bad line becomes `usage-error` (exit 2). */
export function parseCommandLine(argv: readonly string[], env: Record<string, string | undefined>): Command {
  for (const [name, switchFlag] of Object.entries(SWITCHES)) {
    const value = env[name];
    if (value !== undefined && value !== 'true' && value !== 'false') return notBoolean(value, switchFlag);
  }
  const limit = Number(env.VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS ?? DEFAULT_SHUTDOWN_LIMIT_SECS);
  const state = {
    configs: [] as ConfigPath[],
    interpolate: env.VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION === 'true',
    verbosity: 0,
    logFormat: (env.VECTOR_LOG_FORMAT === 'json' ? 'json' : 'text') as LogFormat,
    shutdownLimitSecs: Number.isFinite(limit) && limit >= 0 ? limit : DEFAULT_SHUTDOWN_LIMIT_SECS,
    requireHealthy: env.VECTOR_REQUIRE_HEALTHY === 'true',
    noEnvironment: false,
    skipHealthchecks: false,
    denyWarnings: false,
    junitReport: undefined as string | undefined,
  };
  let kind: 'run' | 'validate' | 'test' = 'run';
  const words = argv.flatMap(splitEquals);
  if (words[0] === 'generate-schema') return schemaCommand(words.slice(1));
  if (words[0] === 'list') return listCommand(words.slice(1));
  if (words[0] === 'tap') return tapCommand(words.slice(1));

  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const value = () => {
      at += 1;
      return words[at];
    };
    switch (word) {
      case '-V':
      case '--version':
        return { kind: 'version' };
      case '-h':
      case '--help':
        return { kind: 'help', text: HELPS[kind] };
      case '--dangerously-allow-env-var-interpolation':
        state.interpolate = true;
        continue;
      case '--config-yaml':
      case '--config-json': {
        const path = value();
        if (path === undefined) return missingValue(word);
        state.configs.push({ path, format: word === '--config-yaml' ? 'yaml' : 'json' });
        continue;
      }
    }
    if (kind === 'test') {
      if (word === '--junit-report') {
        state.junitReport = value();
        if (state.junitReport === undefined) return missingValue(word);
      } else if (word.startsWith('-')) return unexpected(word, 'headgate-engine test [OPTIONS] [PATHS]...');
      else state.configs.push({ path: word });
      continue;
    }
    if (kind === 'validate') {
      if (word === '--no-environment') state.noEnvironment = true;
      else if (word === '--skip-healthchecks') state.skipHealthchecks = true;
      else if (word === '-d' || word === '--deny-warnings') state.denyWarnings = true;
      else if (word.startsWith('-')) return unexpected(word, 'headgate-engine validate [OPTIONS] [PATHS]...');
      else state.configs.push({ path: word });
      continue;
    }
    if (word === '-c' || word === '--config') {
      const path = value();
      if (path === undefined) return missingValue('--config');
      state.configs.push({ path });
    } else if (word === '--log-format') {
      const format = value();
      if (format !== 'text' && format !== 'json') return missingValue('--log-format');
      state.logFormat = format;
    } else if (word === '--graceful-shutdown-limit-secs') {
      const seconds = Number(value() ?? Number.NaN);
      if (!Number.isFinite(seconds) || seconds < 0) return missingValue(word);
      state.shutdownLimitSecs = seconds;
    } else if (word === '-r' || word === '--require-healthy') {
      const text = value();
      if (text === undefined || text.startsWith('-')) {
        return {
          kind: 'usage-error',
          message: `error: a value is required for '--require-healthy <REQUIRE_HEALTHY>' but none was supplied\n  [possible values: true, false]\n\n${SEE_HELP}`,
        };
      }
      if (text !== 'true' && text !== 'false') return notBoolean(text, SWITCHES.VECTOR_REQUIRE_HEALTHY!);
      state.requireHealthy = text === 'true';
    } else if (word === '-v' || word === '--verbose') state.verbosity += 1;
    else if (word === '-q' || word === '--quiet') state.verbosity -= 1;
    else if (word === 'validate' || word === 'test') kind = word;
    else if (word.startsWith('-')) return unexpected(word, 'headgate-engine [OPTIONS] [COMMAND]');
    else return { kind: 'usage-error', message: `error: unrecognized subcommand '${word}'\n\n${SEE_HELP}` };
  }

  if (state.configs.length === 0 && env.VECTOR_CONFIG) {
    state.configs = env.VECTOR_CONFIG.split(',').map((path) => ({ path }));
  }
  return { kind, ...state };
}

function schemaCommand(words: readonly string[]): Command {
  let output: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === '-h' || word === '--help') return { kind: 'help', text: SCHEMA_HELP };
    if (word !== '-o' && word !== '--output-path') return unexpected(word, SCHEMA_USAGE);
    at += 1;
    output = words[at];
    if (output === undefined) return missingValue('--output-path');
  }
  return { kind: 'generate-schema', output };
}

function listCommand(words: readonly string[]): Command {
  let format: 'text' | 'json' = 'text';
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === '-h' || word === '--help') return { kind: 'help', text: LIST_HELP };
    if (word !== '--format') return unexpected(word, LIST_USAGE);
    at += 1;
    const value = words[at];
    if (value !== 'text' && value !== 'json') return missingValue('--format');
    format = value;
  }
  return { kind: 'list', format };
}

function splitEquals(word: string): string[] {
  const at = word.indexOf('=');
  return word.startsWith('--') && at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word];
}
