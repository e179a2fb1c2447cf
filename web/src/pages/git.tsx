import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { GitSyncStatus } from '../../../schemas/api/git-sync.ts';
import { api } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { Banner } from '../components/banner.tsx';
import { Badge, Commit, Copyable, Fact, Time, type Tone } from '../components/bits.tsx';
import { environmentCause } from '../components/causes.ts';
import { CommandBlock } from '../components/command-block.tsx';
import { sentence } from '../components/format.ts';
import { GateStrip } from '../components/gate-strip.tsx';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, InlineError, Loaded, SkeletonBlock } from '../components/states.tsx';
import { ConfigureGit } from './git/configure.tsx';
import { ImportErrors } from './git/import-errors.tsx';
import { Manifests } from './git/manifests.tsx';
import { Passes } from './git/passes.tsx';

const MODE: Record<GitSyncStatus['mode'], { tone: Tone; word: string; means: string }> = {
  off: { tone: 'unknown', word: 'Off', means: 'Git is not read.' },
  observe: { tone: 'held', word: 'Observe', means: 'Commits are read and planned, nothing is applied.' },
  sync: { tone: 'ok', word: 'Sync', means: 'What is committed is applied.' },
  push: { tone: 'moving', word: 'Push', means: 'The database is written to git as a backup.' },
};

export const GitPage = () => {
  const { environment, team } = usePlace();
  const queryClient = useQueryClient();
  const [configuring, setConfiguring] = useState(false);
  const status = useQuery(queries.git(environment.id));
  const sync = useMutation({
    mutationFn: () => api.gitSync.syncNow.mutate({ environmentId: environment.id }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['gitSync.jobs', environment.id] }),
  });
  const mayEdit = team.role !== 'VIEWER';
  return (
    <Page
      title="Git"
      beside={status.data?.configured && <ModeBadge status={status.data} />}
      actions={
        <>
          {team.role === 'ADMIN' && status.data?.configured && (
            <button type="button" className="button" onClick={() => setConfiguring(true)}>
              <Icon name="settings" /> Binding
            </button>
          )}
          <button
            type="button"
            className="button"
            data-kind="primary"
            disabled={!mayEdit || sync.isPending || !status.data?.configured}
            onClick={() => sync.mutate()}
          >
            <Icon name="sync" /> {sync.isPending ? 'Starting…' : 'Sync now'}
          </button>
        </>
      }
    >
      {sync.isError && <InlineError error={sync.error} />}
      <Loaded
        query={status}
        what="The git binding"
        skeleton={
          <div className="page">
            <SkeletonBlock height={190} label="Loading the binding" />
            <SkeletonBlock height={400} label="Loading the manifests" />
          </div>
        }
      >
        {(data) =>
          data.configured ? (
            <>
              <RepositoryFault status={data} />
              <Binding status={data} />
              <ImportErrors environmentId={environment.id} />
              <Manifests environmentId={environment.id} manifests={data.manifests} status={data} />
              <Passes environmentId={environment.id} />
            </>
          ) : (
            <EmptyState icon="git" title="This environment is not bound to git">
              <p>
                Bind it to a folder of a repository: Headgate then makes the environment equal to what is
                committed there, and tells for every manifest how far it has come.
              </p>
              {team.role === 'ADMIN' ? (
                <button
                  type="button"
                  className="button"
                  data-kind="primary"
                  onClick={() => setConfiguring(true)}
                >
                  Bind to git
                </button>
              ) : (
                <p className="muted">Ask an administrator of {team.name} to bind it.</p>
              )}
            </EmptyState>
          )
        }
      </Loaded>
      {status.data && (
        <ConfigureGit
          environment={environment}
          status={status.data}
          opened={configuring}
          close={() => setConfiguring(false)}
        />
      )}
    </Page>
  );
};

const ModeBadge = ({ status }: { status: GitSyncStatus }) => {
  const mode = MODE[status.mode];
  return (
    <>
      <Badge tone={mode.tone} tip={mode.means}>
        {mode.word}
      </Badge>
      {status.suspended && <Badge tone="held">Suspended</Badge>}
    </>
  );
};

/** The repository as a whole, beside which a single manifest's problem is small. */
const RepositoryFault = ({ status }: { status: GitSyncStatus }) => {
  if (!status.lastError) return null;
  return (
    <Banner tone="failed" title="The repository could not be read">
      <p className="banner-cause">{sentence(status.lastError)}</p>
      <p>
        What was applied before keeps running, and nothing is deleted. Last read{' '}
        <Time at={status.lastSyncAt} />; Headgate tries again by itself, and at once by “Sync now”.
      </p>
    </Banner>
  );
};

const Binding = ({ status }: { status: GitSyncStatus }) => {
  const { environment } = usePlace();
  return (
    <div className="panel stack">
      <GateStrip
        gate={status.gate}
        of={environment.name}
        causeOf={environmentCause(environment.id)}
        size="large"
      />
      <dl className="facts">
        <Fact name="Clone address">
          {status.cloneUrl ? (
            <Copyable value={status.cloneUrl} label="clone address" />
          ) : (
            <span className="muted">none</span>
          )}
        </Fact>
        <Fact name="Branch">
          <span className="mono">{status.branch ?? '–'}</span>
        </Fact>
        <Fact name="Folder">
          <span className="mono">{status.path || '/'}</span>
        </Fact>
        <Fact name="Newest commit">
          {status.headCommit ? (
            <span className="commit-line">
              <Commit sha={status.headCommit.sha} />
              <span>{status.headCommit.subject}</span>
              <span className="muted nowrap">{status.headCommit.author}</span>
            </span>
          ) : (
            <span className="muted">none yet</span>
          )}
        </Fact>
        <Fact name="Last pass">
          <Time at={status.lastSyncAt} />
        </Fact>
      </dl>
      {!status.headCommit && status.cloneUrl && (
        <CommandBlock
          label="commands that clone the repository"
          lines={[
            `git clone ${status.cloneUrl} config`,
            'cd config',
            `mkdir -p ${status.path || '.'}/pipelines`,
          ]}
        />
      )}
    </div>
  );
};
