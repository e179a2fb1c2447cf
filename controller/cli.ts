/** The `headgate` command. */
import { parseArgs } from 'node:util';
import { ConfigError, readConfig, VARIABLES } from './config.ts';
import { EmbeddedPostgresError } from './database/embedded-postgres.ts';
import { startController } from './main.ts';
import { messageOf } from './platform/errors.ts';
import { KeyringError } from './platform/keyring.ts';
import { untilSignal } from './signals.ts';

const USAGE = `headgate <command>

  serve      run the controller
  demo       run the controller with an example: two environments, an agent in each
  help       print this

headgate <command> --help tells more.
`;

const SERVE_HELP = `headgate serve

Runs the controller until SIGTERM or Ctrl-C. It is set up by environment variables:

${VARIABLES.map((variable) => `  ${variable.name.padEnd(28)} ${variable.help} [${variable.default}]`).join('\n')}
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

async function main(): Promise<void> {
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
    case 'demo': {
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
