/**
 * Applies the sign-in settings of a file (HEADGATE_OIDC_FILE). The leader reads it at the start and every 15 seconds, and applies
 * it when it has changed. Settings that the file contains cannot be changed elsewhere.
 */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ProviderOptionsChange } from '../../../schemas/api/identity/identity-providers.ts';
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

/** The message names the path in the file and contains no secret. */
export class OidcFileError extends Error {
  override readonly name = 'OidcFileError';
}

interface LoadedFile {
  file: OidcFile;
  providers: ProviderInput[];
  digest: string;
}

/** The path of the file, and the environment for the variables that it names. */
export interface OidcFileSource {
  path: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** @throws OidcFileError */
export async function readOidcFile({ path, env }: OidcFileSource): Promise<LoadedFile> {
  const text = await readText(path, FILE_BYTES);
  const file = parse(text);
  const digest = [text];
  const providers: ProviderInput[] = [];
  const ids = new Set<string>();
  for (const [index, one] of file.providers.entries()) {
    if (ids.has(one.id)) throw new OidcFileError(`providers.${index}.id: "${one.id}" is used twice`);
    ids.add(one.id);
    const resolveFile = (name: string) => resolve(dirname(path), name);
    const secret = await readSecret(one, `providers.${index}`, { resolveFile, env });
    const caCertificate =
      one.caCertificateFile === undefined
        ? null
        : await readText(resolveFile(one.caCertificateFile), SECRET_BYTES);
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

async function readSecret(
  one: OidcFile['providers'][number],
  path: string,
  { resolveFile, env }: { resolveFile: (name: string) => string; env: OidcFileSource['env'] },
): Promise<string> {
  const { clientSecretFile, clientSecretEnv } = one;
  if (clientSecretFile !== undefined && clientSecretEnv !== undefined)
    throw new OidcFileError(`${path}: set clientSecretFile or clientSecretEnv, not both`);
  if (clientSecretFile !== undefined)
    return (await readText(resolveFile(clientSecretFile), SECRET_BYTES)).trim();
  if (clientSecretEnv === undefined) {
    if (one.tokenEndpointAuthMethod === 'none') return '';
    throw new OidcFileError(
      `${path}: set clientSecretFile or clientSecretEnv, which says where the client secret is`,
    );
  }
  const secret = env[clientSecretEnv]?.trim();
  if (!secret)
    throw new OidcFileError(
      `${path}.clientSecretEnv: the environment of the controller has no ${clientSecretEnv}`,
    );
  return secret;
}

async function readText(path: string, maxBytes: number): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new OidcFileError(
      `${path} cannot be read (${String((error as { code?: unknown }).code ?? 'unknown')})`,
    );
  });
  if (bytes.length > maxBytes) throw new OidcFileError(`${path} has more than ${maxBytes} bytes`);
  return bytes.toString('utf8');
}

function parse(text: string): OidcFile {
  const { documents, finding } = composeDocuments(text);
  const [document, ...more] = documents;
  const [error] = document?.errors ?? [];
  const fault = finding ?? (document && error ? syntaxFinding(text, error) : null);
  if (fault)
    throw new OidcFileError(`line ${fault.line}, column ${fault.column}: ${fault.message}. ${fault.hint}`);
  if (!document || more.length > 0) throw new OidcFileError('it must contain exactly one YAML document');
  const { value, findings } = plainValue(text, document);
  const [odd] = findings;
  if (odd) throw new OidcFileError(`line ${odd.line}, column ${odd.column}: ${odd.message}. ${odd.hint}`);
  const check = validator(OidcFile);
  if (!check.fits(value)) throw new OidcFileError(sentences(check.issues(value)));
  return value;
}

/**
 * Applies a changed file; without a file it releases the settings of an earlier one. Returns whether anything changed. With
 * `atStart` a known error is logged again.
 */
export async function followOidcFile(
  ctx: Context,
  execute: Execute,
  source: OidcFileSource | null,
  { atStart = false } = {},
): Promise<boolean> {
  const state = await readOidcFileState(ctx.db);
  if (source === null) {
    if (state) await releaseSettings(ctx);
    return state !== null;
  }
  let sets = state?.sets ?? [];
  try {
    const read = await readOidcFile(source);
    if (state?.digest === read.digest && state.error === null) return false;
    sets = ['providers', ...(['groups', 'access'] as const).filter((name) => read.file[name] !== undefined)];
    await applyFile(ctx, execute, read);
    await writeOidcFileState(ctx.db, { digest: read.digest, sets, error: null });
    await notifyUi(ctx);
    return true;
  } catch (error) {
    const message = messageOf(error).slice(0, 1_000);
    if (atStart || state?.error !== message)
      ctx.log.warn(
        { path: source.path, reason: message },
        'HEADGATE_OIDC_FILE was not applied; the previous settings stay in force',
      );
    if (state?.error !== message) {
      await writeOidcFileState(ctx.db, {
        digest: state?.digest ?? '',
        sets: state?.sets ?? [],
        error: message,
      });
      await notifyUi(ctx);
    }
    return false;
  }
}

async function applyFile(ctx: Context, execute: Execute, { file, providers }: LoadedFile): Promise<void> {
  for (const { issuer } of providers) await checkIssuer(ctx, issuer);
  // Resolve all names before anything changes.
  const groups = file.groups && (await groupsInput(ctx, file.groups));
  const access = file.access && (await accessInput(ctx, file.access));
  await inTransaction(ctx, async (inside) => {
    for (const [position, one] of providers.entries()) {
      const entry = await saveProvider(inside, one, { isFromFile: true, position });
      await writeAudit(inside, ownScope, [entry], 'settings.oidcUpdated');
    }
    const ids = new Set(providers.map(({ id }) => id));
    for (const { id, isFromFile } of await listOidcProviders(inside.db)) {
      if (!isFromFile || ids.has(id)) continue;
      const entry = await removeProvider(inside, id, { isFromFile: true });
      await writeAudit(inside, ownScope, [entry], 'settings.oidcDisabled');
    }
    if (groups) await execute(directoryOperations.updateOidcTeamMappings, inside, groups);
    if (access) await execute(updateAccess, inside, access);
  });
}

async function accessInput(ctx: Context, { breakGlass, ...policy }: NonNullable<OidcFile['access']>) {
  return { ...policy, ...(breakGlass && { breakGlassUserIds: await userIdsOf(ctx, breakGlass) }) };
}

async function groupsInput(ctx: Context, groups: NonNullable<OidcFile['groups']>) {
  const { mappings = [], patterns = [], defaultTeam, defaultRole = 'VIEWER' } = groups;
  const names = [...mappings.map(({ team }) => team), ...(defaultTeam === undefined ? [] : [defaultTeam])];
  const teams = await findTeamsByName(ctx.db, names);
  const idOf = (name: string): string => {
    const id = teams.get(name.toLowerCase());
    if (id === undefined) throw new OidcFileError(`groups: there is no team "${name}"; create it first`);
    return id;
  };
  return {
    mappings: mappings.map(({ group, team, role }) => ({ group, teamId: idOf(team), role })),
    ...{ patterns, defaultRole, groupSyncEnabled: groups.sync },
    ...{ groupsClaim: groups.claim ?? '', groupsScope: groups.scope ?? '' },
    ...(defaultTeam === undefined ? {} : { defaultTeamId: idOf(defaultTeam) }),
  };
}

async function userIdsOf(ctx: Context, emails: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const email of emails) {
    const user = await findUserByEmail(ctx.db, email);
    if (!user) throw new OidcFileError(`access.breakGlass: no user has the address ${email}`);
    ids.push(user.id);
  }
  return ids;
}

async function releaseSettings(ctx: Context): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    await releaseFromFile(inside.db);
    await deleteOidcFileState(inside.db);
  });
  await notifyUi(ctx);
}

const inTransaction = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> =>
  ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    return work({ ...ctx, db: tx });
  });

const notifyUi = (ctx: Context): Promise<void> =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
