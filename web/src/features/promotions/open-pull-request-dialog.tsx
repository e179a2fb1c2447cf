import { useState } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Field, TextAreaField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { usePromotionMutation } from './promotion-mutations.ts';

interface Props {
  /** The branch that it is to come into. */
  base: string;
  close: () => void;
}

/** Opens a pull request for a branch that was pushed, and leads to it. */
export const OpenPullRequestDialog = ({ base, close }: Props) => {
  const { environment } = usePlace();
  const navigate = useNavigate();
  const [branch, setBranch] = useState('');
  const [title, setTitle] = useState('');
  const [body, setBody] = useState('');
  const open = usePromotionMutation({
    run: () =>
      api.pullRequest.open.mutate({
        environmentId: environment.id,
        branch: branch.trim(),
        title: title.trim(),
        ...(body.trim() ? { body } : {}),
      }),
    done: ({ number }) => `Pull request #${number} is open: it is planned now.`,
    after: ({ number }) => void navigate(paths.pullRequest(environment.id, number)),
  });
  return (
    <Dialog title="Open a pull request" opened close={close} size="lg">
      <MutationForm
        mutation={open}
        close={close}
        submit="Open it"
        working="Opening…"
        disabled={branch.trim() === '' || title.trim() === ''}
        autoComplete="off"
      >
        <p className="muted">
          It asks to bring a branch into <span className="mono">{base}</span>. Nothing is applied before it is
          merged.
        </p>
        <Field
          label="Branch"
          value={branch}
          onChange={setBranch}
          required
          autoFocus
          mono
          maxLength={255}
          placeholder="my-change"
          hint="One that was pushed already."
        />
        <Field label="Title" value={title} onChange={setTitle} required maxLength={200} />
        <TextAreaField
          label="Description"
          value={body}
          onChange={setBody}
          rows={5}
          maxLength={20_000}
          hint="Why it is needed, and what a reviewer should look at. Markdown."
        />
      </MutationForm>
    </Dialog>
  );
};
