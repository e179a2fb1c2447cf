import { type KeyboardEvent, useRef, useState } from 'react';
import type { PullRequest } from '../../../../schemas/api/delivery/pull-requests.ts';
import { api } from '../../api/client.ts';
import { useHotkeys } from '../../app/hotkeys.ts';
import { TextAreaField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Commit } from '../../ui/primitives/copyable.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { Markdown } from '../../ui/text/markdown.ts';
import { usePromotionMutation } from '../promotions/promotion-mutations.ts';
import { FORGE_LABELS } from '../promotions/promotion-text.ts';
import { type ConversationEntry, conversationOf } from './review.ts';

interface Props {
  env: string;
  pull: PullRequest;
  mayWrite: boolean;
}

/** Comments and reviews. */
export const Conversation = ({ env, pull, mayWrite }: Props) => {
  const entries = conversationOf(pull);
  const isOurs = pull.forge === 'headgate';
  return (
    <Section title="Conversation">
      <ol className="talk" aria-label="Conversation">
        <li className="talk-entry">
          <p className="entry-head">
            <strong>{pull.author}</strong> opened it <Time at={pull.createdAt} />
          </p>
        </li>
        {entries.map((each) => (
          <Entry key={each.id} entry={each} />
        ))}
      </ol>
      {!isOurs && (
        <p className="section-body muted">
          Comments and reviews are read and written on {FORGE_LABELS[pull.forge]}.
        </p>
      )}
      {isOurs && mayWrite && <CommentForm env={env} number={pull.number} />}
    </Section>
  );
};

const Entry = ({ entry }: { entry: ConversationEntry }) => (
  <li className="talk-entry">
    <p className="entry-head">
      <strong>{entry.by}</strong>
      {entry.kind === 'comment' ? (
        <span>commented</span>
      ) : (
        <>
          <Badge tone={entry.current ? (entry.verdict === 'approve' ? 'ok' : 'failed') : 'unknown'}>
            {entry.verdict === 'approve' ? 'Approved' : 'Changes wanted'}
          </Badge>
          <Commit sha={entry.headSha} />
          {!entry.current && <span className="muted">before the newest commits</span>}
        </>
      )}
      <Time at={entry.at} />
    </p>
    {entry.body.trim() !== '' && <Markdown text={entry.body} />}
  </li>
);

const MAX_COMMENT = 20_000;

const CommentForm = ({ env, number }: { env: string; number: number }) => {
  const [body, setBody] = useState('');
  const frame = useRef<HTMLDivElement>(null);
  useHotkeys({
    c: () => {
      const box = frame.current?.querySelector('textarea');
      box?.scrollIntoView({ block: 'center' });
      box?.focus({ preventScroll: true });
    },
  });
  const comment = usePromotionMutation({
    run: () => api.pullRequest.comment.mutate({ environmentId: env, number, body }),
    done: () => null,
    after: () => setBody(''),
  });
  const isEmpty = body.trim() === '';
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears Ctrl-Enter of the text area inside.
    <div
      ref={frame}
      className="comment-form"
      onKeyDown={(event) => {
        if (isSend(event) && !isEmpty && !comment.isPending) comment.mutate();
      }}
    >
      <MutationForm mutation={comment} submit="Comment" working="Sending…" disabled={isEmpty}>
        <TextAreaField
          label="Your comment"
          value={body}
          onChange={setBody}
          maxLength={MAX_COMMENT}
          rows={4}
          hint="Markdown. Ctrl-Enter sends it."
        />
      </MutationForm>
    </div>
  );
};

export const isSend = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' && (event.ctrlKey || event.metaKey);

export const Commits = ({ commits }: Pick<PullRequest, 'commits'>) => (
  <Section title={`Commits · ${commits.length}`}>
    <ul className="commits" aria-label="Commits">
      {commits.map(({ sha, author, subject, at }) => (
        <li key={sha}>
          <Commit sha={sha} />
          <span className="commit-subject">{subject}</span>
          <span className="muted nowrap">
            {author}, <Time at={at} />
          </span>
        </li>
      ))}
    </ul>
  </Section>
);
