/** The secrets and certificates that a config names, compared with those of the environment. */
import { lockEnvironment } from '../../fleet/environments/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict } from '../../platform/operation/errors.ts';
import {
  certificateReferences,
  certificateVariable,
  configVariables,
} from '../../secrets/certificates/index.ts';
import { secretReferences } from '../../secrets/index.ts';

/** Secrets (as variables) and certificates (as file names) that a config names and the environment lacks. */
export async function missingVariables(
  ctx: Pick<Context, 'db'>,
  environmentId: string,
  configYaml: string,
): Promise<string[]> {
  return missingIn(configYaml, await configVariables(ctx.db, environmentId));
}

function missingIn(configYaml: string, has: ReadonlySet<string>): string[] {
  const secrets = secretReferences(configYaml).filter(
    ({ variable, optional }) => !optional && !has.has(variable),
  );
  const files = certificateReferences(configYaml).filter((file) => !has.has(certificateVariable(file)));
  return [...secrets.map(({ variable }) => variable), ...new Set(files)];
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Checks in the transaction that the environment has what the configs name, and keeps it there until the transaction ends. A
 * check before the transaction is not enough: a secret may be deleted while the engine checks the config, and a served config
 * without its secret cannot be rendered. The pipelines must be locked: their locks come before that of the environment.
 *
 * @throws CONFLICT
 */
export async function lockVariables(
  ctx: MutationContext,
  environmentId: string,
  configs: readonly string[],
): Promise<void> {
  const naming = configs.filter((configYaml) => missingIn(configYaml, NOTHING).length > 0);
  if (naming.length === 0) return;
  await lockEnvironment(ctx.db, environmentId);
  const has = await configVariables(ctx.db, environmentId);
  const missing = [...new Set(naming.flatMap((configYaml) => missingIn(configYaml, has)))];
  if (missing.length === 0) return;
  const more = missing.length > 10 ? ` and ${missing.length - 10} more` : '';
  throw conflict(
    `Deleted while the pipeline was being checked: ${missing.slice(0, 10).join(', ')}${more}. Create it again or remove the reference, then try again`,
  );
}
