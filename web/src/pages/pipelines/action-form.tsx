/** What every action on pipelines has in common. */
import type { PipelineSummary } from '../../../../schemas/api/pipelines.ts';
import { paths } from '../../app/paths.ts';
import { BatchForm, type BatchFormProps } from '../../components/batch-form.tsx';

interface Props extends Omit<BatchFormProps<PipelineSummary>, 'items' | 'noun' | 'hrefOf'> {
  env: string;
  pipelines: readonly PipelineSummary[];
}

export const ActionForm = ({ env, pipelines, ...rest }: Props) => (
  <BatchForm items={pipelines} noun="pipeline" hrefOf={({ id }) => paths.pipeline(env, id)} {...rest} />
);

/** Those that git describes are not acted on. */
export const LeftOut = ({ pipelines }: { pipelines: readonly PipelineSummary[] }) =>
  pipelines.length === 0 ? null : (
    <p className="muted">
      Left out, because git describes {pipelines.length === 1 ? 'it' : 'them'}:{' '}
      {pipelines.map(({ name }) => name).join(', ')}.
    </p>
  );
