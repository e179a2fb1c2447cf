import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { plural } from '../../../ui/text/format.ts';
import { Crashes } from '../../engine-reports/crash-list.tsx';
import { pipelineCause } from '../../gate/gate-cause.ts';
import { GateStrip, isCalm } from '../../gate/gate-strip.tsx';
import { pipelineStatus } from '../../pipelines/pipeline-status.ts';

interface Props {
  env: string;
  pipelineId: string;
  version: number;
  close: () => void;
}

/** A version that was just accepted walks through the gate; one sees it arrive, or why it does not. */
export const DeployWatch = ({ env, pipelineId, version, close }: Props) => {
  const pipeline = useQuery(queries.pipeline(pipelineId));
  return (
    <Loaded query={pipeline} what="The pipeline" skeleton={<SkeletonBlock height={160} />}>
      {(data) => {
        const { tone, word } = pipelineStatus(data);
        const { running, total } = data.nodeCounts;
        const there = data.deployedVersionNumber === version && total > 0 && isCalm(data.gate);
        return (
          <Stack gap="lg">
            <p role="status" className="watch-line">
              <strong>
                {there
                  ? `Version ${version} runs on ${plural(total, 'node')}.`
                  : `Version ${version} is accepted and on its way.`}
              </strong>{' '}
              <Badge tone={tone}>{total === 0 ? word : `${running}/${total} ${word}`}</Badge>
            </p>
            <GateStrip
              gate={data.gate}
              of={data.name}
              causeOf={pipelineCause(env, pipelineId)}
              size="large"
            />
            <Crashes
              rows={data.statuses}
              title={(count) => `It crashed on ${count} of ${plural(data.statuses.length, 'node')}`}
              nameOf={(row) => row.nodeName}
              logHref={(row) =>
                paths.pipeline(env, pipelineId, { tab: 'logs', level: 'ERROR', node: row.nodeId })
              }
            />
            <Group gap="sm" justify="flex-end">
              <Button kind="primary" onClick={close}>
                Done
              </Button>
            </Group>
          </Stack>
        );
      }}
    </Loaded>
  );
};
