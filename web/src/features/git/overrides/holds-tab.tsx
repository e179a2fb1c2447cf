import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { GitSyncStatus, ManifestStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import type { GitHold, GitWord } from '../../../../../schemas/api/delivery/git-words.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Copyable } from '../../../ui/primitives/copyable.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { sentence } from '../../../ui/text/format.ts';
import { type GitObject, isOwnable, nameOfObject } from '../git-object.ts';
import { isSuspendedInGit, waitsForDeletion } from '../git-problem.ts';
import { ObjectName } from '../object-name.tsx';
import { ChooseHoldDialog, ConfirmPruneDialog, HoldDialog, SuspendDialog } from './override-dialogs.tsx';
import { useResume, useWord } from './override-mutations.ts';

type Opened = { word: 'suspend' | 'choose' } | { word: 'hold' | 'prune'; object: GitObject };

/** Everything that people have said against the loop's own will, with who and why. */
export const HoldsTab = ({ status }: { status: GitSyncStatus }) => {
  const { team } = usePlace();
  const env = status.environmentId;
  const holds = useQuery(queries.gitHolds(env));
  const [opened, setOpened] = useState<Opened | null>(null);
  const mayNot = whyNot(team.role, 'EDITOR');
  const close = (): void => setOpened(null);
  const owned = status.manifests.filter(({ kind }) => isOwnable(kind));
  const begin = (label: string, word: 'suspend' | 'choose'): ReactNode => (
    <Button
      icon="held"
      disabled={mayNot !== null || (owned.length === 0 && (word === 'choose' || status.suspended))}
      tip={mayNot ?? undefined}
      onClick={() => setOpened({ word })}
    >
      {label}
    </Button>
  );
  return (
    <Stack gap="md">
      <div className="tab-head">
        <p className="muted">
          A hold keeps back one version of one object; a suspension has git leave something alone until
          somebody resumes it.
        </p>
        <span className="button-row">
          {begin('Hold an object…', 'choose')}
          {begin('Suspend…', 'suspend')}
        </span>
      </div>
      <Loaded query={holds} what="Holds" skeleton={<SkeletonRows rows={4} label="Loading the holds" />}>
        {(said) => <Lists status={status} said={said} mayNot={mayNot} open={setOpened} />}
      </Loaded>
      {opened?.word === 'suspend' && (
        <SuspendDialog env={env} manifests={owned} isAllSuspended={status.suspended} close={close} />
      )}
      {opened?.word === 'choose' && (
        <ChooseHoldDialog
          manifests={owned}
          choose={(object) => setOpened({ word: 'hold', object })}
          close={close}
        />
      )}
      {opened?.word === 'hold' && <HoldDialog env={env} object={opened.object} close={close} />}
      {opened?.word === 'prune' && <ConfirmPruneDialog env={env} object={opened.object} close={close} />}
    </Stack>
  );
};

interface ListsProps {
  status: GitSyncStatus;
  said: { holds: readonly GitHold[]; words: readonly GitWord[] };
  mayNot: string | null;
  open: (opened: Opened) => void;
}

const Lists = ({ status, said: { holds, words }, mayNot, open }: ListsProps) => {
  const { team } = usePlace();
  const env = status.environmentId;
  const resume = useResume(env);
  const release = useWord<GitHold>({
    run: ({ id }) => api.gitSync.releaseHold.mutate({ environmentId: env, id }),
    done: (hold) => `${nameOfObject(hold)} is released: git's version is applied with the next pass.`,
    failed: (hold) => `${nameOfObject(hold)} was not released`,
  });
  const of = (word: GitWord['word']): GitWord[] => words.filter((each) => each.word === word);
  const suspended = of('suspend');
  const adoptions = of('adopt');
  const confirmed = new Set(of('prune').map(({ kind, name }) => `${kind}/${name}`));
  const leaving = status.manifests.filter(waitsForDeletion);
  const inGit = status.manifests.filter(isSuspendedInGit);
  const nameOf = ({ kind, name }: Pick<ManifestStatus, 'kind' | 'name'>): ReactNode => {
    const known = status.manifests.find((each) => each.kind === kind && each.name === name);
    return <ObjectName env={env} kind={kind} name={name} objectId={known?.objectId ?? null} />;
  };
  const { suspension } = status;
  if (!suspension && holds.length + words.length + leaving.length + inGit.length === 0) {
    return (
      <EmptyState icon="held" title="Nothing is held or suspended">
        <p>
          Git decides alone. Rolling a pipeline back, or stopping it with a hold, puts it here; so does
          “Hold…” at a manifest.
        </p>
      </EmptyState>
    );
  }
  const mayNotDelete = whyNot(team.role, 'ADMIN');
  const button = (word: string, of: string, run: () => void, whyOff: string | null): ReactNode => (
    <Button
      size="small"
      disabled={whyOff !== null || resume.isPending || release.isPending}
      tip={whyOff ?? undefined}
      onClick={run}
    >
      {word}
      <span className="sr-only"> {of}</span>
    </Button>
  );
  return (
    <>
      <Group title="Suspended" count={suspended.length + inGit.length + (suspension ? 1 : 0)}>
        {suspension && (
          <Line
            what={<strong>The whole loop</strong>}
            who={suspension.by}
            at={suspension.at}
            why={suspension.reason}
          >
            {button('Resume', 'the whole loop', () => resume.mutate(null), mayNot)}
          </Line>
        )}
        {suspended.map((word) => (
          <Line
            key={`${word.kind}/${word.name}`}
            what={nameOf(word)}
            who={word.by}
            at={word.at}
            why={word.reason}
          >
            {button('Resume', word.name, () => resume.mutate({ kind: word.kind, name: word.name }), mayNot)}
          </Line>
        ))}
        {inGit.map(({ kind, name, path, line }) => (
          <Line
            key={`${kind}/${name}`}
            what={nameOf({ kind, name })}
            who={null}
            at={null}
            why="Its manifest says spec.suspend: true; it is resumed there."
          >
            <span className="mono muted">
              {path}:{line}
            </span>
          </Line>
        ))}
      </Group>
      <Group title="Held" count={holds.length}>
        {holds.map((hold) => (
          <Line
            key={hold.id}
            what={nameOf(hold)}
            who={hold.by}
            at={hold.at}
            why={hold.reason}
            beside={
              <>
                <Badge
                  tone={hold.current ? 'held' : 'unknown'}
                  tip={
                    hold.current
                      ? 'Git still has this very version'
                      : 'Git has moved on: the newer version is taken, and the hold does nothing'
                  }
                >
                  {hold.current ? 'holds' : 'passed by'}
                </Badge>
                <Copyable value={hold.specHash} label="hash of the spec">
                  {hold.specHash.slice(0, 8)}
                </Copyable>
              </>
            }
          >
            {button('Release', hold.name, () => release.mutate(hold), mayNot)}
          </Line>
        ))}
      </Group>
      <Group title="Waiting to be deleted" count={leaving.length}>
        {leaving.map((manifest) => {
          const { kind, name } = manifest;
          const applied = manifest.conditions.find(({ type }) => type === 'Applied');
          const isConfirmed = confirmed.has(`${kind}/${name}`);
          return (
            <Line
              key={`${kind}/${name}`}
              what={nameOf(manifest)}
              who={null}
              at={applied?.lastTransition ?? null}
              why={applied?.message ?? ''}
            >
              {isConfirmed ? (
                <Badge tone="moving">with the next pass</Badge>
              ) : (
                isOwnable(kind) &&
                button('Delete…', name, () => open({ word: 'prune', object: { kind, name } }), mayNotDelete)
              )}
            </Line>
          );
        })}
      </Group>
      <Group title="Being adopted" count={adoptions.length}>
        {adoptions.map((word) => (
          <Line
            key={`${word.kind}/${word.name}`}
            what={nameOf(word)}
            who={word.by}
            at={word.at}
            why={word.reason}
          >
            <Badge tone="moving">with the next pass</Badge>
          </Line>
        ))}
      </Group>
    </>
  );
};

/** Nothing is shown where there is none. */
const Group = ({ title, count, children }: { title: string; count: number; children: ReactNode }) =>
  count === 0 ? null : (
    <Section title={`${title} · ${count}`}>
      <ul className="said" aria-label={title}>
        {children}
      </ul>
    </Section>
  );

interface LineProps {
  what: ReactNode;
  who: string | null;
  at: Date | null;
  why: string | null;
  beside?: ReactNode;
  /** What can be done about it. */
  children: ReactNode;
}

const Line = ({ what, who, at, why, beside, children }: LineProps) => (
  <li>
    <span className="said-what">
      <span>{what}</span>
      {beside}
    </span>
    <span className="said-why">{why ? sentence(why) : <span className="muted">no reason given</span>}</span>
    <span className="said-who muted">
      {who ?? ''} {at && <Time at={at} />}
    </span>
    <span className="said-act">{children}</span>
  </li>
);
