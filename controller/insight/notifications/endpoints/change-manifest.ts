/**
 * Changes of an endpoint that git describes, as its manifest would say them: secrets stay references. The operation writes the
 * row, reads it back as a manifest and is rolled back; what git would not apply is refused where the manifest is written.
 */
import type { MutationContext } from '../../../platform/operation/context.ts';
import { preconditionFailed } from '../../../platform/operation/errors.ts';
import type { EndpointChange } from './change-endpoint.ts';
import { type EndpointRow, updateReferences } from './store.ts';

/** @throws PRECONDITION_FAILED where the change is the value of a secret, which git never holds */
export async function changeManifest(
  ctx: MutationContext,
  row: EndpointRow,
  change: EndpointChange,
): Promise<void> {
  if (change.url !== undefined && row.urlRef !== null)
    throw preconditionFailed(
      `The address of "${row.name}" is in the secret "${row.urlRef}", and git holds no values of secrets: change the value of that secret, or name another one in the manifest (urlRef)`,
    );
  if (change.secret)
    throw preconditionFailed(
      `"${row.name}" is described in git, which holds no values of secrets: ${
        row.secretRef === null
          ? 'create a secret in Secrets and name it in the manifest (secretRef)'
          : `change the value of the secret "${row.secretRef}", or name another one in the manifest (secretRef)`
      }`,
    );
  await updateReferences(ctx.db, row.id, {
    plainUrl: change.url ?? row.plainUrl,
    secretRef: change.secret === null ? null : row.secretRef,
    headers: change.headers === undefined ? row.headerTemplates : (change.headers ?? {}),
    format: change.format ?? row.format,
    enabled: change.enabled ?? row.enabled,
  });
}
