/** Who uses a shared component, and who has not taken its newest version. Pure. */
import type { SharedComponent } from '../../../../schemas/api/pipelines/shared-components.ts';

export type Use = SharedComponent['usedBy'][number];

export const KIND_WORD: Record<SharedComponent['kind'], string> = {
  SOURCE: 'source',
  TRANSFORM: 'transform',
  SINK: 'sink',
};

export const behind = ({ usedBy, version }: Pick<SharedComponent, 'usedBy' | 'version'>): Use[] =>
  usedBy.filter((use) => use.version < version);

/** A pipeline may use one several times. By name. */
export function pipelinesOf(uses: readonly Use[]): { id: string; name: string; uses: Use[] }[] {
  return [...Map.groupBy(uses, ({ pipelineId }) => pipelineId)]
    .map(([id, each]) => ({ id, name: each[0]?.pipelineName ?? '', uses: each }))
    .sort((a, b) => a.name.localeCompare(b.name));
}
