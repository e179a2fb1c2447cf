import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import type { Versions } from '../../../../../schemas/api/fleet/releases.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { nameNodes } from '../nodes/node-actions.ts';
import type { NodeFormProps } from '../nodes/node-dialogs.tsx';
import { NodesForm } from '../nodes/nodes-form.tsx';
import {
  fileFor,
  LIBCS,
  type Libc,
  releaseFor,
  whyNever,
  whyNotByFile,
  whyNotUpdated,
} from './agent-release.ts';
import { NO_FILE, OwnFields, systemsOf, trimmed } from './custom-agent-file.tsx';
import { LeftOut } from './skipped-nodes.tsx';
import { Release } from './update-release.tsx';

const SOURCES = [
  { value: 'release', word: 'Newest release' },
  { value: 'own', word: 'Another file' },
] as const;

/** Brings the agents of nodes to the newest release of their channels, or to a file that is named. */
export const UpdateForm = ({ nodes, close }: NodeFormProps) => {
  const versions = useQuery(queries.releases());
  const [only] = nodes;
  if (nodes.length === 1 && only?.deploymentMode === 'DOCKER') return <InContainer close={close} />;
  return (
    <Loaded
      query={versions}
      what="The releases"
      skeleton={<SkeletonBlock height={240} label="Looking up releases" />}
    >
      {(data) => <Form nodes={nodes} versions={data} close={close} />}
    </Loaded>
  );
};

const Form = ({ nodes, versions, close }: NodeFormProps & { versions: Versions }) => {
  const [source, setSource] = useState<(typeof SOURCES)[number]['value']>('release');
  const [libc, setLibc] = useState<Libc>('glibc');
  const able = nodes.filter((node) => whyNever(node) === null);
  const [own, setOwn] = useState(() => ({ ...NO_FILE, system: systemsOf(able)[0]?.system ?? '' }));
  const wanted = trimmed(own);
  const left = new Map<string, string>();
  for (const node of nodes) {
    const why =
      source === 'release'
        ? whyNotUpdated(node, versions, libc)
        : whyNotByFile(node, wanted.targetVersion, wanted.system);
    if (why) left.set(node.id, why);
  }
  const concerned = nodes.filter(({ id }) => !left.has(id));
  const run = (node: NodeSummary): Promise<unknown> => {
    const release = source === 'release' ? releaseFor(versions, node) : null;
    const file = release && fileFor(release, node, libc);
    const { targetVersion, downloadUrl, checksum, signature } =
      release && file ? { ...file, targetVersion: release.version } : wanted;
    return api.fleet.triggerAgentUpdate.mutate({
      nodeId: node.id,
      ...{ targetVersion, downloadUrl, checksum },
      ...(signature ? { signature } : {}),
    });
  };
  const incomplete = source === 'own' && !(wanted.targetVersion && wanted.downloadUrl && wanted.checksum);
  return (
    <NodesForm
      choice={`${source} ${libc} ${own.system}`}
      nodes={concerned}
      run={run}
      done={(through) => {
        notify(`The update of ${nameNodes(through)} was asked for.`);
        close();
      }}
      close={close}
      words={{
        act: concerned.length > 1 ? `Update ${nameNodes(concerned)}` : 'Update the agent',
        acting: 'Asking…',
      }}
      incomplete={incomplete}
    >
      <SegmentedControl label="What to update to" value={source} options={SOURCES} onChange={setSource} />
      {source === 'release' ? (
        <>
          <Release nodes={nodes} versions={versions} libc={libc} />
          <SelectField
            label="C library of the machine"
            value={libc}
            onChange={setLibc}
            options={LIBCS}
            hint="The agent does not report it. A file of the other kind does not start, and the agent keeps the old one."
          />
        </>
      ) : (
        <OwnFields value={own} onChange={setOwn} nodes={able} />
      )}
      <LeftOut nodes={nodes} why={left} />
      <p className="muted">
        The agent downloads the file, checks it, and restarts with it; its engines are stopped in order and
        started again. It tries three times, and the update is given up after 24 hours. A file that failed is
        not offered to the node again.
      </p>
    </NodesForm>
  );
};

const InContainer = ({ close }: { close: () => void }) => (
  <Stack gap="lg">
    <p>
      This agent runs in a container, which does not change itself. Pull a newer image and start the container
      again, for example:
    </p>
    <pre className="mono code-lines">docker compose pull &amp;&amp; docker compose up -d</pre>
    <p className="muted">Keep its data directory in a volume: then it is the same node afterwards.</p>
    <Group gap="sm" justify="flex-end">
      <Button kind="primary" onClick={close}>
        Close
      </Button>
    </Group>
  </Stack>
);
