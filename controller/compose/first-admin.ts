import { type Config, ConfigError } from '../config.ts';
import { ensureFirstAdmin } from '../identity/access/index.ts';
import type { Context } from '../platform/operation/context.ts';
import { DomainError } from '../platform/operation/errors.ts';

/** @throws ConfigError for a password that is too weak */
export const ensureConfiguredAdmin = (ctx: Context, { adminEmail: email, adminPassword: password }: Config) =>
  ensureFirstAdmin(ctx, { email, password }).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'BAD_REQUEST')
      throw new ConfigError(`HEADGATE_ADMIN_PASSWORD: ${error.message}`);
    throw error;
  });
