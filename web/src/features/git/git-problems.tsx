import { useState } from 'react';
import { Link, useLocation } from 'react-router';
import { BROKEN_PASS, type GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { paths } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Banner } from '../../ui/feedback/banner.tsx';
import { TONE_ICON } from '../../ui/primitives/badge.tsx';
import { Button, ButtonLink } from '../../ui/primitives/button.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { sentence } from '../../ui/text/format.ts';
import type { GitObject } from './git-object.ts';
import { type WrongAction, whatIsWrong } from './git-problem.ts';
import { AdoptDialog } from './overrides/override-dialogs.tsx';
import { useResume, useSyncNow } from './overrides/override-mutations.ts';

/** By harm, each with the one thing to do about it; nothing but a calm line when all is well. */
export const WrongNow = ({ status }: { status: GitSyncStatus }) => {
  const [adopting, setAdopting] = useState<GitObject | null>(null);
  const wrong = whatIsWrong(status);
  return (
    <>
      <RepositoryFault status={status} />
      <Redirect status={status} />
      {wrong.length > 0 ? (
        <section className="section" aria-label="Wrong now">
          <ul className="wrong" aria-label="Wrong now">
            {wrong.map(({ key, tone, title, note, action }) => (
              <li key={key} data-tone={tone}>
                <Icon name={TONE_ICON[tone]} />
                <span className="wrong-text">
                  <strong>{title}</strong>
                  <span className="muted">{note}</span>
                </span>
                <Act env={status.environmentId} action={action} adopt={setAdopting} />
              </li>
            ))}
          </ul>
        </section>
      ) : (
        !status.lastError && <Calm status={status} />
      )}
      {adopting && (
        <AdoptDialog env={status.environmentId} object={adopting} close={() => setAdopting(null)} />
      )}
    </>
  );
};

const Calm = ({ status }: { status: GitSyncStatus }) => {
  if (!status.headCommit) return null;
  const text =
    status.mode === 'sync'
      ? 'What git wants is what was accepted.'
      : status.mode === 'observe'
        ? 'Nothing is wrong with what git holds. The binding only observes: nothing is applied.'
        : null;
  if (!text) return null;
  return (
    <p className="calm-note git-calm" role="status">
      <Icon name="check" /> {text}
    </p>
  );
};

interface ActProps {
  env: string;
  action: WrongAction;
  adopt: (object: GitObject) => void;
}

const Act = ({ env, action, adopt }: ActProps) => {
  const { team } = usePlace();
  const sync = useSyncNow(env);
  const resume = useResume(env);
  const { pathname, search } = useLocation();
  if (action.kind === 'look') {
    if (action.to === pathname + search) return null;
    return (
      <ButtonLink to={action.to} size="small">
        {action.word}
      </ButtonLink>
    );
  }
  const mayNot = whyNot(team.role, 'EDITOR');
  const [word, run, isPending] = {
    sync: ['Sync now', () => sync.mutate(), sync.isPending] as const,
    resume: ['Resume', () => resume.mutate(null), resume.isPending] as const,
    adopt: ['Adopt…', () => action.kind === 'adopt' && adopt(action.object), false] as const,
  }[action.kind];
  return (
    <Button size="small" disabled={mayNot !== null || isPending} tip={mayNot ?? undefined} onClick={run}>
      {word}
    </Button>
  );
};

/** It works; and ends once somebody else takes the old address. */
const Redirect = ({ status }: { status: GitSyncStatus }) => {
  if (!status.redirectedTo) return null;
  return (
    <Banner tone="held" title="The repository has another address">
      <p>
        The server redirects to <code>{status.redirectedTo}</code>, which is followed. Write it into the{' '}
        <Link to={paths.git(status.environmentId, { tab: 'settings' })}>settings</Link>: redirects of renamed
        repositories end.
      </p>
    </Banner>
  );
};

/** The repository as a whole, beside which a single manifest's problem is small. */
const RepositoryFault = ({ status }: { status: GitSyncStatus }) => {
  if (!status.lastError) return null;
  return (
    <Banner
      tone="failed"
      title={
        status.lastError.startsWith(BROKEN_PASS)
          ? 'The last pass broke off'
          : 'The repository could not be read'
      }
    >
      <p className="banner-cause">{sentence(status.lastError)}</p>
      <p>
        Nothing is deleted meanwhile. Last tried <Time at={status.lastSyncAt} />: “Sync now” tries again at
        once, and the <Link to={paths.git(status.environmentId, { tab: 'settings' })}>settings</Link> say what
        is read.
      </p>
    </Banner>
  );
};
