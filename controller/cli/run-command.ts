/** Finds the command that arguments mean, runs it, and turns how it ended into an exit code. */
import packageFile from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config.ts';
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
} from './command.ts';

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
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'validate',
    summary: 'check manifests, without a server',
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    name: 'test',
    summary: 'run the transform tests of manifests, without a server',
    load: async () => (await import('./test.ts')).test,
  },
  {
    name: 'plan',
    summary: 'ask a server what manifests would change',
    load: async () => (await import('./plan.ts')).plan,
  },
  {
    name: 'export',
    summary: 'write what an environment holds as manifests',
    load: async () => (await import('./export.ts')).exportManifests,
  },
  {
    name: 'migrate',
    summary: 'bring the database up to date, and end',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  {
    name: 'keys',
    summary: 'the keys for encryption at rest: list, rotate',
    load: async () => (await import('./keys.ts')).keys,
  },
  {
    name: 'audit',
    summary: 'verify that the audit log is as it was written',
    load: async () => (await import('./audit.ts')).audit,
  },
  {
    name: 'backup',
    summary: 'make, list, verify and restore backups',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    name: 'service-account',
    summary: 'make a key for a program, and print it once',
    load: async () => (await import('./service-account.ts')).serviceAccount,
  },
  {
    name: 'recover',
    summary: 'let somebody in again when nobody is left who could help them',
    load: async () => (await import('./recover.ts')).recover,
  },
  {
    name: 'demo',
    summary: 'run the controller with an example: two environments, three agents',
    load: async () => (await import('./demo.ts')).demo,
  },
];

const USAGE = `headgate <command>

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(15)} ${summary}`).join('\n')}
  help            print this, or what a command does
  version         print the version

headgate <command> --help tells more.
`;

/** Runs what the arguments ask for. Faults are written to `io.err`, and become the exit code. */
export async function runCommand([first, ...rest]: readonly string[], io: Io): Promise<ExitCode> {
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
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return `headgate: ${String(error)}\n`;
  const expected = error instanceof ConfigError || FOR_PEOPLE.has(error.name);
  return `headgate: ${expected ? error.message : (error.stack ?? error.message)}\n`;
}
