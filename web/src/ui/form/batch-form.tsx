/** What every action on several things has in common: what is acted on, the asking, how far it is, the outcomes. */
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { describeFailure } from '../../api/client.ts';
import { Badge } from '../primitives/badge.tsx';
import type { Tone } from '../primitives/tone.ts';
import { plural } from '../text/format.ts';
import { type Outcome, useBatch } from './batch.ts';
import { MutationForm } from './mutation-form.tsx';

/** More are counted, and only those that were refused are listed. */
const MAX_LISTED = 40;

interface Named {
  id: string;
  name: string;
}

export interface BatchFormProps<T extends Named> {
  items: readonly T[];
  /** One of them, as a word: `pipeline`. */
  noun: string;
  hrefOf: (item: T) => string;
  run: (item: T) => Promise<unknown>;
  /** How many at a time. */
  atOnce?: number;
  /** What `run` does, where the form lets choose: outcomes of another choice are forgotten. */
  choice?: string;
  /** Called with those that went through, when none is left. */
  done: (items: readonly T[]) => void;
  /** Called with those that went through, when others were refused. */
  partly?: (items: readonly T[]) => void;
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

export function BatchForm<T extends Named>(props: BatchFormProps<T>) {
  const { items, noun, words } = props;
  const batch = useBatch(items, props.run, { atOnce: props.atOnce, choice: props.choice });
  const submit = async (): Promise<void> => {
    const outcomes = await batch.start();
    const through = outcomes.filter(({ state }) => state === 'done').map(({ item }) => item);
    if (through.length === outcomes.length) props.done(through);
    else props.partly?.(through);
  };
  const started = batch.outcomes.some(({ state }) => state !== 'waiting');
  const first = batch.outcomes.find(({ state }) => state === 'failed');
  return (
    <MutationForm
      mutation={{
        mutate: () => void submit(),
        isPending: batch.isRunning,
        isError: items.length === 1 && first !== undefined,
        error: first?.error,
      }}
      close={props.close}
      endsByClosing
      cancel={started && !batch.isRunning ? 'Close' : 'Cancel'}
      submit={started ? 'Try the rest again' : words.act}
      working={words.acting}
      danger={props.danger}
      disabled={props.incomplete || items.length === 0}
      confirm={props.confirm}
      confirmField={{ mono: true }}
    >
      {props.children}
      {items.length > 1 && <Outcomes outcomes={batch.outcomes} noun={noun} hrefOf={props.hrefOf} />}
    </MutationForm>
  );
}

const STATES: Record<Outcome<unknown>['state'], { tone: Tone; word: string }> = {
  waiting: { tone: 'unknown', word: 'waits' },
  working: { tone: 'moving', word: 'working' },
  done: { tone: 'ok', word: 'done' },
  failed: { tone: 'failed', word: 'refused' },
};

interface OutcomesProps<T extends Named> {
  outcomes: readonly Outcome<T>[];
  noun: string;
  hrefOf: (item: T) => string;
}

function Outcomes<T extends Named>({ outcomes, noun, hrefOf }: OutcomesProps<T>) {
  const count = (state: Outcome<T>['state']): number =>
    outcomes.filter((outcome) => outcome.state === state).length;
  const many = outcomes.length > MAX_LISTED;
  const over = count('done') + count('failed');
  const listed = many ? outcomes.filter(({ state }) => state === 'failed').slice(0, MAX_LISTED) : outcomes;
  return (
    <>
      {(many || over > 0) && (
        <p className="batch-progress" role="status">
          <progress value={over} max={outcomes.length} aria-label="How far it is" />
          <span>
            {over} of {plural(outcomes.length, noun)}
            {count('failed') > 0 && `, ${count('failed')} refused`}
          </span>
        </p>
      )}
      {listed.length > 0 && (
        <ul
          className="outcomes"
          aria-label={many ? `Refused ${noun}s` : `${capital(noun)}s that are acted on`}
        >
          {listed.map((outcome) => (
            <li key={outcome.item.id}>
              <Badge
                tone={STATES[outcome.state].tone}
                icon={outcome.state === 'waiting' ? 'dash' : undefined}
              >
                {STATES[outcome.state].word}
              </Badge>
              <Link to={hrefOf(outcome.item)}>{outcome.item.name}</Link>
              {outcome.state === 'failed' && (
                <span className="outcome-error">{describeFailure(outcome.error).message}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
