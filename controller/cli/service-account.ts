import { PERMISSIONS, type Permission } from '../../schemas/api/identity/service-accounts.ts';
import { readConfig } from '../config.ts';
import { findEnvironmentsNamed } from '../fleet/environments/index.ts';
import { serviceAccountOperations } from '../identity/access/index.ts';
import type { Context } from '../platform/operation/context.ts';
import { CannotRun, type Command, EXIT, UsageError } from './command.ts';
import { asSystem } from './system-context.ts';

const MAX_DAYS = 3_650;

export const serviceAccount: Command = {
  usage: ['headgate service-account <name> --environment <team>/<environment> --permission <permission> …'],
  help: `Makes a service account: a key for a program, which works in one environment and with the permissions that are given.
The key alone is printed, once, on standard output; it is stored as a hash. Takes the variables of headgate serve, and works
while controllers run. It is in the audit log, as the system's.`,
  options: {
    environment: { value: '<environment>', help: 'its name, <team>/<name> where several have it, or its id' },
    permission: {
      value: '<permission>',
      oneOf: PERMISSIONS,
      repeated: true,
      help: `repeated for several: ${PERMISSIONS.join(', ')}`,
    },
    description: { value: '<text>', help: 'what it is for' },
    'expires-in-days': {
      value: '<days>',
      help: `1 to ${MAX_DAYS}; without it the key holds until it is revoked`,
    },
  },
  positionals: 1,
  async run(given, io) {
    const [name] = given.positionals;
    if (!name) throw new UsageError('say how it is to be called: headgate service-account ci …');
    const environment = given.value('environment');
    if (!environment) throw new UsageError('say where it works: --environment <team>/<environment>');
    const permissions = [...new Set(given.values('permission'))] as Permission[];
    if (permissions.length === 0) throw new UsageError('say what it may do: --permission pipelines.read');
    const expiresInDays = daysOf(given.value('expires-in-days'));
    const description = given.value('description');
    const config = readConfig(io.env);
    const key = await asSystem(config, 'headgate service-account', async (ctx, execute) => {
      const { id } = await theEnvironment(ctx, environment);
      const made = await execute(serviceAccountOperations.create, ctx, {
        ...{ environmentId: id, name, permissions },
        ...(description === undefined ? {} : { description }),
        ...(expiresInDays === null ? {} : { expiresInDays }),
      });
      return made.key;
    });
    io.out(`${key}\n`);
    io.err('This is the key; it is shown nowhere else.\n');
    return EXIT.fine;
  },
};

function daysOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAX_DAYS) throw new UsageError(`--expires-in-days takes 1 to ${MAX_DAYS}`);
  return days;
}

async function theEnvironment(ctx: Context, name: string): Promise<{ id: string }> {
  const [found, ...others] = await findEnvironmentsNamed(ctx.db, name);
  if (!found) throw new CannotRun(`there is no environment "${name}"`);
  if (others.length === 0) return found;
  const names = [found, ...others].map((one) => `${one.teamName}/${one.name}`);
  throw new CannotRun(`several environments are called "${name}": say ${names.join(' or ')}`);
}
