import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NodeSummary } from '../../../../schemas/api/fleet.ts';
import type { Versions } from '../../../../schemas/api/releases.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { Field, SelectField } from '../../components/field.tsx';
import { formatBytes, plural } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
import { notify } from '../../components/toasts.tsx';
import { fileFor, LIBCS, type Libc, releaseFor, whyNotUpdated } from './agent-release.ts';
import { nameNodes } from './node-actions.ts';
import type { NodeFormProps } from './node-dialogs.tsx';
import { NodesForm } from './nodes-form.tsx';

const SOURCES = [
  { value: 'release', word: 'Newest release' },
  { value: 'own', word: 'Another file' },
] as const;

interface OwnFile {
  targetVersion: string;
  downloadUrl: string;
  checksum: string;
  /** Empty for none. */
  signature: string;
}

const NO_FILE: OwnFile = { targetVersion: '', downloadUrl: '', checksum: '', signature: '' };

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
  const [own, setOwn] = useState(NO_FILE);
  const left = new Map<string, string>();
  if (source === 'release') {
    for (const node of nodes) {
      const why = whyNotUpdated(node, versions, libc);
      if (why) left.set(node.id, why);
    }
  }
  const concerned = nodes.filter(({ id }) => !left.has(id));
  const run = (node: NodeSummary): Promise<unknown> => {
    const release = source === 'release' ? releaseFor(versions, node) : null;
    const file = release && fileFor(release, node, libc);
    const { signature, ...wanted } =
      release && file ? { ...file, targetVersion: release.version } : trimmed(own);
    const { targetVersion, downloadUrl, checksum } = wanted;
    return api.fleet.triggerAgentUpdate.mutate({
      nodeId: node.id,
      ...{ targetVersion, downloadUrl, checksum },
      ...(signature ? { signature } : {}),
    });
  };
  const { targetVersion, downloadUrl, checksum } = trimmed(own);
  const incomplete = source === 'own' && !(targetVersion && downloadUrl && checksum);
  return (
    <NodesForm
      // What is acted on follows the choice, and so do the outcomes.
      key={`${source} ${libc}`}
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
      <Segmented label="What to update to" value={source} options={SOURCES} onChange={setSource} />
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
        <OwnFields value={own} onChange={setOwn} />
      )}
      <LeftOut nodes={nodes} why={left} />
      <p className="muted">
        The agent loads the file, checks it, and starts anew in its place; its engines are stopped in order
        and started again. It tries three times, and the update is given up after 24 hours. A file that failed
        is not offered to the node again.
      </p>
    </NodesForm>
  );
};

const trimmed = ({ targetVersion, downloadUrl, checksum, signature }: OwnFile): OwnFile => ({
  targetVersion: targetVersion.trim(),
  downloadUrl: downloadUrl.trim(),
  checksum: checksum.trim(),
  signature: signature.trim(),
});

interface ReleaseProps {
  nodes: readonly NodeSummary[];
  versions: Versions;
  libc: Libc;
}

/** What the nodes would get: of one node the very file, of several the release of each channel. */
const Release = ({ nodes, versions, libc }: ReleaseProps) => {
  const [only] = nodes;
  if (nodes.length > 1 || !only) {
    return (
      <dl className="facts">
        {(['stable', 'dev'] as const).map((channel) => {
          const count = nodes.filter((node) => node.channel === channel).length;
          if (count === 0) return null;
          const release = channel === 'dev' ? versions.devAgent : versions.agent;
          return (
            <div key={channel} className="fact">
              <dt>Channel {channel}</dt>
              <dd>
                <span className="mono">{release?.version ?? 'none is served'}</span>
                <span className="muted"> for {plural(count, 'node')}</span>
              </dd>
            </div>
          );
        })}
      </dl>
    );
  }
  const release = releaseFor(versions, only);
  if (!release) {
    return (
      <p>
        This controller serves no agent of the channel {only.channel}. Put a release where it looks for them,
        or name a file by “Another file”.
      </p>
    );
  }
  const file = fileFor(release, only, libc);
  return (
    <dl className="facts">
      <div className="fact">
        <dt>Version</dt>
        <dd className="mono">
          {only.agentVersion ?? 'unknown'} → {release.version}
        </dd>
      </div>
      <div className="fact">
        <dt>File for {only.os ?? 'an unknown system'}</dt>
        <dd className="release-file">
          {file ? (
            <>
              <span className="mono">{file.downloadUrl}</span>{' '}
              <span className="muted">{formatBytes(file.bytes)}</span>
              <br />
              <span className="mono muted">{file.checksum}</span>
            </>
          ) : (
            'there is none'
          )}
        </dd>
      </div>
    </dl>
  );
};

const OwnFields = ({ value, onChange }: { value: OwnFile; onChange: (value: OwnFile) => void }) => {
  const set = (change: Partial<OwnFile>): void => onChange({ ...value, ...change });
  const isSum = /^(sha256:)?[0-9a-f]{64}$/i.test(value.checksum.trim());
  return (
    <>
      <Field
        label="Version"
        value={value.targetVersion}
        onChange={(targetVersion) => set({ targetVersion })}
        mono
        required
        maxLength={64}
        placeholder="v1.2.3"
        hint="What the file’s own --version says: v1.2.3, or dev- and a short hash."
      />
      <Field
        label="Address of the file"
        value={value.downloadUrl}
        onChange={(downloadUrl) => set({ downloadUrl })}
        mono
        required
        maxLength={2_048}
        placeholder="https://example.com/headgate-agent"
        hint="By https, or of this controller. No user or password in it: it is shown as it is."
      />
      <Field
        label="SHA-256 of the file"
        value={value.checksum}
        onChange={(checksum) => set({ checksum })}
        mono
        required
        maxLength={71}
        problem={value.checksum && !isSum ? '64 hexadecimal digits, as sha256sum prints them.' : ''}
        hint="sha256sum headgate-agent prints it."
      />
      <Field
        label="Signature"
        value={value.signature}
        onChange={(signature) => set({ signature })}
        mono
        maxLength={88}
        hint="In base64, for agents that have a public key pinned. Others need none."
      />
    </>
  );
};

const MAX_LEFT = 8;

const LeftOut = ({ nodes, why }: { nodes: readonly NodeSummary[]; why: ReadonlyMap<string, string> }) => {
  const left = nodes.filter(({ id }) => why.has(id));
  const [only] = left;
  if (!only) return null;
  if (nodes.length === 1) {
    return (
      <p className="notice" data-tone="held" role="status">
        <Icon name="warning" size={14} />
        <span>
          {only.name}: {why.get(only.id)}.
        </span>
      </p>
    );
  }
  return (
    <details className="left-out">
      <summary>{plural(left.length, 'node is', 'nodes are')} left out</summary>
      <ul>
        {left.slice(0, MAX_LEFT).map(({ id, name }) => (
          <li key={id}>
            {name}: {why.get(id)}
          </li>
        ))}
        {left.length > MAX_LEFT && <li>and {left.length - MAX_LEFT} more</li>}
      </ul>
    </details>
  );
};

const InContainer = ({ close }: { close: () => void }) => (
  <div className="form">
    <p>
      This agent runs in a container, which does not change itself. Pull a newer image and start the container
      anew, for example:
    </p>
    <pre className="mono code-lines">docker compose pull &amp;&amp; docker compose up -d</pre>
    <p className="muted">Keep its data directory in a volume: then it is the same node afterwards.</p>
    <div className="form-actions">
      <button type="button" className="button" data-kind="primary" onClick={close}>
        Close
      </button>
    </div>
  </div>
);
