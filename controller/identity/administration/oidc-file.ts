/**
 * Sign-in as a file says it (HEADGATE_OIDC_FILE): read at the start and every quarter of a minute by the controller that leads,
 * and taken over where it has changed. What stands in it is not changed by anything else.
 */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ProviderOptionsChange } from '../../../schemas/api/identity-providers.ts';
import { OidcFile } from '../../../schemas/oidc-file.ts';
import { sentences, validator } from '../../../schemas/validate.ts';
import { writeAudit } from '../../platform/operation/audit-writer.ts';
import type { Context } from '../../platform/operation/context.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import { type Execute, ownScope } from '../../platform/operation/operation.ts';
import { composeDocuments, syntaxFinding } from '../../platform/yaml/documents.ts';
import { plainValue } from '../../platform/yaml/plain-value.ts';
import {
  deleteOidcFileState,
  findUserByEmail,
  readOidcFileState,
  writeOidcFileState,
} from '../access/index.ts';
import { directoryOperations } from '../directory/index.ts';
import {
  checkIssuer,
  listOidcProviders,
  type ProviderInput,
  releaseFromFile,
  removeProvider,
  saveProvider,
} from '../oidc/index.ts';
import { findTeamsByName } from '../teams/index.ts';
import { updateAccess } from './settings-operations.ts';

const FILE_BYTES = 1024 * 1024;
const SECRET_BYTES = 64 * 1024;

/** The message names the place, and holds no secret. */
export class OidcFileError extends Error {
  override readonly name = 'OidcFileError';
}

interface Read {
  file: OidcFile;
  providers: ProviderInput[];
  digest: string;
}

/** Of the file, and of the variables that it names. */
export interface Source {
  path: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** @throws OidcFileError */
export async function readOidcFile({ path, env }: Source): Promise<Read> {
  const text = await readText(path, FILE_BYTES);
  const file = parse(text);
  const digest = [text];
  const providers: ProviderInput[] = [];
  const ids = new Set<string>();
  for (const [index, one] of file.providers.entries()) {
    if (ids.has(one.id)) throw new OidcFileError(`providers.${index}.id: "${one.id}" is there already`);
    ids.add(one.id);
    const beside = (name: string) => resolve(dirname(path), name);
    const secret = await secretOf(one, `providers.${index}`, { beside, env });
    const caCertificate =
      one.caCertificateFile === undefined
        ? null
        : await readText(beside(one.caCertificateFile), SECRET_BYTES);
    digest.push(secret, caCertificate ?? '');
    const options: ProviderOptionsChange = {
      ...one.options,
      ...(caCertificate === null ? {} : { caCertificate }),
    };
    providers.push({
      ...{ id: one.id, issuer: one.issuer, clientId: one.clientId, displayName: one.displayName ?? null },
      tokenEndpointAuthMethod: one.tokenEndpointAuthMethod ?? 'client_secret_basic',
      ...{ secret, options },
    });
  }
  return { file, providers, digest: hash('sha256', JSON.stringify(digest)) };
}

async function secretOf(
  one: OidcFile['providers'][number],
  place: string,
  { beside, env }: { beside: (name: string) => string; env: Source['env'] },
): Promise<string> {
  const { clientSecretFile, clientSecretEnv } = one;
  if (clientSecretFile !== undefined && clientSecretEnv !== undefined)
    throw new OidcFileError(`${place}: give clientSecretFile or clientSecretEnv, and not both`);
  if (clientSecretFile !== undefined) return (await readText(beside(clientSecretFile), SECRET_BYTES)).trim();
  if (clientSecretEnv === undefined) {
    if (one.tokenEndpointAuthMethod === 'none') return '';
    throw new OidcFileError(
      `${place}: say where the secret of the client is, by clientSecretFile or clientSecretEnv`,
    );
  }
  const secret = env[clientSecretEnv]?.trim();
  if (!secret)
    throw new OidcFileError(
      `${place}.clientSecretEnv: the environment of the controller has no ${clientSecretEnv}`,
    );
  return secret;
}

async function readText(path: string, most: number): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new OidcFileError(
      `${path} cannot be read (${String((error as { code?: unknown }).code ?? 'unknown')})`,
    );
  });
  if (bytes.length > most) throw new OidcFileError(`${path} has more than ${most} bytes`);
  return bytes.toString('utf8');
}

function parse(text: string): OidcFile {
  const { documents, finding } = composeDocuments(text);
  const [document, ...more] = documents;
  const [error] = document?.errors ?? [];
  const fault = finding ?? (document && error ? syntaxFinding(text, error) : null);
  if (fault)
    throw new OidcFileError(`line ${fault.line}, column ${fault.column}: ${fault.message}. ${fault.hint}`);
  if (!document || more.length > 0) throw new OidcFileError('it has to hold one YAML document');
  const { value, findings } = plainValue(text, document);
  const [odd] = findings;
  if (odd) throw new OidcFileError(`line ${odd.line}, column ${odd.column}: ${odd.message}. ${odd.hint}`);
  const check = validator(OidcFile);
  if (!check.fits(value)) throw new OidcFileError(sentences(check.issues(value)));
  return value;
}

/**
 * Without a file, what one has set is everybody's to change again. Answers whether something was taken over. `atStart`: what is
 * wrong with it is logged although it was before.
 */
export async function followOidcFile(
  ctx: Context,
  execute: Execute,
  source: Source | null,
  { atStart = false } = {},
): Promise<boolean> {
  const state = await readOidcFileState(ctx.db);
  if (source === null) {
    if (state) await letGo(ctx);
    return state !== null;
  }
  let sets = state?.sets ?? [];
  try {
    const read = await readOidcFile(source);
    if (state?.digest === read.digest && state.error === null) return false;
    sets = ['providers', ...(['groups', 'access'] as const).filter((name) => read.file[name] !== undefined)];
    await takeOver(ctx, execute, read);
    await writeOidcFileState(ctx.db, { digest: read.digest, sets, error: null });
    await pagesChanged(ctx);
    return true;
  } catch (error) {
    const told = messageOf(error).slice(0, 1_000);
    if (atStart || state?.error !== told)
      ctx.log.warn(
        { path: source.path, reason: told },
        'HEADGATE_OIDC_FILE was not taken over; what was set before counts on',
      );
    if (state?.error !== told) {
      await writeOidcFileState(ctx.db, { digest: state?.digest ?? '', sets: state?.sets ?? [], error: told });
      await pagesChanged(ctx);
    }
    return false;
  }
}

async function takeOver(ctx: Context, execute: Execute, { file, providers }: Read): Promise<void> {
  for (const { issuer } of providers) await checkIssuer(ctx, issuer);
  // What it names is looked for before anything is changed.
  const groups = file.groups && (await groupsInput(ctx, file.groups));
  const access = file.access && (await accessInput(ctx, file.access));
  await inTransaction(ctx, async (inside) => {
    for (const [position, one] of providers.entries()) {
      const entry = await saveProvider(inside, one, { isFromFile: true, position });
      await writeAudit(inside, ownScope, [entry], 'settings.oidcUpdated');
    }
    const kept = new Set(providers.map(({ id }) => id));
    for (const { id, isFromFile } of await listOidcProviders(inside.db)) {
      if (!isFromFile || kept.has(id)) continue;
      const entry = await removeProvider(inside, id, { isFromFile: true });
      await writeAudit(inside, ownScope, [entry], 'settings.oidcDisabled');
    }
    if (groups) await execute(directoryOperations.updateOidcTeamMappings, inside, groups);
    if (access) await execute(updateAccess, inside, access);
  });
}

async function accessInput(ctx: Context, { breakGlass, ...policy }: NonNullable<OidcFile['access']>) {
  return { ...policy, ...(breakGlass && { breakGlassUserIds: await idsOf(ctx, breakGlass) }) };
}

async function groupsInput(ctx: Context, groups: NonNullable<OidcFile['groups']>) {
  const { mappings = [], patterns = [], defaultTeam, defaultRole = 'VIEWER' } = groups;
  const names = [...mappings.map(({ team }) => team), ...(defaultTeam === undefined ? [] : [defaultTeam])];
  const teams = await findTeamsByName(ctx.db, names);
  const idOf = (name: string): string => {
    const id = teams.get(name.toLowerCase());
    if (id === undefined) throw new OidcFileError(`groups: there is no team "${name}"; make it first`);
    return id;
  };
  return {
    mappings: mappings.map(({ group, team, role }) => ({ group, teamId: idOf(team), role })),
    ...{ patterns, defaultRole, groupSyncEnabled: groups.sync },
    ...{ groupsClaim: groups.claim ?? '', groupsScope: groups.scope ?? '' },
    ...(defaultTeam === undefined ? {} : { defaultTeamId: idOf(defaultTeam) }),
  };
}

async function idsOf(ctx: Context, emails: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const email of emails) {
    const user = await findUserByEmail(ctx.db, email);
    if (!user) throw new OidcFileError(`access.breakGlass: nobody has the address ${email}`);
    ids.push(user.id);
  }
  return ids;
}

async function letGo(ctx: Context): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    await releaseFromFile(inside.db);
    await deleteOidcFileState(inside.db);
  });
  await pagesChanged(ctx);
}

const inTransaction = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> =>
  ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    return work({ ...ctx, db: tx });
  });

const pagesChanged = (ctx: Context): Promise<void> =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
