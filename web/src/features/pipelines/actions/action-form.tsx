/** What every action on pipelines has in common. */
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { paths } from '../../../app/paths.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { BatchForm, type BatchFormProps } from '../../../ui/form/batch-form.tsx';
import { BECOMES, useUiEdits } from '../../ownership/git-edits.tsx';

interface Props extends Omit<BatchFormProps<PipelineSummary>, 'items' | 'noun' | 'hrefOf'> {
  env: string;
  pipelines: readonly PipelineSummary[];
}

export const ActionForm = ({ env, pipelines, ...rest }: Props) => (
  <BatchForm items={pipelines} noun="pipeline" hrefOf={({ id }) => paths.pipeline(env, id)} {...rest} />
);

/** What becomes of an action on the only one, where git describes it. */
export const GitChange = ({ pipelines, what }: { pipelines: readonly PipelineSummary[]; what: string }) => {
  const edits = useUiEdits();
  if (pipelines.length !== 1 || pipelines[0]?.managedBy !== 'git') return null;
  return (
    <Notice icon="git" tone="moving">
      Git describes it. {what}
      {BECOMES[edits]}.
    </Notice>
  );
};

/** Those that git describes are not acted on. */
export const LeftOut = ({ pipelines }: { pipelines: readonly PipelineSummary[] }) =>
  pipelines.length === 0 ? null : (
    <p className="muted">
      Left out, because git describes {pipelines.length === 1 ? 'it' : 'them'}:{' '}
      {pipelines.map(({ name }) => name).join(', ')}.
    </p>
  );
