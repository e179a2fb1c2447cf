import { Group, Stack } from '@mantine/core';
/** Somebody else has saved meanwhile: take theirs and keep mine as text, or look at the difference and overwrite. */
import { useQuery } from '@tanstack/react-query';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { api } from '../../api/client.ts';
import { Diff, DiffLayout } from '../../ui/code/lazy-code.tsx';
import { InlineError, Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { type EditorGraph, sentGraph } from './model/graph.ts';

export interface Theirs {
  pipeline: Pipeline;
  theirYaml: string;
  myYaml: string;
}

interface Props {
  opened: boolean;
  pipelineId: string;
  mine: EditorGraph;
  saving: boolean;
  error: unknown;
  load: (theirs: Theirs) => void;
  overwrite: (theirs: Theirs) => void;
  close: () => void;
}

export const ConflictDialog = ({ opened, close, ...props }: Props) => (
  <Dialog title="Somebody else has saved this graph" opened={opened} close={close} size="xl">
    {opened && <Conflict {...props} close={close} />}
  </Dialog>
);

const Conflict = ({ pipelineId, mine, saving, error, load, overwrite, close }: Omit<Props, 'opened'>) => {
  const both = useQuery({
    queryKey: ['graph-conflict', pipelineId, mine],
    queryFn: async (): Promise<Theirs> => {
      const pipeline = await api.pipeline.get.query({ id: pipelineId });
      const { nodes, edges, globalConfig } = pipeline;
      const [their, my] = await Promise.all([
        api.pipeline.renderGraph.mutate({ pipelineId, nodes, edges, globalConfig }),
        api.pipeline.renderGraph.mutate({ pipelineId, ...sentGraph(mine) }),
      ]);
      return { pipeline, theirYaml: their.configYaml, myYaml: my.configYaml };
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Loaded query={both} what="The difference" skeleton={<SkeletonBlock height={320} />}>
      {(theirs) => (
        <Stack gap="lg">
          <p>
            Revision {theirs.pipeline.graphRevision} was saved <Time at={theirs.pipeline.updatedAt} />, after
            you had begun. This is what would change if yours took its place:
          </p>
          {theirs.theirYaml === theirs.myYaml ? (
            <p className="muted">
              The engine config is the same; titles, places or switched-off parts differ.
            </p>
          ) : (
            <div className="conflict-diff">
              <DiffLayout />
              <Diff
                before={theirs.theirYaml}
                after={theirs.myYaml}
                beforeLabel="Theirs, as saved"
                afterLabel="Yours, as drawn"
              />
            </div>
          )}
          {error !== null && <InlineError error={error} />}
          <Group gap="sm" justify="flex-end">
            <Button onClick={close}>Go on drawing</Button>
            <Button disabled={saving} onClick={() => load(theirs)}>
              Load theirs, keep mine as text
            </Button>
            <Button kind="danger" disabled={saving} onClick={() => overwrite(theirs)}>
              {saving ? 'Saving…' : 'Overwrite theirs with mine'}
            </Button>
          </Group>
        </Stack>
      )}
    </Loaded>
  );
};
