/** The bus between controllers, and the keys that they agree on through it. */
import type { Knex } from 'knex';
import type { Keyring } from '../platform/crypto/keyring.ts';
import { messageOf } from '../platform/operation/errors.ts';
import { createBus } from '../platform/runtime/bus.ts';
import type { Logger } from '../platform/runtime/logger.ts';
import { agreeOnKeys, keysName } from './keys.ts';
import type { Lifecycle } from './lifecycle.ts';

/** @throws ConfigError where the database is sealed with a key that this controller lacks */
export async function startBus(options: {
  databaseUrl: string;
  db: Knex;
  keyring: Keyring;
  log: Logger;
  lifecycle: Lifecycle;
}): Promise<ReturnType<typeof createBus>> {
  const { databaseUrl, db, keyring, log, lifecycle } = options;
  const bus = createBus({ url: databaseUrl, log, name: () => keysName(keyring) });
  await bus.start();
  lifecycle.onStop('bus', () => bus.stop());
  if (!(await agreeOnKeys(db, keyring)))
    log.warn('not everything is sealed with the newest key yet; run: headgate keys rotate');
  const followKeys = () => {
    try {
      if (keyring.reload()) log.info({ key: keyring.fingerprint }, 'there are other keys');
      bus.introduce().catch(() => {});
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'the keys cannot be read again');
    }
  };
  bus.on('keys', followKeys);
  bus.on('resync', followKeys);
  return bus;
}
