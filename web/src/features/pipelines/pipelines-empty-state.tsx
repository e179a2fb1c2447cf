import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../api/queries/index.ts';
import { EmptyState } from '../../ui/feedback/page-states.tsx';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';

interface Props {
  env: string;
  create: ReactNode;
  migrate: ReactNode;
}

/** The ways to a first pipeline. */
export const NoPipelines = ({ env, create, migrate }: Props) => {
  const git = useQuery(queries.git(env));
  const folder = git.data?.path ?? 'environments/staging';
  const lines = [
    `git clone ${git.data?.cloneUrl ?? '<address from the Git page>'} config && cd config`,
    `mkdir -p ${folder}/pipelines`,
    `cat > ${folder}/pipelines/hello.yaml <<'YAML'`,
    'apiVersion: headgate/v1',
    'kind: Pipeline',
    'metadata: { name: hello }',
    'spec:',
    '  deployed: true',
    '  sources: { demo: { type: demo_logs, format: json, interval: 1 } }',
    '  sinks: { out: { type: console, inputs: [demo], encoding: { codec: json } } }',
    'YAML',
    "git add . && git commit -m 'Add hello' && git push",
  ];
  return (
    <EmptyState icon="pipelines" title="No pipelines yet">
      <p>
        A pipeline takes events in, changes them and hands them on. Draw one here, or push a manifest to the
        environment’s repository and watch it walk through the gate, or bring the configuration of a Fluentd.
      </p>
      <Group gap="sm" justify="center">
        {create}
        {migrate}
      </Group>
      <CommandBlock label="commands that push a first pipeline" lines={lines} />
    </EmptyState>
  );
};
