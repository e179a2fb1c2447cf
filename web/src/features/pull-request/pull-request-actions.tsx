import { type ReactNode, useState } from 'react';
import type { PullRequest } from '../../../../schemas/api/delivery/pull-requests.ts';
import { api } from '../../api/client.ts';
import { useHotkeys } from '../../app/hotkeys.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Button, ButtonAnchor, IconButton } from '../../ui/primitives/button.tsx';
import { Icon, type IconName } from '../../ui/primitives/icons.tsx';
import { sentence } from '../../ui/text/format.ts';
import { safeUrl } from '../promotions/forge-anchor.tsx';
import { usePromotionMutation } from '../promotions/promotion-mutations.ts';
import { FORGE_LABELS } from '../promotions/promotion-text.ts';
import {
  AutoMergeDialog,
  CloseDialog,
  EditDialog,
  MergeDialog,
  ReviewDialog,
} from './pull-request-dialogs.tsx';

type Opened = 'approve' | 'request-changes' | 'merge' | 'auto-merge' | 'close' | 'edit';

interface Props {
  pull: PullRequest;
  /** The commit that is read. */
  head: string;
  /** What merging does to the environment; null where it is not known. */
  touches: string | null;
}

interface Acts {
  /** Beside the heading. */
  buttons: ReactNode;
  /** Changes title and description; null where nobody may here. */
  edit: ReactNode;
  /** Why what is switched off is so, in words that are seen. */
  refusals: ReactNode;
  dialogs: ReactNode;
}

/** The actions that the current user may take. */
export function usePullRequestActs({ pull, head, touches }: Props): Acts {
  const { team, environment } = usePlace();
  const [opened, setOpened] = useState<Opened | null>(null);
  const isOurs = pull.forge === 'headgate';
  const isOpen = pull.state === 'open';
  const mayNot = whyNot(team.role, 'EDITOR');
  const href = safeUrl(pull.url);
  const may = (what: 'review' | 'merge'): boolean =>
    isOurs && isOpen && mayNot === null && pull[what].refusal === null;
  useHotkeys({
    a: () => may('review') && setOpened('approve'),
    m: () => may('merge') && setOpened('merge'),
    o: () => {
      if (href && !isOurs) window.open(href, '_blank', 'noreferrer');
    },
  });
  const reopen = usePromotionMutation({
    run: () => api.pullRequest.reopen.mutate({ environmentId: environment.id, number: pull.number }),
    done: () => `#${pull.number} is open again.`,
    failed: `#${pull.number} was not reopened`,
  });
  const leaveOpen = usePromotionMutation({
    run: () =>
      api.pullRequest.autoMerge.mutate({
        ...{ environmentId: environment.id, number: pull.number, headSha: pull.headSha },
        enabled: false,
      }),
    done: () => `#${pull.number} is not merged by itself.`,
    failed: `#${pull.number} is still merged by itself`,
  });
  const close = (): void => setOpened(null);
  const button = (word: string, icon: IconName, what: Opened, off = false, primary = false): ReactNode => (
    <Button icon={icon} kind={primary ? 'primary' : undefined} disabled={off} onClick={() => setOpened(what)}>
      {word}
    </Button>
  );
  const outside = !isOurs && href && (
    <ButtonAnchor
      icon="leave"
      href={href}
      target="_blank"
      rel="noreferrer"
      kind={isOpen ? 'primary' : undefined}
    >
      {isOpen ? 'Review it' : 'See it'} on {FORGE_LABELS[pull.forge]}
    </ButtonAnchor>
  );
  return {
    buttons: (
      <>
        {mayNot === null && isOurs && isOpen && (
          <>
            {button('Approve…', 'check', 'approve', !may('review'))}
            {button('Ask for changes…', 'pencil', 'request-changes', !may('review'))}
            {button('Merge…', 'promotions', 'merge', !may('merge'), true)}
          </>
        )}
        {outside}
        {mayNot === null &&
          isOpen &&
          pull.autoMerge === false &&
          button('Merge when checks pass…', 'promotions', 'auto-merge')}
        {mayNot === null && isOpen && pull.autoMerge === true && (
          <Button icon="cross" disabled={leaveOpen.isPending} onClick={() => leaveOpen.mutate()}>
            Do not merge it by itself
          </Button>
        )}
        {mayNot === null && isOpen && button('Close…', 'cross', 'close')}
        {mayNot === null && isOurs && pull.state === 'closed' && (
          <Button icon="undo" disabled={reopen.isPending} onClick={() => reopen.mutate()}>
            {reopen.isPending ? 'Reopening…' : 'Reopen'}
          </Button>
        )}
      </>
    ),
    edit:
      mayNot === null && isOurs ? (
        <IconButton
          icon="pencil"
          size={14}
          label="Change title and description"
          tip="Change title and description"
          onClick={() => setOpened('edit')}
        />
      ) : null,
    refusals: isOpen && isOurs && (
      <Refusals
        lines={
          mayNot
            ? [['', mayNot]]
            : [
                ['Merge', pull.merge.refusal],
                ['Review', pull.review.refusal],
              ]
        }
      />
    ),
    dialogs: (
      <>
        {(opened === 'approve' || opened === 'request-changes') && (
          <ReviewDialog pull={pull} head={head} close={close} verdict={opened} />
        )}
        {opened === 'merge' && <MergeDialog pull={pull} head={head} close={close} touches={touches} />}
        {opened === 'auto-merge' && <AutoMergeDialog pull={pull} head={head} close={close} />}
        {opened === 'close' && <CloseDialog pull={pull} close={close} />}
        {opened === 'edit' && <EditDialog pull={pull} close={close} />}
      </>
    ),
  };
}

const Refusals = ({ lines }: { lines: readonly (readonly [what: string, why: string | null])[] }) => {
  const shown = lines.filter((line): line is readonly [string, string] => line[1] !== null);
  if (shown.length === 0) return null;
  return (
    <ul className="refusals" aria-label="What cannot be done now">
      {shown.map(([what, why]) => (
        <li key={what}>
          <Icon name="held" size={14} />
          <span>
            {what && <strong>{what}: </strong>}
            {sentence(why)}
          </span>
        </li>
      ))}
    </ul>
  );
};
