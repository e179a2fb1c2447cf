/** Has the kind of each changed manifest check it. */
import { readNodeEngines } from '../../../controller/fleet/engines/index.ts';
import { type CheckResult, KINDS, type Kind } from '../../kinds/index.ts';
import type { Observed, PassOptions } from '../pass-types.ts';
import type { Applying, Change, Plan } from './plan.ts';

/** Above this number of changes the engine does not check each manifest: every check starts a process. */
export const ENGINE_CHECKS = 24;
const PARALLEL_CHECKS = 4;

/** @param engine Whether the engine checks each manifest. */
export async function checkAll(
  { ctx, binding, signal }: Pick<PassOptions, 'ctx' | 'binding' | 'signal'>,
  { secrets, faults }: Pick<Observed, 'secrets'> & Pick<Plan, 'faults'>,
  batch: readonly Applying[],
  engine: boolean,
): Promise<Map<Change, CheckResult>> {
  const results = new Map<Change, CheckResult>();
  let confirmations = ENGINE_CHECKS;
  const confirm = () => confirmations-- > 0;
  const now = ctx.clock.now();
  const nodeEngines = batch.some(({ manifest }) => manifest.kind === 'Pipeline')
    ? await readNodeEngines(ctx.db, binding.environmentId, now)
    : [];
  const queue = batch[Symbol.iterator]();
  const worker = async () => {
    for (const change of queue) {
      const { manifest } = change;
      const problems = faults.get(manifest);
      results.set(
        change,
        problems
          ? { problems: [...problems], detail: 'references', notes: [], unknown: [], tests: [] }
          : await kindOf(change).check(ctx, manifest, { secrets, engine, confirm, now, nodeEngines, signal }),
      );
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CHECKS }, worker));
  return results;
}

export function kindOf({ manifest }: Applying): Kind {
  const kind = KINDS.get(manifest.kind);
  if (!kind) throw new Error(`nothing acts on ${manifest.kind}`);
  return kind;
}
