/** Who owns an object that is kept in git or in the UI, and what is wrong with its manifest. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Condition, GitOrigin } from '../../../../schemas/api/common.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { IconButton } from '../../ui/primitives/button.tsx';
import { Commit } from '../../ui/primitives/copyable.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';
import { CodeText } from '../../ui/text/code-text.tsx';
import { sentence } from '../../ui/text/format.ts';
import { conditionTone } from '../gate/condition-list.tsx';
import { BECOMES, useUiEdits } from './git-edits.tsx';

export interface Owned {
  name: string;
  git: GitOrigin | null;
}

/** The first condition that does not hold; undefined when all is well, or when git is only looked at. */
export const problemOf = ({ git }: Owned): Condition | undefined =>
  git?.conditions.find(({ status, reason }) => status === 'False' && reason !== 'Observing');

interface OwnerProps {
  env: string;
  owned: Owned;
  /** Without the commit, where there is little room. */
  short?: boolean;
}

/** Its place in git with the commit, or the UI. */
export const OwnerCell = ({ env, owned: { git }, short = false }: OwnerProps) => {
  if (!git) return <span className="muted">the UI</span>;
  const place = `${git.path}:${git.line}`;
  return (
    <span className="owner">
      {git.commit && !short && <Commit sha={git.commit} />}
      <Link to={paths.git(env, { focus: git.path })} className="mono owner-place" data-tip={place}>
        {git.path.split('/').slice(-2).join('/')}:{git.line}
      </Link>
    </span>
  );
};

interface OwnedActionsProps {
  env: string;
  owned: Owned;
  /** Why nothing may be changed; null where it may. */
  mayNot: string | null;
  change: () => void;
  remove: () => void;
}

/** Change and delete. What is kept in git has its place there instead. */
export const OwnedActions = ({ env, owned: { name, git }, mayNot, change, remove }: OwnedActionsProps) => {
  const edits = useUiEdits(git !== null);
  if (git && edits === 'refuse') {
    const place = `${git.path}:${git.line}`;
    return (
      <Link
        to={paths.git(env, { focus: git.path })}
        className="in-git"
        aria-label={`In git at ${place}`}
        data-tip={`Described at ${place}: change it there`}
      >
        in git
      </Link>
    );
  }
  const disabled = mayNot !== null;
  const tip = (word: string): string => mayNot ?? (git ? `${word}: it ${BECOMES[edits]}` : word);
  return (
    <>
      <IconButton
        icon="pencil"
        label={`Change ${name}`}
        tip={tip('Change')}
        disabled={disabled}
        onClick={change}
      />
      <IconButton
        icon="trash"
        label={`Delete ${name}`}
        tip={tip('Delete')}
        disabled={disabled}
        onClick={remove}
      />
    </>
  );
};

interface Problem {
  key: string;
  path: string;
  line: number | null;
  word: string;
  tone: Tone;
  subject: string;
  message: string;
  /** What it means for what is applied. */
  effect: string;
  at: Date;
}

interface Props {
  environmentId: string;
  kind: string;
  owned: readonly Owned[];
  /** Leaves out manifests of the kind that are not among `owned`. */
  ownedOnly?: boolean;
}

/** What git holds of a kind and Headgate could not take, with the place of each. Nothing is shown when all is well. */
export const ManifestProblems = ({ environmentId, kind, owned, ownedOnly = false }: Props) => {
  const errors = useQuery(queries.importErrors(environmentId));
  const problems: Problem[] = owned.flatMap((each) => {
    const condition = problemOf(each);
    if (!condition || !each.git) return [];
    return {
      key: each.git.path + each.name,
      path: condition.file ?? each.git.path,
      line: condition.line ?? each.git.line,
      word: condition.reason,
      tone: conditionTone(condition),
      subject: `${kind} ${each.name}`,
      message: condition.message,
      effect: 'What was applied before is kept.',
      at: condition.lastTransition,
    };
  });
  const reported = new Set(owned.filter((each) => problemOf(each)).map(({ name }) => name));
  for (const error of errors.data ?? []) {
    if (error.kind !== kind || (error.name !== null && reported.has(error.name))) continue;
    if (ownedOnly && !owned.some(({ name, git }) => name === error.name || git?.path === error.path))
      continue;
    problems.push({
      key: error.id,
      path: error.path,
      line: error.line,
      word: error.stage,
      tone: 'failed',
      subject: `${kind} ${error.name ?? ''}`,
      message: error.message,
      effect: sentence(error.hint),
      at: error.createdAt,
    });
  }
  if (problems.length === 0) return null;
  return (
    <section className="section" aria-label="Problems">
      <ul className="errors" aria-label="Manifests with a problem">
        {problems.map(({ key, path, line, word, tone, subject, message, effect, at }) => (
          <li key={key} data-tone={tone}>
            <span className="error-place">
              <Link to={paths.git(environmentId, { focus: path })} className="mono">
                {path}
                {line === null ? '' : `:${line}`}
              </Link>
              <Badge tone={tone}>{word}</Badge>
              <span className="muted">
                {subject} · <Time at={at} />
              </span>
            </span>
            <span className="error-message">
              <CodeText text={message} />
            </span>
            <span className="muted">
              <CodeText text={effect} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};
