import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import type { Drift } from '../../../../../schemas/api/delivery/git-words.ts';
import { paths } from '../../../app/paths.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button, ButtonLink } from '../../../ui/primitives/button.tsx';
import { Commit, Copyable } from '../../../ui/primitives/copyable.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { CodeText } from '../../../ui/text/code-text.tsx';
import { sentence } from '../../../ui/text/format.ts';
import { appliedReason } from '../git-problem.ts';
import { DRIFT_STATES } from '../git-state-labels.ts';
import { ObjectName } from '../object-name.tsx';
import { AdoptDialog, HoldDialog } from '../overrides/override-dialogs.tsx';
import { useSyncNow } from '../overrides/override-mutations.ts';
import { PlaceLink } from '../source-link.tsx';
import { DriftNodes } from './drift-nodes.tsx';

interface Props {
  drift: Drift;
  status: GitSyncStatus;
  selfHeal: boolean;
  focused: boolean;
}

export const DriftRow = ({ drift, status, selfHeal, focused }: Props) => {
  const { kind, name, objectId, path, line, lastApplied, git, database, nodes, states } = drift;
  const env = status.environmentId;
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (focused) row.current?.scrollIntoView({ block: 'center' });
  }, [focused]);
  const reason = reasonOf(status, drift);
  const differs = (column: Drift['git']): boolean => column.hash !== lastApplied.hash;
  return (
    <li ref={row} data-focus={focused || undefined}>
      <div className="drift-head">
        <ObjectName env={env} kind={kind} name={name} objectId={objectId} />
        <span className="plan-marks">
          {states.map((state) => (
            <Badge key={state} tone={DRIFT_STATES[state].tone}>
              {DRIFT_STATES[state].word}
            </Badge>
          ))}
        </span>
        <span className="drift-place">
          <PlaceLink status={status} path={path} line={line} commit={git.commit ?? lastApplied.commit} />
        </span>
      </div>
      <p className="drift-why">
        <CodeText text={sentence(drift.explanation)} />
      </p>
      <dl className="drift-columns">
        <Cell name="Last applied" column={lastApplied} kind={kind} />
        <Cell name="Git now" column={git} kind={kind} differs={differs(git)} />
        <Cell
          name="Database now"
          column={database}
          kind={kind}
          differs={differs(database)}
          none={noneInDatabase(drift, reason)}
        />
        <div className="drift-cell" data-tone={nodes && nodes.same < nodes.total ? 'held' : undefined}>
          <dt>Nodes now</dt>
          <dd>
            {nodes ? (
              <DriftNodes nodes={nodes} env={env} of={name} />
            ) : (
              <Muted>{kind === 'Pipeline' ? 'run nothing of it' : 'it runs on no node'}</Muted>
            )}
          </dd>
        </div>
      </dl>
      <DriftActions drift={drift} status={status} selfHeal={selfHeal} />
    </li>
  );
};

const Muted = ({ children }: { children: ReactNode }) => <span className="muted">{children}</span>;

const HASH = 8;

interface CellProps {
  name: string;
  column: Drift['git'];
  kind: Drift['kind'];
  differs?: boolean;
  /** What is said where it has no hash. */
  none?: string;
}

const Cell = ({ name, column, kind, differs = false, none = 'nothing' }: CellProps) => (
  <div className="drift-cell" data-tone={differs ? 'held' : undefined}>
    <dt>
      {name}
      {differs && <Badge tone="held">differs</Badge>}
    </dt>
    <dd>
      {column.hash === null ? (
        <Muted>{none}</Muted>
      ) : (
        <Copyable value={column.hash} label={`hash of ${name.toLowerCase()}`}>
          {column.hash.slice(0, HASH)}
        </Copyable>
      )}
      <span className="drift-facts muted">
        {column.commit && <Commit sha={column.commit} />}
        {column.version !== null && <span className="mono">v{column.version}</span>}
        {kind === 'Pipeline' && column.deployed !== null && (
          <span>{column.deployed ? 'deployed' : 'a draft'}</span>
        )}
        {column.at && <Time at={column.at} />}
      </span>
    </dd>
  </div>
);

/** Put git's state back, keep what is, or let git take it over: what of it makes sense as things stand. */
const DriftActions = ({ drift, status, selfHeal }: Omit<Props, 'focused'>) => {
  const { team } = usePlace();
  const [dialog, setDialog] = useState<'hold' | 'adopt' | null>(null);
  const sync = useSyncNow(status.environmentId);
  const { kind, name, states } = drift;
  const env = status.environmentId;
  const has = (...wanted: Drift['states']): boolean => wanted.some((state) => states.includes(state));
  const reason = reasonOf(status, drift);
  const mayNot = whyNot(team.role, 'EDITOR');
  const rests = status.suspended || status.mode !== 'sync';
  const heals = has('git-ahead') || (has('database-drifted') && selfHeal);
  const close = (): void => setDialog(null);
  const props = { env, object: { kind, name }, close };
  const buttons: ReactNode[] = [];
  const button = (label: string, act: () => void, whyOff: string | null): void => {
    buttons.push(
      <Button
        key={label}
        size="small"
        disabled={whyOff !== null || sync.isPending}
        tip={whyOff ?? undefined}
        onClick={act}
      >
        {label}
        <span className="sr-only"> {name}</span>
      </Button>,
    );
  };
  if (reason === 'Conflict') button('Adopt…', () => setDialog('adopt'), mayNot);
  else if (reason !== 'Held' && has('git-ahead', 'database-drifted')) {
    if (heals)
      button(
        has('git-ahead') ? 'Sync now' : 'Put git’s state back',
        () => sync.mutate(),
        mayNot ?? (rests ? 'Nothing is applied now: the binding is suspended or only observes.' : null),
      );
    if (drift.git.hash !== null) button('Keep what is: hold…', () => setDialog('hold'), mayNot);
  }
  const link = (word: string, to: string): void => {
    buttons.push(
      <ButtonLink key={word} to={to} size="small">
        {word}
      </ButtonLink>,
    );
  };
  if (has('refused')) link('See what is refused', paths.git(env, { focus: drift.path }));
  if (IN_HOLDS.includes(reason)) link('See who and why', paths.git(env, { tab: 'holds' }));
  else if (has('waiting')) link('Look at the plan', paths.git(env, { tab: 'plan' }));
  if (buttons.length === 0) return null;
  return (
    <div className="drift-actions">
      {buttons}
      {dialog === 'hold' && <HoldDialog {...props} />}
      {dialog === 'adopt' && <AdoptDialog {...props} />}
    </div>
  );
};

/** Reasons of Applied that the tab of holds and pauses tells more of. */
const IN_HOLDS = ['Held', 'Suspended', 'PruneWaits', 'HistoryRewritten'];
const NONE = { conditions: [] };

const reasonOf = ({ manifests }: GitSyncStatus, { kind, name }: Drift): string =>
  appliedReason(manifests.find((manifest) => manifest.kind === kind && manifest.name === name) ?? NONE);

/** What the database has where it holds no spec that came from git. */
function noneInDatabase({ objectId }: Drift, reason: string): string {
  if (reason === 'Conflict') return 'one that the UI owns';
  return objectId ? 'not as it was applied' : 'nothing';
}
