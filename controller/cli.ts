/** The `headgate` command: finds the command that is meant, and turns how it ended into an exit code. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import packageFile from '../package.json' with { type: 'json' };
import {
  CannotRun,
  type Command,
  didYouMean,
  EXIT,
  type ExitCode,
  helpOf,
  type Io,
  parse,
  UsageError,
  usageOf,
} from './cli/command.ts';
import { ConfigError } from './config.ts';

interface Entry {
  name: string;
  summary: string;
  /** What only one command needs is loaded for that one. */
  load(): Promise<Command>;
}

const COMMANDS: readonly Entry[] = [
  {
    name: 'serve',
    summary: 'run the controller',
    load: async () => (await import('./cli/serve.ts')).serve,
  },
  {
    name: 'validate',
    summary: 'check manifests, without a server',
    load: async () => (await import('./cli/validate.ts')).validate,
  },
  {
    name: 'test',
    summary: 'run the transform tests of manifests, without a server',
    load: async () => (await import('./cli/test.ts')).test,
  },
  {
    name: 'plan',
    summary: 'ask a server what manifests would change',
    load: async () => (await import('./cli/plan.ts')).plan,
  },
  {
    name: 'export',
    summary: 'write what an environment holds as manifests',
    load: async () => (await import('./cli/export.ts')).exportManifests,
  },
  {
    name: 'migrate',
    summary: 'bring the database up to date, and end',
    load: async () => (await import('./cli/migrate.ts')).migrate,
  },
  {
    name: 'keys',
    summary: 'the keys for encryption at rest: list, rotate',
    load: async () => (await import('./cli/keys.ts')).keys,
  },
  {
    name: 'audit',
    summary: 'verify that the audit log is as it was written',
    load: async () => (await import('./cli/audit.ts')).audit,
  },
  {
    name: 'service-account',
    summary: 'make a key for a program, and print it once',
    load: async () => (await import('./cli/service-account.ts')).serviceAccount,
  },
  {
    name: 'recover',
    summary: 'let somebody in again when nobody is left who could help them',
    load: async () => (await import('./cli/recover.ts')).recover,
  },
  {
    name: 'demo',
    summary: 'run the controller with an example: two environments, three agents',
    load: async () => (await import('./cli/demo.ts')).demo,
  },
];

const USAGE = `headgate <command>

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(15)} ${summary}`).join('\n')}
  help            print this, or what a command does
  version         print the version

headgate <command> --help tells more.
`;

const io: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
};

async function main(): Promise<ExitCode> {
  // A terminal that is closed takes its streams along; everything is to be ended in order all the same.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const [first, ...rest] = process.argv.slice(2);
  const asksForHelp = first === 'help' || first === '--help' || first === '-h';
  if (asksForHelp && rest.length === 0) {
    io.out(USAGE);
    return EXIT.fine;
  }
  if (first === 'version' || first === '--version') {
    io.out(`headgate ${packageFile.version}\n`);
    return EXIT.fine;
  }
  if (first === undefined) {
    // Not fine: a script whose variable is empty has done nothing.
    io.err(USAGE);
    return EXIT.couldNotRun;
  }
  const [name = '', ...args] = asksForHelp ? [...rest, '--help'] : [first, ...rest];
  const names = COMMANDS.map((one) => one.name);
  const entry = COMMANDS.find((one) => one.name === name);
  if (!entry) {
    io.err(`headgate: there is no command "${name}"${didYouMean(name, names)}\n\n${USAGE}`);
    return EXIT.couldNotRun;
  }
  const command = await entry.load();
  try {
    const given = parse(command, args);
    if (given.help) {
      io.out(helpOf(command));
      return EXIT.fine;
    }
    return await command.run(given, io);
  } catch (error) {
    if (error instanceof UsageError)
      io.err(`headgate ${name}: ${error.message}\n\n${usageOf(command, name)}`);
    else if (error instanceof CannotRun) io.err(`headgate ${name}: ${error.message}\n`);
    else {
      io.err(explain(error));
      return command.failure ?? EXIT.couldNotRun;
    }
    return EXIT.couldNotRun;
  }
}

/** By name: to load the classes would load all that throws them. */
const FOR_PEOPLE = new Set([
  'DatabaseError',
  'EmbeddedPostgresError',
  'FolderError',
  'KeyringError',
  'SchemaError',
]);

/** What a person can mend is one line; anything else is a fault of ours and shows where. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return `headgate: ${String(error)}\n`;
  const expected = error instanceof ConfigError || FOR_PEOPLE.has(error.name);
  return `headgate: ${expected ? error.message : (error.stack ?? error.message)}\n`;
}

/** What was written to a pipe is not there yet when a process exits. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) resolve();
    else stream.write('', () => resolve());
  });
}

// What a command loads is stripped of its types and compiled once for each installation: half a second less the next time.
// Beside the code, where nobody writes who could not write the code; where that cannot be written, nothing is kept.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/headgate'));

main().then(
  async (code) => {
    await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
    process.exit(code);
  },
  (error: unknown) => {
    process.stderr.write(explain(error));
    process.exit(EXIT.couldNotRun);
  },
);
