/** What nodes would get of the releases that this controller serves. */
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import type { Versions } from '../../../../../schemas/api/fleet/releases.ts';
import { formatBytes, plural } from '../../../ui/text/format.ts';
import { fileFor, type Libc, releaseFor } from './agent-release.ts';

interface ReleaseProps {
  nodes: readonly NodeSummary[];
  versions: Versions;
  libc: Libc;
}

/** What the nodes would get: of one node the very file, of several the release of each channel. */
export const Release = ({ nodes, versions, libc }: ReleaseProps) => {
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
