/** The keys for encryption at rest: where a controller takes them from, whether the database agrees, and how they change. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { type Config, ConfigError } from '../config.ts';
import { withAdvisoryLock } from '../database/advisory-lock.ts';
import { assertDatabase } from '../database/assert-database.ts';
import { connect } from '../database/connect.ts';
import { joinEmbeddedPostgres } from '../database/embedded/shared-postgres.ts';
import { migrateAll } from '../database/migrate.ts';
import { writeAudit } from '../insight/audit/index.ts';
import { addKey, ensureKeyFile, keyFile, readKeyFile } from '../platform/crypto/key-file.ts';
import { countByKey, resealAll } from '../platform/crypto/key-rotation.ts';
import { createKeyring, type Keyring, KeyringError, keyIdOf } from '../platform/crypto/keyring.ts';
import { type Bus, createBus, listBusNames } from '../platform/runtime/bus.ts';
import { createLogger } from '../platform/runtime/logger.ts';
import { claimSetting, readSetting, writeSetting } from '../platform/runtime/settings-store.ts';

/** Of the key that everything is sealed with. */
const CURRENT = 'secretKeyFingerprint';
/** Of the key that texts may be sealed with already, during a rotation; null otherwise. */
const NEXT = 'secretKeyNext';
// An advisory lock of the database.
const ROTATING = 7_236_004;
const FOLLOW_MS = 15_000;
const LOOK_MS = 250;
/** As many as the name of a connection has room for. */
const TOLD_KEYS = 5;

/** The file of the data directory is made where HEADGATE_SECRET_KEY is not set, and read again for keys that came later. */
export function openKeyring(config: Config): Keyring {
  const { secretKey, previousSecretKeys: previous } = config;
  if (secretKey !== null) return createKeyring([secretKey, ...previous]);
  const file = keyFile(config.dataDir);
  ensureKeyFile(file);
  const read = () => [...readKeyFile(file), ...previous];
  return createKeyring(read(), read);
}

/** For what only reads. @throws ConfigError where no controller has made a key yet. */
export function openExistingKeyring(config: Config): Keyring {
  if (config.secretKey === null && !existsSync(keyFile(config.dataDir))) {
    throw new ConfigError(
      `there is no key in ${config.dataDir}; set HEADGATE_DATA_DIR to the controller's, or HEADGATE_SECRET_KEY`,
    );
  }
  return openKeyring(config);
}

/** What a controller tells the others of its keys: their ids, the one that seals first. */
export const keysName = (keyring: Keyring): string =>
  keyring.fingerprints.slice(0, TOLD_KEYS).map(keyIdOf).join(' ');

/**
 * Called at the start, after the controller has published which keys it has. Rejects a keyring that lacks what the
 * database is sealed with. Answers whether everything is sealed with the newest key.
 */
export async function agreeOnKeys(db: Knex, keyring: Keyring): Promise<boolean> {
  const current = await claimSetting(db, CURRENT, keyring.fingerprint);
  if (!keyring.fingerprints.includes(current)) {
    throw new ConfigError(
      'HEADGATE_SECRET_KEY is not the key that this database was encrypted with. Set it to the earlier one; without it, stored secrets cannot be read. After a change of keys give the earlier ones in HEADGATE_PREVIOUS_SECRET_KEYS',
    );
  }
  if (current !== keyring.fingerprint) await writeSetting(db, NEXT, keyring.fingerprint);
  const next = await readSetting<string>(db, NEXT);
  if (next !== null && !keyring.fingerprints.includes(next)) {
    throw new ConfigError(
      `the keys of this database are being changed to ${keyIdOf(next)}, which this controller does not have. Start it with that key in HEADGATE_SECRET_KEY and the earlier one in HEADGATE_PREVIOUS_SECRET_KEYS, then run: headgate keys rotate`,
    );
  }
  return current === keyring.fingerprint;
}

export interface KeysOptions {
  say(line: string): void;
  /** How long running controllers have to take the new key over. */
  followMs?: number;
}

/** `headgate keys rotate`. Ended at any point, it goes on where it was when it is run again. */
export async function rotateKeys(config: Config, options: KeysOptions): Promise<void> {
  await withDatabase(config, (db, url) =>
    withAdvisoryLock(db, ROTATING, async () => {
      let keyring = openKeyring(config);
      const current = await claimSetting(db, CURRENT, keyring.fingerprint);
      if (!keyring.fingerprints.includes(current)) {
        throw new KeyringError(
          config.secretKey === null
            ? `the database is encrypted with key ${keyIdOf(current)}, which is not in ${keyFile(config.dataDir)}; put it back as the last line`
            : `the database is encrypted with key ${keyIdOf(current)}; give that one in HEADGATE_PREVIOUS_SECRET_KEYS`,
        );
      }
      if (current === keyring.fingerprint && config.secretKey === null) {
        addKey(keyFile(config.dataDir));
        keyring = openKeyring(config);
      }
      const { fingerprint } = keyring;
      if (current === fingerprint && !(await hasOlder(db, keyring))) {
        throw new KeyringError(
          'HEADGATE_SECRET_KEY is the key of the database already. Set it to a new one (openssl rand -hex 32) and HEADGATE_PREVIOUS_SECRET_KEYS to the present one, restart the controllers with both, and run this again',
        );
      }
      await writeSetting(db, NEXT, fingerprint);
      options.say(`New key ${keyIdOf(fingerprint)}. Waiting for running controllers to take it over.`);
      const bus = createBus({ url, log: createLogger('silent') });
      await untilFollowed(db, bus, config, keyIdOf(fingerprint), options);
      const { count, unreadable } = await resealAll(db, keyring);
      await db.transaction(async (tx) => {
        await writeSetting(tx, CURRENT, fingerprint);
        await writeSetting(tx, NEXT, null);
        await writeAudit(
          { db: tx, actor: { type: 'system', name: 'keys' }, ipAddress: null, services: { bus } },
          { teamId: null },
          [{ entityType: 'Key', entityId: fingerprint, diff: { fingerprint: [current, fingerprint] } }],
          'keys.rotated',
        );
      });
      options.say(`${count} texts were resealed; the key of the database is ${keyIdOf(fingerprint)}.`);
      for (const line of unreadable) options.say(`Left as it is, no key opens it: ${line}`);
      options.say(AFTERWARDS[config.secretKey === null ? 'file' : 'environment']);
    }),
  );
}

const AFTERWARDS = {
  file: 'Back up the file secret-key again. Earlier keys stay in it: backups of the database from before need them.',
  environment:
    'Take the earlier keys out of HEADGATE_PREVIOUS_SECRET_KEYS at the next restart, and keep them for backups from before.',
};

async function hasOlder(db: Knex, keyring: Keyring): Promise<boolean> {
  return [...(await countByKey(db)).keys()].some((id) => id !== keyIdOf(keyring.fingerprint));
}

/** `keysName`, behind the name that every bus has. */
const sealingKeyIn = (busName: string): string | undefined => busName.split(' ')[1];

/** Nothing may be sealed with a key that a running controller cannot open, and nothing any longer with an earlier one. */
async function untilFollowed(
  db: Knex,
  bus: Bus,
  config: Config,
  keyId: string,
  { followMs = FOLLOW_MS }: KeysOptions,
): Promise<void> {
  const deadline = performance.now() + followMs;
  for (;;) {
    const behind = (await listBusNames(db)).filter((name) => sealingKeyIn(name) !== keyId);
    if (behind.length === 0) return;
    if (performance.now() >= deadline) {
      if (config.secretKey !== null) await writeSetting(db, NEXT, null);
      throw new KeyringError(
        `${behind.length} running controller${behind.length === 1 ? ' does' : 's do'} not seal with the new key ${keyId}; nothing was changed yet. ${
          config.secretKey === null
            ? 'Restart those that do not share this data directory with the same file secret-key, then run this again'
            : 'Restart them with it in HEADGATE_SECRET_KEY and the earlier one in HEADGATE_PREVIOUS_SECRET_KEYS, then run this again'
        }`,
      );
    }
    await bus.publish(db, { type: 'keys' });
    await sleep(LOOK_MS);
  }
}

/** `headgate keys list`: what tells keys apart, never a key. */
export async function listKeys(config: Config, { say }: KeysOptions): Promise<void> {
  await withDatabase(config, async (db) => {
    const keyring = openKeyring(config);
    const current = await readSetting<string>(db, CURRENT);
    const counts = await countByKey(db);
    for (const fingerprint of keyring.fingerprints) {
      const roles = [
        ...(fingerprint === keyring.fingerprint ? ['seals'] : []),
        ...(fingerprint === current ? ["the database's key"] : []),
        textsOf(counts, keyIdOf(fingerprint)),
      ];
      say(`${fingerprint}  ${roles.join(', ')}`);
    }
    const known = new Set(keyring.fingerprints.map(keyIdOf));
    for (const id of [...counts.keys()].filter((one) => !known.has(one)))
      say(`${id}          not here: ${textsOf(counts, id)} cannot be read`);
  });
}

function textsOf(counts: ReadonlyMap<string, number>, keyId: string): string {
  const count = counts.get(keyId) ?? 0;
  return `${count} text${count === 1 ? '' : 's'}`;
}

async function withDatabase<T>(config: Config, work: (db: Knex, url: string) => Promise<T>): Promise<T> {
  openExistingKeyring(config);
  const log = createLogger('error');
  if (config.databaseUrl !== null) await assertDatabase(config.databaseUrl, { waitMs: 0 });
  const postgres =
    config.databaseUrl === null ? await joinEmbeddedPostgres({ dataDir: config.dataDir, log }) : null;
  const url = config.databaseUrl ?? postgres?.url ?? '';
  try {
    await migrateAll(url);
    const db = connect(url, { poolSize: 4, name: 'headgate-keys' });
    try {
      return await work(db, url);
    } finally {
      await db.destroy();
    }
  } finally {
    await postgres?.leave();
  }
}
