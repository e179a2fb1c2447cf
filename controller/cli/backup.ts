import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BackupEntry, BackupRun } from '../../schemas/api/backups.ts';
import {
  BACKUP_COMMAND,
  backupOperations,
  createBackups,
  findRun,
  type RunProgress,
  recordCommandRun,
} from '../backups/index.ts';
import { openExistingKeyring } from '../compose/keys.ts';
import { type Config, readConfig } from '../config.ts';
import { createOutgoing, createTargetGuard } from '../platform/net/outgoing/index.ts';
import type { Context } from '../platform/operation/context.ts';
import type { Execute } from '../platform/operation/operation.ts';
import { createLogger } from '../platform/runtime/logger.ts';
import {
  CannotRun,
  type Command,
  EXIT,
  type ExitCode,
  type Io,
  type ParsedOptions,
  UsageError,
} from './command.ts';
import { asSystem } from './system-context.ts';

const ACTIONS = ['create', 'list', 'verify', 'restore'] as const;
type Action = (typeof ACTIONS)[number];

export const backup: Command = {
  usage: [
    'headgate backup create [--output <file>]',
    'headgate backup list',
    'headgate backup verify <name or file>',
    'headgate backup restore <name or file> --yes',
  ],
  help: `Backups of the database and the embedded repository, in the storage that Settings → Backups names. They take the variables of
headgate serve, the secret key too, and work while controllers run and while none does.

restore replaces everything by the backup: what came since is gone, and every user signs in again. Running controllers start
again by themselves. A backup that is damaged, newer than this version, or encrypted with a key that is not here is refused
with nothing changed.

Exit 0: it is done. 1: the backup is damaged or cannot be restored here. 2: it could not be done, or not all of it: the message
says what is left.`,
  options: {
    output: { value: '<file>', help: 'of create: a file of this machine in the place of the storage' },
    yes: { help: 'of restore: replace everything' },
    format: { value: '<form>', oneOf: ['text', 'json'], help: 'text (default) or json' },
  },
  positionals: 2,
  async run(given, io) {
    const [action, target] = given.positionals;
    if (!isAction(action)) throw new UsageError(`say what to do: ${ACTIONS.join(', ')}`);
    const takesTarget = action === 'verify' || action === 'restore';
    if (takesTarget && target === undefined)
      throw new UsageError(`say which backup: headgate backup ${action} <name or file>`);
    if (!takesTarget && target !== undefined) throw new UsageError(`"${target}" is one argument too many`);
    if (action !== 'create' && given.value('output') !== undefined)
      throw new UsageError('--output is an option of create');
    if (action === 'restore' && !given.flag('yes'))
      throw new UsageError(
        `this would replace everything in the database and the repository by ${target}; add --yes to do so`,
      );
    return withBackups(readConfig(io.env), (ctx, execute) => {
      if (action === 'list') return list(ctx, execute, given, io);
      return runAction(ctx, execute, { action, target, given, io });
    });
  },
};

const isAction = (text: string | undefined): text is Action => ACTIONS.some((one) => one === text);
const isJson = (given: ParsedOptions): boolean => given.value('format') === 'json';

/** The services that backups need, beside those of every command. */
function withBackups(
  config: Config,
  work: (ctx: Context, execute: Execute) => Promise<ExitCode>,
): Promise<ExitCode> {
  const keyring = openExistingKeyring(config);
  return asSystem(config, BACKUP_COMMAND, async (ctx, execute, databaseUrl) => {
    const { log, clock, services } = ctx;
    const guard = createTargetGuard(config.privateTargets, createLogger('silent'));
    const proxies = config.outgoingProxies;
    const outgoing = createOutgoing({ guard, proxies, log });
    const backups = createBackups({
      ...{ databaseUrl, dataDir: config.dataDir, keyring, guard, outgoing, proxies, clock },
      ...{ bus: services.bus, log: createLogger('silent') },
    });
    const stop = () => void backups.stop();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    try {
      return await work({ ...ctx, services: { ...services, keyring, outgoing, backups } }, execute);
    } finally {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      await backups.stop();
      await outgoing.close();
    }
  });
}

async function list(ctx: Context, execute: Execute, given: ParsedOptions, io: Io): Promise<ExitCode> {
  const entries: BackupEntry[] = await execute(backupOperations.list, ctx, {});
  if (isJson(given)) io.out(`${JSON.stringify(entries)}\n`);
  else if (entries.length === 0) io.err('There is no backup yet: headgate backup create\n');
  else
    for (const { filename, size, rows, createdBy } of entries)
      io.out(`${filename}  ${sizeText(size)}  ${rows === null ? '' : `${rows} rows  `}${createdBy ?? ''}\n`);
  return EXIT.fine;
}

interface ActionRun {
  action: Exclude<Action, 'list'>;
  target: string | undefined;
  given: ParsedOptions;
  io: Io;
}

async function runAction(
  ctx: Context,
  execute: Execute,
  { action, target, given, io }: ActionRun,
): Promise<ExitCode> {
  const output = given.value('output');
  const file = action === 'create' ? output && resolve(io.cwd, output) : fileOf(target ?? '', io);
  if (action === 'create' && file && existsSync(file))
    throw new CannotRun(`${file} is there already; give another name`);
  const run = await execute(recordCommandRun, ctx, {
    ...{ kind: action, filename: file ?? target ?? null },
    isFile: file !== undefined,
  });
  const print = progressTo(io);
  await ctx.services.backups.run(run.id, { file, onProgress: print.show });
  const ended = await findRun(ctx.db, run.id);
  if (isJson(given)) io.out(`${JSON.stringify(ended)}\n`);
  if (ended?.status !== 'COMPLETED') {
    io.err(`headgate backup: ${ended?.error ?? 'it broke off'}\n`);
    return EXIT.findings;
  }
  if (ended.error !== null) {
    io.err(`headgate backup: ${ended.error}\n`);
    return EXIT.couldNotRun;
  }
  if (!isJson(given)) io.out(`${sentenceOf(action, file ?? ended.filename, ended)}\n`);
  return EXIT.fine;
}

/** What holds a slash or exists is a file; anything else is a name in the storage. */
function fileOf(target: string, io: Io): string | undefined {
  const path = resolve(io.cwd, target);
  if (existsSync(path)) return path;
  if (target.includes('/')) throw new CannotRun(`${join(path)} is not there`);
  return undefined;
}

function sentenceOf(
  action: ActionRun['action'],
  name: string,
  { rows, tablesTotal, size }: BackupRun,
): string {
  switch (action) {
    case 'create':
      return `${name}: ${rows} rows of ${tablesTotal} tables, ${sizeText(size ?? 0)}`;
    case 'verify':
      return `${name} is whole and can be restored here.`;
    case 'restore':
      return `${name} is restored. Every user signs in again.`;
  }
}

const EVERY_MS = 500;

/** A line each half second at most. */
function progressTo(io: Io) {
  let at = 0;
  return {
    show({ phase, tablesDone, tablesTotal, rows, bytes }: Readonly<RunProgress>): void {
      const now = performance.now();
      if (now - at < EVERY_MS) return;
      at = now;
      const tables = tablesTotal > 0 ? `, ${tablesDone} of ${tablesTotal} tables, ${rows} rows` : '';
      io.err(`${phase}${tables}, ${sizeText(bytes)}\n`);
    },
  };
}

function sizeText(bytes: number): string {
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
