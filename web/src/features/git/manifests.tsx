import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { Gate } from '../../../../schemas/api/common.ts';
import type { GitSyncStatus, ManifestStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { paths } from '../../app/paths.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { TextFilter } from '../../ui/table/text-filter.tsx';
import { plural } from '../../ui/text/format.ts';
import { ConditionList } from '../gate/condition-list.tsx';
import { manifestCause } from '../gate/gate-cause.ts';
import { gateState } from '../gate/gate-state.ts';
import { GateStrip } from '../gate/gate-strip.tsx';
import { isOnlyRead, keptBackWord } from './git-problem.ts';
import { ManifestActions } from './manifest-actions.tsx';
import { ObjectName } from './object-name.tsx';
import { PlaceLink } from './source-link.tsx';

/** Rules and groups run nowhere, and kinds that git does not own here become nothing: a strip ends where nothing follows. */
function stripOf(manifest: ManifestStatus): Gate {
  if (manifest.kind === 'Pipeline') return manifest.gate;
  return manifest.gate.slice(0, isOnlyRead(manifest) ? 1 : 2);
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

/** Those that are not done come first, each with its text for the filter. */
const inOrder = (manifests: readonly ManifestStatus[]): { manifest: ManifestStatus; text: string }[] =>
  manifests
    .map((manifest) => ({ manifest, text: textOf(manifest), order: ORDER[gateState(stripOf(manifest))] }))
    .sort((a, b) => a.order - b.order || a.manifest.name.localeCompare(b.manifest.name));

/** In the address: `q` filters, `focus` unfolds the manifest of a path. */
export const Manifests = ({ status }: { status: GitSyncStatus }) => {
  const { manifests } = status;
  const [params] = useSearchParams();
  const filter = useDeferredValue(params.get('q') ?? '');
  const focus = params.get('focus');
  const sorted = useMemo(() => inOrder(manifests), [manifests]);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = sorted.filter(({ text }) => words.every((word) => text.includes(word)));
  const becoming = manifests.filter((manifest) => !isOnlyRead(manifest));
  const ready = becoming.filter((manifest) => isReady(manifest) && !keptBackWord(manifest)).length;
  return (
    <Section
      title="Manifests"
      beside={
        manifests.length > 0 && (
          <span className="toolbar">
            <span className="muted">
              {ready} of {plural(becoming.length, 'manifest')} ready
            </span>
            <TextFilter param="q" label="Filter manifests" />
          </span>
        )
      }
    >
      {manifests.length === 0 ? (
        <NoManifest status={status} />
      ) : (
        <ul className="manifests" aria-label="Manifests">
          {found.slice(0, MAX_SHOWN).map(({ manifest }) => (
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

/** Explains how to make the first one, where the binding applies manifests. */
const NoManifest = ({ status }: { status: GitSyncStatus }) => {
  const { mode, lastError, repositoryUrl, cloneUrl, branch, path, environmentId } = status;
  if (mode === 'push') {
    return (
      <p className="section-body">
        Headgate writes here what the environment holds, and reads nothing back.{' '}
        <Link to={paths.git(environmentId, { tab: 'passes' })}>The passes</Link> tell what was written and
        what was left out.
      </p>
    );
  }
  // The repository that is served here has no branch before the first push.
  if (lastError && repositoryUrl !== 'embedded') {
    return <p className="section-body muted">Nothing is known of them before the repository can be read.</p>;
  }
  const folder = path ? `${path}/` : '';
  return (
    <div className="section-body stack">
      <p>The folder holds no manifest yet. Write one and push it:</p>
      <CommandBlock
        label="commands that push a first manifest"
        lines={[
          `git clone ${cloneUrl ?? '<address>'} config && cd config`,
          `mkdir -p ${folder}pipelines && $EDITOR ${folder}pipelines/hello.yaml`,
          `git add . && git commit -m 'Add hello' && git push origin HEAD:${branch ?? 'main'}`,
        ]}
      />
    </div>
  );
};

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

/** Drawn again only where it changed: typing a filter would wait for all the others. */
const ManifestRow = memo(({ status, manifest, focused }: RowProps) => {
  const { environmentId: env } = status;
  const { kind, name, path, line, objectId, conditions } = manifest;
  const gate = stripOf(manifest);
  const [opened, setOpened] = useState(focused);
  const row = useRef<HTMLLIElement>(null);
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
        <ObjectName env={env} kind={kind} name={name} objectId={objectId} />
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
});
