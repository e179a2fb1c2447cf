import { useEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { Gate } from '../../../../schemas/api/common.ts';
import type { GitSyncStatus, ManifestStatus } from '../../../../schemas/api/git-sync.ts';
import { useAddressParam } from '../../app/address.ts';
import { paths } from '../../app/paths.ts';
import { Badge } from '../../components/bits.tsx';
import { manifestCause } from '../../components/causes.ts';
import { CommandBlock } from '../../components/command-block.tsx';
import { ConditionList } from '../../components/condition-list.tsx';
import { plural } from '../../components/format.ts';
import { GateStrip, gateState } from '../../components/gate-strip.tsx';
import { Icon } from '../../components/icons.tsx';
import { Section } from '../../components/page.tsx';
import { ManifestActions } from './manifest-actions.tsx';
import { PlaceLink } from './place-link.tsx';
import { isOnlyRead, keptBackWord } from './wrong.ts';

/** Rules and groups run nowhere: their strip ends where git's part does. */
function stripOf(manifest: ManifestStatus): Gate {
  const strip = manifest.kind === 'Pipeline' ? manifest.gate : manifest.gate.slice(0, 2);
  if (keptBackWord(manifest) === null) return strip;
  // Git has failed in nothing where somebody or something is waited for.
  return strip.map((segment) =>
    segment.state === 'failed' && (segment.point === 'git' || segment.point === 'accepted')
      ? { ...segment, state: 'held' }
      : segment,
  );
}

/** What is applied but crashes is not ready for anybody. */
const isReady = (manifest: ManifestStatus): boolean =>
  manifest.ready && gateState(stripOf(manifest)) !== 'failed';

const ORDER = { failed: 0, held: 1, moving: 2, unknown: 3, done: 4 } as const;
/** More are found by the filter; a list of thousands of strips would only be scrolled past. */
const MAX_SHOWN = 100;

/** What the filter looks into: where it stands, and what became of it. */
const textOf = ({ kind, name, path, conditions }: ManifestStatus): string =>
  [kind, name, path, ...conditions.map(({ reason }) => reason)].join(' ').toLowerCase();

/** Those that are not done come first. */
export const Manifests = ({ status }: { status: GitSyncStatus }) => {
  const { manifests } = status;
  const [params] = useSearchParams();
  const [filter, setFilter] = useFilter();
  const focus = params.get('focus');
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = manifests
    .filter((manifest) => {
      const text = textOf(manifest);
      return words.every((word) => text.includes(word));
    })
    .sort(
      (a, b) => ORDER[gateState(stripOf(a))] - ORDER[gateState(stripOf(b))] || a.name.localeCompare(b.name),
    );
  const becoming = manifests.filter((manifest) => !isOnlyRead(manifest));
  const ready = becoming.filter((manifest) => isReady(manifest) && !keptBackWord(manifest)).length;
  return (
    <Section
      title="Manifests"
      beside={
        <span className="toolbar">
          <span className="muted">
            {ready} of {plural(becoming.length, 'manifest')} ready
          </span>
          <label className="filter">
            <span className="sr-only">Filter manifests</span>
            <Icon name="search" size={14} />
            <input
              type="search"
              value={filter}
              placeholder="Filter"
              onChange={(event) => setFilter(event.target.value)}
            />
          </label>
        </span>
      }
    >
      {manifests.length === 0 ? (
        <div className="section-body stack">
          <p>The folder holds no manifest yet. Write one and push it:</p>
          <CommandBlock
            label="commands that push a first manifest"
            lines={[
              `git clone ${status.cloneUrl ?? '<address>'} config && cd config`,
              `mkdir -p ${status.path || '.'}/pipelines && $EDITOR ${status.path || '.'}/pipelines/hello.yaml`,
              "git add . && git commit -m 'Add hello' && git push",
            ]}
          />
        </div>
      ) : (
        <ul className="manifests" aria-label="Manifests">
          {found.slice(0, MAX_SHOWN).map((manifest) => (
            <ManifestRow
              key={`${manifest.kind}/${manifest.name}/${manifest.path}`}
              status={status}
              manifest={manifest}
              focused={manifest.path === focus}
            />
          ))}
          {found.length > MAX_SHOWN && (
            <li className="item muted">{found.length - MAX_SHOWN} more: narrow the filter.</li>
          )}
          {found.length === 0 && <li className="item muted">No manifest matches “{filter}”.</li>}
        </ul>
      )}
    </Section>
  );
};

/** The address follows what is typed; an input bound to it would lose letters. */
function useFilter(): [string, (filter: string) => void] {
  const [wanted, setWanted] = useAddressParam('q', { replace: true });
  const [filter, setFilter] = useState(wanted);
  const typed = useRef(wanted);
  useEffect(() => {
    if (wanted === typed.current) return;
    typed.current = wanted;
    setFilter(wanted);
  }, [wanted]);
  return [
    filter,
    (next) => {
      typed.current = next;
      setFilter(next);
      setWanted(next);
    },
  ];
}

/** Where the object of a manifest is shown; null until there is one. */
export function objectPage(env: string, kind: string, objectId: string | null): string | null {
  if (!objectId) return null;
  if (kind === 'Pipeline') return paths.pipeline(env, objectId);
  if (kind === 'NodeGroup') return paths.group(env, objectId);
  return kind === 'AlertRule' ? paths.alerts(env) : null;
}

const StateBadge = ({ manifest }: { manifest: ManifestStatus }) => {
  const worst = gateState(stripOf(manifest));
  const waits = keptBackWord(manifest);
  if (waits) return <Badge tone="held">{waits}</Badge>;
  if (isReady(manifest)) return <Badge tone="calm">Ready</Badge>;
  if (isOnlyRead(manifest)) return <Badge tone="calm">Read</Badge>;
  return <Badge tone={worst === 'done' ? 'moving' : worst}>Not ready</Badge>;
};

interface RowProps {
  status: GitSyncStatus;
  manifest: ManifestStatus;
  focused: boolean;
}

const ManifestRow = ({ status, manifest, focused }: RowProps) => {
  const { environmentId: env } = status;
  const { kind, name, path, line, objectId, conditions } = manifest;
  const gate = stripOf(manifest);
  const [opened, setOpened] = useState(focused);
  const row = useRef<HTMLLIElement>(null);
  const page = objectPage(env, kind, objectId);
  useEffect(() => {
    if (!focused) return;
    setOpened(true);
    row.current?.scrollIntoView({ block: 'center' });
  }, [focused]);
  return (
    <li ref={row}>
      <div className="manifest" data-focus={focused || undefined}>
        <button
          type="button"
          className="unfold"
          aria-expanded={opened}
          aria-label={`Conditions of ${kind} ${name}`}
          onClick={() => setOpened(!opened)}
        >
          <Icon name="chevronRight" size={14} />
        </button>
        <span className="manifest-name">
          {page ? <Link to={page}>{name}</Link> : name}
          <span className="manifest-kind">{kind}</span>
        </span>
        <GateStrip gate={gate} of={`${kind} ${name}`} causeOf={manifestCause(env, kind, path, objectId)} />
        <span className="manifest-path">
          <PlaceLink status={status} path={path} line={line} commit={manifest.seenCommit} />
        </span>
        <StateBadge manifest={manifest} />
      </div>
      {opened && (
        <div className="inner">
          {conditions.length > 0 ? (
            <ConditionList conditions={conditions} of={`${kind} ${name}`} />
          ) : (
            <p className="section-body muted">No pass has judged it yet.</p>
          )}
          <ManifestActions status={status} manifest={manifest} />
        </div>
      )}
    </li>
  );
};
