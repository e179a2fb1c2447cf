import { type ReactNode, useState } from 'react';
import type { PullRequest } from '../../../../schemas/api/pull-requests.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/environment.tsx';
import { useHotkeys } from '../../app/hotkeys.ts';
import { sentence } from '../../components/format.ts';
import { Icon, type IconName } from '../../components/icons.tsx';
import { whyNot } from '../fleet/may.ts';
import { safeUrl } from '../promotions/forge-out.tsx';
import { usePromotionWord } from '../promotions/use-promotion.ts';
import { FORGE_WORDS } from '../promotions/words.ts';
import { AutoMergeDialog, CloseDialog, EditDialog, MergeDialog, ReviewDialog } from './dialogs.tsx';

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

/** What may be done with it, by whoever looks. */
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
  const reopen = usePromotionWord({
    run: () => api.pullRequest.reopen.mutate({ environmentId: environment.id, number: pull.number }),
    done: () => `#${pull.number} is open again.`,
    failed: `#${pull.number} was not reopened`,
  });
  const leaveOpen = usePromotionWord({
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
    <button
      type="button"
      className="button"
      data-kind={primary ? 'primary' : undefined}
      disabled={off}
      onClick={() => setOpened(what)}
    >
      <Icon name={icon} size={14} /> {word}
    </button>
  );
  const outside = !isOurs && href && (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="button"
      data-kind={isOpen ? 'primary' : undefined}
    >
      <Icon name="leave" size={14} /> {isOpen ? 'Review it' : 'See it'} on {FORGE_WORDS[pull.forge]}
    </a>
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
          <button
            type="button"
            className="button"
            disabled={leaveOpen.isPending}
            onClick={() => leaveOpen.mutate()}
          >
            <Icon name="cross" size={14} /> Do not merge it by itself
          </button>
        )}
        {mayNot === null && isOpen && button('Close…', 'cross', 'close')}
        {mayNot === null && isOurs && pull.state === 'closed' && (
          <button
            type="button"
            className="button"
            disabled={reopen.isPending}
            onClick={() => reopen.mutate()}
          >
            <Icon name="undo" size={14} /> {reopen.isPending ? 'Reopening…' : 'Reopen'}
          </button>
        )}
      </>
    ),
    edit:
      mayNot === null && isOurs ? (
        <button
          type="button"
          className="icon-button"
          aria-label="Change title and description"
          data-tip="Change title and description"
          onClick={() => setOpened('edit')}
        >
          <Icon name="pencil" size={14} />
        </button>
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
  const said = lines.filter((line): line is readonly [string, string] => line[1] !== null);
  if (said.length === 0) return null;
  return (
    <ul className="refusals" aria-label="What cannot be done now">
      {said.map(([what, why]) => (
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
