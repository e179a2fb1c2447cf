import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../api/queries.ts';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';
import { EmptyState } from '../../ui/primitives/page-states.tsx';

/** The two ways to a first pipeline. */
export const NoPipelines = ({ env, create }: { env: string; create: ReactNode }) => {
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
        environment’s repository and watch it walk through the gate.
      </p>
      {create}
      <CommandBlock label="commands that push a first pipeline" lines={lines} />
    </EmptyState>
  );
};
