import { writeSync } from 'node:fs';
import { parseCommandLine } from './cli.ts';
import { EXIT_OK, EXIT_PANIC, EXIT_USAGE } from './exit-codes.ts';
import { createLogger, type Level, LogFilterError, type Logger, parseLevel } from './log.ts';
import { versionLine } from './version.ts';

const LEVELS_BY_VERBOSITY: readonly Level[] = ['off', 'error', 'warn', 'info', 'debug', 'trace'];
const INFO_AT = LEVELS_BY_VERBOSITY.indexOf('info');

/** Runs one command line to its end and gives the exit code. */
async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const command = parseCommandLine(argv, env);
  if (!['version', 'help', 'usage-error'].includes(command.kind)) checkLogFilter(env);
  switch (command.kind) {
    case 'version':
      await print(`${versionLine()}\n`);
      return EXIT_OK;
    case 'help':
      await print(`${command.text}\n`);
      return EXIT_OK;
    case 'usage-error':
      process.stderr.write(`${command.message}\n`);
      return EXIT_USAGE;
    case 'validate': {
      const log = createLogger({ level: levelOf(env, 'warn'), format: 'text' });
      const { validate } = await import('./validate.ts');
      let report = '';
      const code = await validate(command, {
        env,
        write: (text) => {
          report += text;
        },
        onSkipped: (path, reason) =>
          log.child('headgate_engine::config::loading').error('Error opening config file.', {
            error: reason,
            path: JSON.stringify(path),
            internal_log_rate_limit: false,
          }),
        log,
      });
      await print(report);
      return code;
    }
    case 'test': {
      const log = createLogger({ level: levelOf(env, 'warn'), format: 'text' });
      const { test } = await import('./unit-tests/command.ts');
      const code = await test(command, {
        env,
        log,
        // Printed at once, so that a slow test is visible.
        write: (text) => writeSync(1, text),
        complain: (text) => writeSync(2, text),
      });
      return code;
    }
    case 'generate-schema': {
      const { generateSchema } = await import('./generate-schema.ts');
      let text = '';
      const code = generateSchema(command, {
        write: (part) => {
          text += part;
        },
        complain: (part) => process.stderr.write(part),
      });
      await print(text);
      return code;
    }
    case 'list': {
      const { listComponents } = await import('./list.ts');
      await print(listComponents(command.format));
      return EXIT_OK;
    }
    case 'tap': {
      const stop = listenForSignals();
      const { tap } = await import('./tap/client.ts');
      return await tap(command, {
        out: process.stdout,
        complain: (text) => process.stderr.write(text),
        stop,
      });
    }
    case 'run': {
      const at = Math.min(LEVELS_BY_VERBOSITY.length - 1, Math.max(0, INFO_AT + command.verbosity));
      const level = levelOf(env, LEVELS_BY_VERBOSITY[at]!);
      const log = createLogger({ level, format: command.logFormat });
      const stop = listenForSignals(log);
      log.child('headgate_engine::app').info('Log level is enabled.', { level: JSON.stringify(level) });
      const { run } = await import('./run.ts');
      return await run(command, { env, log, stop });
    }
  }
}

function levelOf(env: NodeJS.ProcessEnv, fallback: Level): Level {
  return parseLevel(env.VECTOR_LOG ?? env.ENGINE_LOG, fallback);
}

/** Reads the filter of the log before anything else, and ends as a panic does where it cannot be read. */
function checkLogFilter(env: NodeJS.ProcessEnv): void {
  try {
    levelOf(env, 'info');
  } catch (error) {
    if (!(error instanceof LogFilterError)) throw error;
    writeSync(
      2,
      `\nthread 'main' panicked:\nlogging filter targets were not formatted correctly or did not specify a valid level: ${error.message}\n`,
    );
    process.exit(EXIT_PANIC);
  }
}

/** Aborts at the first SIGTERM or SIGINT; the second one, and SIGQUIT, end the process at once. */
function listenForSignals(log?: Logger): AbortSignal {
  const stop = new AbortController();
  const note = (signal: string) => log?.child('headgate_engine::signal').info('Signal received.', { signal });
  const quit = () => {
    log?.info('Headgate engine has quit.');
    process.exit(EXIT_OK);
  };
  const onSignal = (signal: string) => {
    note(signal);
    if (stop.signal.aborted) quit();
    stop.abort();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGQUIT', (signal) => {
    note(signal);
    quit();
  });
  // Vector reloads its files. Here only a new process does, as an agent starts one.
  process.on('SIGHUP', (signal) => {
    note(signal);
    log?.warn('This engine does not reload its configuration: start a new process.');
  });
  return stop.signal;
}

function print(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

process.exit(await main(process.argv.slice(2), process.env));
