import { type KeyboardEvent, useRef, useState } from 'react';
import type { PullRequest } from '../../../../schemas/api/pull-requests.ts';
import { api } from '../../api/client.ts';
import { useHotkeys } from '../../app/hotkeys.ts';
import { Badge, Commit, Time } from '../../components/bits.tsx';
import { TextAreaField } from '../../components/field.tsx';
import { MarkdownText } from '../../components/markdown-text.tsx';
import { MutationForm } from '../../components/mutation-form.tsx';
import { Section } from '../../components/page.tsx';
import { usePromotionWord } from '../promotions/use-promotion.ts';
import { FORGE_WORDS } from '../promotions/words.ts';
import { type Said, saidIn } from './review.ts';

interface Props {
  env: string;
  pull: PullRequest;
  mayWrite: boolean;
}

/** What people say of it. */
export const Talk = ({ env, pull, mayWrite }: Props) => {
  const said = saidIn(pull);
  const isOurs = pull.forge === 'headgate';
  return (
    <Section title="Conversation">
      <ol className="talk" aria-label="Conversation">
        <li className="talk-entry">
          <p className="said-head">
            <strong>{pull.author}</strong> opened it <Time at={pull.createdAt} />
          </p>
        </li>
        {said.map((each) => (
          <SaidEntry key={each.id} said={each} />
        ))}
      </ol>
      {!isOurs && (
        <p className="section-body muted">
          Comments and reviews are read and written on {FORGE_WORDS[pull.forge]}.
        </p>
      )}
      {isOurs && mayWrite && <CommentForm env={env} number={pull.number} />}
    </Section>
  );
};

const SaidEntry = ({ said }: { said: Said }) => (
  <li className="talk-entry">
    <p className="said-head">
      <strong>{said.by}</strong>
      {said.kind === 'comment' ? (
        <span>said</span>
      ) : (
        <>
          <Badge tone={said.current ? (said.verdict === 'approve' ? 'ok' : 'failed') : 'unknown'}>
            {said.verdict === 'approve' ? 'Approved' : 'Changes wanted'}
          </Badge>
          <Commit sha={said.headSha} />
          {!said.current && <span className="muted">before the newest commits</span>}
        </>
      )}
      <Time at={said.at} />
    </p>
    {said.body.trim() !== '' && <MarkdownText text={said.body} />}
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
  const comment = usePromotionWord({
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
