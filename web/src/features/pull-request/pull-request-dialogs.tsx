import { Checkbox } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Static } from 'typebox';
import type {
  MergeMethod,
  PullRequest,
  PullRequestReview,
} from '../../../../schemas/api/delivery/pull-requests.ts';
import { MERGE_METHODS } from '../../../../schemas/api/delivery/pull-requests.ts';
import { api } from '../../api/client.ts';
import { isProduction, usePlace } from '../../app/scope.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { Field, SelectField, TextAreaField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { RadioField } from '../../ui/form/radio-field.tsx';
import { Commit } from '../../ui/primitives/copyable.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { usePromotionMutation } from '../promotions/promotion-mutations.ts';
import { FORGE_LABELS } from '../promotions/promotion-text.ts';
import { isSend } from './conversation.tsx';
import { METHODS } from './review.ts';

interface Props {
  pull: PullRequest;
  /** The commit that was read: a verdict and a merge are about it and no other. */
  head: string;
  close: () => void;
}

/** Said in a dialog that is open when somebody pushes: what it would send is refused. */
const Moved = ({ pull, head }: Pick<Props, 'pull' | 'head'>) =>
  pull.headSha === head ? null : (
    <Notice icon="warning" tone="held" role="alert">
      New commits were pushed while you read. Close this, look again, then decide.
    </Notice>
  );

/** Sends the form around a text with Ctrl-Enter. */
const SendByKey = ({ children }: { children: ReactNode }) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: it hears Ctrl-Enter of the text area inside.
  <div
    onKeyDown={(event) => {
      if (isSend(event)) event.currentTarget.closest('form')?.requestSubmit();
    }}
  >
    {children}
  </div>
);

type Verdict = Static<typeof PullRequestReview>['verdict'];

export const ReviewDialog = ({ pull, head, close, verdict }: Props & { verdict: Verdict }) => {
  const { environment } = usePlace();
  const [body, setBody] = useState('');
  const approves = verdict === 'approve';
  const review = usePromotionMutation({
    run: () =>
      api.pullRequest.review.mutate({
        environmentId: environment.id,
        number: pull.number,
        verdict,
        headSha: head,
        ...(body.trim() ? { body } : {}),
      }),
    done: () =>
      approves ? `You have approved #${pull.number}.` : `You have asked for changes of #${pull.number}.`,
    after: close,
  });
  return (
    <Dialog
      title={approves ? `Approve #${pull.number}` : `Ask for changes of #${pull.number}`}
      opened
      close={close}
    >
      <MutationForm
        mutation={review}
        close={close}
        submit={approves ? 'Approve' : 'Ask for changes'}
        working="Sending…"
        disabled={pull.headSha !== head || (!approves && body.trim() === '')}
      >
        <p>
          {approves ? 'You have looked at ' : 'It is not merged as it stands at '}
          <Commit sha={head} />
          {approves
            ? ': another commit on the branch makes this history.'
            : ' before you approve it, or until another commit is pushed.'}
        </p>
        <SendByKey>
          <TextAreaField
            label={approves ? 'A word to it' : 'What is to change'}
            value={body}
            onChange={setBody}
            rows={4}
            maxLength={20_000}
            autoFocus
            required={!approves}
          />
        </SendByKey>
        <Moved pull={pull} head={head} />
      </MutationForm>
    </Dialog>
  );
};

/** `touches`: what merging does to the environment, as far as it is known. */
export const MergeDialog = ({ pull, head, close, touches }: Props & { touches: string | null }) => {
  const { environment } = usePlace();
  const [method, setMethod] = useState<MergeMethod>('merge');
  const [deleteBranch, setDeleteBranch] = useState(true);
  const merge = usePromotionMutation({
    run: () =>
      api.pullRequest.merge.mutate({
        environmentId: environment.id,
        number: pull.number,
        method,
        headSha: head,
        deleteBranch,
      }),
    done: ({ mergeSha }) => `#${pull.number} is merged into ${pull.base} as ${mergeSha.slice(0, 7)}.`,
    after: close,
  });
  const check = pull.checks.find(({ environmentId }) => environmentId === environment.id);
  const others = pull.checks.filter(({ environmentId }) => environmentId !== environment.id);
  return (
    <Dialog title={`Merge #${pull.number} into ${pull.base}`} opened close={close} size="lg">
      <MutationForm
        mutation={merge}
        close={close}
        submit={`Merge into ${pull.base}`}
        working="Merging…"
        disabled={pull.headSha !== head}
        confirm={isProduction(environment) ? environment.name : null}
      >
        <p>
          {environment.name} follows <span className="mono">{pull.base}</span>: it applies this at once.{' '}
          {touches ?? 'What it changes there is not known yet.'}
        </p>
        {check && check.state !== 'success' && (
          <Notice icon="warning" tone={check.state === 'failure' ? 'failed' : 'held'}>
            The check of {environment.name} does not pass: {check.summary}
          </Notice>
        )}
        {others.length > 0 && (
          <ul className="plain-list muted" aria-label="Other environments">
            {others.map(({ environmentId, environmentName, summary }) => (
              <li key={environmentId}>
                {environmentName} follows it as well: {summary}
              </li>
            ))}
          </ul>
        )}
        <RadioField
          label="How"
          value={method}
          options={MERGE_METHODS.map((value) => ({
            value,
            word: METHODS[value].word,
            hint: METHODS[value].means(pull.base),
          }))}
          onChange={setMethod}
        />
        <Checkbox
          checked={deleteBranch}
          onChange={(event) => setDeleteBranch(event.target.checked)}
          label={
            <>
              Delete the branch <span className="mono breakable">{pull.branch}</span> afterwards
            </>
          }
        />
        <Moved pull={pull} head={head} />
      </MutationForm>
    </Dialog>
  );
};

/** Of one on a forge, which has the rules: approvals, checks, and who may. */
export const AutoMergeDialog = ({ pull, head, close }: Props) => {
  const { environment } = usePlace();
  const [method, setMethod] = useState<MergeMethod>('merge');
  const forge = FORGE_LABELS[pull.forge];
  const ask = usePromotionMutation({
    run: () =>
      api.pullRequest.autoMerge.mutate({
        ...{ environmentId: environment.id, number: pull.number, headSha: head },
        ...{ enabled: true, method },
      }),
    done: () => `${forge} merges #${pull.number} once it may.`,
    after: close,
  });
  return (
    <Dialog title={`Merge #${pull.number} when its checks pass`} opened close={close}>
      <MutationForm
        mutation={ask}
        close={close}
        submit="Merge when checks pass"
        working={`Asking ${forge}…`}
        disabled={pull.headSha !== head}
        confirm={isProduction(environment) ? environment.name : null}
      >
        <p>
          {forge} merges <Commit sha={head} /> into <span className="mono">{pull.base}</span> once all is
          there that the branch asks for there: approvals, checks, conversations. Where nothing is missing it
          does so at once, and {environment.name} applies it.
        </p>
        <SelectField
          label="How"
          value={method}
          onChange={setMethod}
          options={MERGE_METHODS.map((value) => ({ value, word: METHODS[value].word }))}
          hint={
            pull.forge === 'gitlab'
              ? 'GitLab merges by the method of the project; a squash is asked for.'
              : ''
          }
        />
        <Moved pull={pull} head={head} />
      </MutationForm>
    </Dialog>
  );
};

export const CloseDialog = ({ pull, close }: Omit<Props, 'head'>) => {
  const { environment } = usePlace();
  const run = usePromotionMutation({
    run: () => api.pullRequest.close.mutate({ environmentId: environment.id, number: pull.number }),
    done: () => `#${pull.number} is closed.`,
    after: close,
  });
  return (
    <Dialog title={`Close #${pull.number} without merging it`} opened close={close} size="sm">
      <MutationForm
        mutation={run}
        close={close}
        submit="Close it"
        working="Closing…"
        danger
        cancel="Keep it open"
      >
        <p>
          Nothing of it comes into <span className="mono">{pull.base}</span>.{' '}
          {pull.promotionId ? 'Its branch is deleted, unless the binding says otherwise' : 'Its branch stays'}
          {pull.forge === 'headgate'
            ? ', and it can be reopened.'
            : `; it is closed on ${FORGE_LABELS[pull.forge]}.`}
          {pull.promotionId && ' The promotion that it is for is cancelled.'}
        </p>
      </MutationForm>
    </Dialog>
  );
};

export const EditDialog = ({ pull, close }: Omit<Props, 'head'>) => {
  const { environment } = usePlace();
  // The page follows what others change meanwhile: what is untouched here is not sent over theirs.
  const [before] = useState({ title: pull.title, body: pull.body });
  const [title, setTitle] = useState(before.title);
  const [body, setBody] = useState(before.body);
  const edit = usePromotionMutation({
    run: () =>
      api.pullRequest.edit.mutate({
        environmentId: environment.id,
        number: pull.number,
        ...(title === before.title ? {} : { title: title.trim() }),
        ...(body === before.body ? {} : { body }),
      }),
    done: () => `#${pull.number} says it now.`,
    after: close,
  });
  return (
    <Dialog title={`Title and description of #${pull.number}`} opened close={close} size="lg">
      <MutationForm
        mutation={edit}
        close={close}
        submit="Save"
        working="Saving…"
        disabled={title.trim() === '' || (title === before.title && body === before.body)}
      >
        <Field label="Title" value={title} onChange={setTitle} required maxLength={200} autoFocus />
        <SendByKey>
          <TextAreaField
            label="Description"
            value={body}
            onChange={setBody}
            rows={10}
            maxLength={20_000}
            hint="Markdown. Ctrl-Enter saves it."
          />
        </SendByKey>
      </MutationForm>
    </Dialog>
  );
};
