import type { PipelineOnNode } from '../../../../schemas/api/pipelines/on-nodes.ts';
import { Icon } from '../../ui/primitives/icons.tsx';

/** What runs against what should run: one number when they agree, an arrow when they do not. */
export const VersionOnNode = ({ row }: { row: Pick<PipelineOnNode, 'version' | 'desiredVersion'> }) => {
  const running = row.version === null ? '–' : `v${row.version}`;
  if (row.version === row.desiredVersion) return <span className="mono">{running}</span>;
  const desired = row.desiredVersion === null ? 'none' : `v${row.desiredVersion}`;
  return (
    <span
      className="cell-line version-pair mono tone-text"
      data-tone="moving"
      data-tip={`Runs ${running}, should run ${desired}`}
    >
      {running} <Icon name="moving" size={12} /> {desired}
    </span>
  );
};
