import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { GitSyncStatus } from '../../schemas/api/delivery/git-sync.ts';
import type { ExportedManifests } from '../../schemas/api/delivery/git-words.ts';
import { CannotRun, type Command, EXIT, UsageError } from './command.ts';
import { KEY_HELP, printable, rejectOtherOptions, SERVER_OPTIONS, serverOf } from './server-options.ts';

type ExportedFile = ExportedManifests['files'][number];

export const exportManifests: Command = {
  usage: ['headgate export --env <name> --url <address> --out <folder> [--force]'],
  help: `Writes what an environment holds in the database as manifests, ready to be committed: with the ids of the objects, so that git
takes over the very objects, and with placeholders in the place of secrets.

A file that is there already and says something else is not written over, and then nothing is written at all.

${KEY_HELP}

Exit 0: all is written. 1: something was left out, or would have been written over. 2: it could not be asked for or written.`,
  options: {
    out: { value: '<folder>', help: 'where the files go; made where it is not there' },
    force: { help: 'write over files that differ' },
    ...SERVER_OPTIONS,
  },
  async run(given, io) {
    const out = given.value('out');
    if (out === undefined) throw new UsageError('say where the files go: --out <folder>');
    const server = serverOf(given, io);
    const { status } = await server.get<{ status: GitSyncStatus }>('/git/status');
    const { environmentName } = status;
    rejectOtherOptions(given, environmentName);
    const { files, skipped } = await server.get<ExportedManifests>('/git/export');
    const root = await folderAt(out);
    const different: string[] = [];
    const due: ExportedFile[] = [];
    for (const file of files) {
      const state = await stateOf(root, file);
      if (state === 'different') different.push(file.path);
      if (state !== 'same') due.push(file);
    }
    if (different.length > 0 && !given.flag('force')) {
      io.err(
        `headgate export: nothing is written, for these files differ from what would be written:\n${different.map((path) => `  ${printable(path)}\n`).join('')}Look at them, then use --force.\n`,
      );
      return EXIT.findings;
    }
    for (const file of due) await writeWhole(root, file);
    for (const { kind, name, reason } of skipped)
      io.err(`headgate export: ${kind} ${printable(name)} is left out: ${printable(reason)}\n`);
    io.out(
      `${files.length} manifest${files.length === 1 ? '' : 's'} of ${environmentName} in ${out}: ${due.length} written, ${files.length - due.length} as they were\n`,
    );
    return skipped.length > 0 ? EXIT.findings : EXIT.fine;
  },
};

async function folderAt(out: string): Promise<string> {
  try {
    await mkdir(out, { recursive: true });
    return await realpath(out);
  } catch (error) {
    throw cannotWrite(out, error);
  }
}

const cannotWrite = (path: string, error: unknown): CannotRun =>
  new CannotRun(`${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`);

/**
 * The place of a file that the server names.
 * @throws CannotRun where that is not below the folder: by its name, or through a link that somebody put there.
 */
async function placeOf(root: string, path: string): Promise<string> {
  const segments = path.split('/');
  const strange = segments.some(
    (one) => one === '' || one === '.' || one === '..' || one.toLowerCase() === '.git',
  );
  if (strange || /[\x00-\x1f\\]/.test(path))
    throw new CannotRun(`the server names the file "${printable(path)}"; that is not written`);
  const place = resolve(root, path);
  let known = dirname(place);
  while (!(await lstat(known).catch(() => null))) known = dirname(known);
  const real = await realpath(known);
  if (real !== root && !real.startsWith(root + sep))
    throw new CannotRun(`${known} leads out of ${root}; take the link away`);
  return place;
}

async function stateOf(root: string, { path, text }: ExportedFile): Promise<'absent' | 'same' | 'different'> {
  const place = await placeOf(root, path);
  const found = await lstat(place).catch(() => null);
  if (found === null) return 'absent';
  if (!found.isFile()) throw new CannotRun(`${place} is there and is no file`);
  return (await readFile(place, 'utf8').catch(() => null)) === text ? 'same' : 'different';
}

/** Whole or not at all. */
async function writeWhole(root: string, { path, text }: ExportedFile): Promise<void> {
  const place = await placeOf(root, path);
  const aside = join(dirname(place), `.headgate-${randomUUID()}`);
  try {
    await mkdir(dirname(place), { recursive: true });
    await writeFile(aside, text, { flag: 'wx' });
    await rename(aside, place);
  } catch (error) {
    await rm(aside, { force: true });
    throw cannotWrite(place, error);
  }
}
