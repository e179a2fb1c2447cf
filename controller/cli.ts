/** The `headgate` command. */
import { parseArgs } from 'node:util';
import { ConfigError, readConfig, VARIABLES } from './config.ts';
import { EmbeddedPostgresError } from './database/embedded-postgres.ts';
import { listKeys, rotateKeys } from './keys.ts';
import { startController } from './main.ts';
import { messageOf } from './platform/errors.ts';
import { KeyringError } from './platform/keyring.ts';
import { untilSignal } from './signals.ts';

const USAGE = `headgate <command>

  serve      run the controller
  keys       the keys for encryption at rest: list, rotate
  demo       run the controller with an example: two environments, an agent in each
  help       print this

headgate <command> --help tells more.
`;

const SERVE_HELP = `headgate serve

Runs the controller until SIGTERM or Ctrl-C. It is set up by environment variables:

${VARIABLES.map((variable) => `  ${variable.name.padEnd(28)} ${variable.help} [${variable.default}]`).join('\n')}
`;

const KEYS_HELP = `headgate keys list      the fingerprints of the keys, and how many texts each has sealed
headgate keys rotate    a new key: everything is sealed with it anew

Both take the variables of headgate serve, and work while controllers run. Without HEADGATE_SECRET_KEY the new key is made
and put into the file secret-key of the data directory; running controllers take it over by themselves.

With HEADGATE_SECRET_KEY, restart every controller with the new key in it and the earlier one in
HEADGATE_PREVIOUS_SECRET_KEYS, then run headgate keys rotate with both, too. A rotation that was ended goes on when it is run
again.
`;

const DEMO_HELP = `headgate demo

What make run starts: the controller on the data directory, two environments bound to the embedded repository, and an
agent in each. Takes the variables of headgate serve, and SVC_PORT_BASE [8688] and SVC_METRICS_PORT [9090], from where
the agents' ports are counted.
`;

async function serve(): Promise<void> {
  const controller = await startController(readConfig(process.env));
  if (controller.firstAdmin?.generatedPassword) {
    process.stdout.write(
      `First start. Sign in at ${controller.url} as ${controller.firstAdmin.email} with the password ${controller.firstAdmin.generatedPassword}\n` +
        'It is shown this once.\n',
    );
  }
  await untilSignal();
  await controller.stop();
}

async function keys(action: string | undefined): Promise<void> {
  const config = readConfig(process.env);
  const say = (line: string) => process.stdout.write(`${line}\n`);
  switch (action) {
    case 'list':
      return listKeys(config, { say });
    case 'rotate':
      return rotateKeys(config, { say });
    default:
      process.stderr.write(KEYS_HELP);
      process.exitCode = 2;
  }
}

async function main(): Promise<void> {
  // A terminal that is closed takes its streams along; everything is to be ended in order all the same.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  });
  const command = positionals[0] ?? 'help';
  switch (command) {
    case 'serve':
      if (values.help) process.stdout.write(SERVE_HELP);
      else await serve();
      return;
    case 'keys':
      if (values.help) process.stdout.write(KEYS_HELP);
      else await keys(positionals[1]);
      return;
    case 'demo': {
      if (values.help) {
        process.stdout.write(DEMO_HELP);
        return;
      }
      const { demo } = await import('./demo/demo.ts');
      await demo();
      return;
    }
    case 'help':
      process.stdout.write(USAGE);
      return;
    default:
      process.stderr.write(`headgate: there is no command "${command}"\n\n${USAGE}`);
      process.exitCode = 2;
  }
}

/** What a person can mend is one line; anything else is a fault of ours and shows where. */
function explain(error: unknown): string {
  const expected =
    error instanceof ConfigError || error instanceof EmbeddedPostgresError || error instanceof KeyringError;
  if (expected) return `headgate: ${error.message}\n`;
  return `headgate: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}\n`;
}

main().then(
  () => process.exit(process.exitCode ?? 0),
  (error: unknown) => {
    process.stderr.write(explain(error));
    process.exit(1);
  },
);
