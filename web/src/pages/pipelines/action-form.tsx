/** What every action on pipelines has in common: what is acted on, what is left out, the asking, the outcomes. */
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { PipelineSummary } from '../../../../schemas/api/pipelines.ts';
import { describeFailure } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { Badge, type Tone } from '../../components/bits.tsx';
import { MutationForm } from '../../components/mutation-form.tsx';
import { type Outcome, useBatch } from './batch.ts';

interface Props {
  env: string;
  pipelines: readonly PipelineSummary[];
  run: (pipeline: PipelineSummary) => Promise<unknown>;
  /** Called with those that went through, when none is left. */
  done: (pipelines: readonly PipelineSummary[]) => void;
  close: () => void;
  /** On the button: what it does, and what while it does. */
  words: { act: string; acting: string };
  danger?: boolean;
  /** What must be typed first. */
  confirm?: string | null;
  /** Something in `children` is missing. */
  incomplete?: boolean;
  children?: ReactNode;
}

export const ActionForm = (props: Props) => {
  const { env, pipelines, words } = props;
  const batch = useBatch(pipelines, props.run);
  const submit = async (): Promise<void> => {
    const outcomes = await batch.start();
    const through = outcomes.filter(({ state }) => state === 'done').map(({ item }) => item);
    if (through.length === outcomes.length) props.done(through);
  };
  const started = batch.outcomes.some(({ state }) => state !== 'waiting');
  const first = batch.outcomes.find(({ state }) => state === 'failed');
  return (
    <MutationForm
      mutation={{
        mutate: () => void submit(),
        isPending: batch.isRunning,
        isError: pipelines.length === 1 && first !== undefined,
        error: first?.error,
      }}
      close={props.close}
      cancel={started && !batch.isRunning ? 'Close' : 'Cancel'}
      submit={started ? 'Try the rest again' : words.act}
      working={words.acting}
      danger={props.danger}
      disabled={props.incomplete || pipelines.length === 0}
      confirm={props.confirm}
      confirmField={{ mono: true }}
    >
      {props.children}
      {pipelines.length > 1 && (
        <ul className="outcomes" aria-label="Pipelines that are acted on">
          {batch.outcomes.map((outcome) => (
            <OutcomeRow key={outcome.item.id} env={env} outcome={outcome} />
          ))}
        </ul>
      )}
    </MutationForm>
  );
};

const STATES: Record<Outcome<unknown>['state'], { tone: Tone; word: string }> = {
  waiting: { tone: 'unknown', word: 'waits' },
  working: { tone: 'moving', word: 'working' },
  done: { tone: 'ok', word: 'done' },
  failed: { tone: 'failed', word: 'refused' },
};

const OutcomeRow = ({ env, outcome }: { env: string; outcome: Outcome<PipelineSummary> }) => {
  const { tone, word } = STATES[outcome.state];
  return (
    <li>
      <Badge tone={tone} icon={outcome.state === 'waiting' ? 'dash' : undefined}>
        {word}
      </Badge>
      <Link to={paths.pipeline(env, outcome.item.id)}>{outcome.item.name}</Link>
      {outcome.state === 'failed' && (
        <span className="outcome-error">{describeFailure(outcome.error).message}</span>
      )}
    </li>
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
