/** A change must not bring into git what the next pass refuses, and above all no secret. */
import type { Context } from '../../../controller/platform/operation/context.ts';
import { preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { secretVariables } from '../../../controller/secrets/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';

/**
 * Pipelines are checked by the operations that change them.
 * @throws PRECONDITION_FAILED with the first problem of the manifest
 */
export async function assertApplicable(
  { db, services, clock, signal }: Context,
  environmentId: string,
  manifest: DesiredManifest,
): Promise<void> {
  const kind = KINDS.get(manifest.kind);
  if (!kind || manifest.kind === 'Pipeline') return;
  const secrets = await secretVariables(db, environmentId);
  const { problems } = await kind.check({ services }, manifest, {
    ...{ secrets, signal, engine: false, nodeEngines: [], now: clock.now() },
  });
  const [problem] = problems;
  if (problem)
    throw preconditionFailed(
      `Nothing was written to git, for it would not be applied: ${problem.message}. ${problem.hint}`,
    );
}
