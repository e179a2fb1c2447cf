/** The operations by which git creates, updates and prunes silences. */
import type { SilenceSpec } from '../../../../schemas/manifests/silence.ts';
import { convergeOperation, pruneOperation } from '../../../delivery/ownership/index.ts';
import { publishChange } from '../rules/publish-change.ts';
import { SILENCE_COLUMNS, silenceColumns } from './store.ts';

const SILENCES = { entityType: 'Silence', table: 'alert_silences' } as const;

export const convergeSilences = convergeOperation<SilenceSpec>({
  ...SILENCES,
  name: 'silence.converge',
  noun: 'silence',
  types: SILENCE_COLUMNS,
  columns: (ctx, _environmentId, specs, rows) =>
    specs.map((spec, index) => silenceColumns(spec, rows[index]?.createdAt ?? new Date(ctx.clock.now()))),
  changed: publishChange,
});

export const pruneSilence = pruneOperation({
  ...SILENCES,
  name: 'silence.prune',
  audit: 'silence.pruned',
  changed: publishChange,
});
