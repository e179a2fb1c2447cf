import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { useSearchParams } from 'react-router';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { queries } from '../../../api/queries/index.ts';
import { useAddressParam } from '../../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { TextFilter } from '../../../ui/table/text-filter.tsx';
import { plural } from '../../../ui/text/format.ts';
import { DriftRow } from './drift-row.tsx';

const SHOWN = [
  { value: '', word: 'Only what differs' },
  { value: '1', word: 'All' },
] as const;
const MAX_SHOWN = 100;

/** Last applied, git, database and nodes, side by side. In the address: `all`, `q` filters, `focus` shows one. */
export const DriftTab = ({ status }: { status: GitSyncStatus }) => {
  const [all, setAll] = useAddressParam('all');
  const [params] = useSearchParams();
  const focus = params.get('focus');
  const report = useQuery(queries.gitDrift(status.environmentId, all !== '1'));
  const words = useDeferredValue(params.get('q') ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean);
  const toggle = <SegmentedControl label="Objects" value={all} options={SHOWN} onChange={setAll} />;
  return (
    <Loaded
      query={report}
      what="The drift"
      skeleton={<SkeletonRows rows={6} label="Comparing git, database and nodes" />}
    >
      {({ objects, selfHeal }) => {
        if (objects.length === 0) {
          return (
            <EmptyState icon="check" title={all === '1' ? 'Nothing is compared yet' : 'Nothing differs'}>
              <p>
                {all === '1'
                  ? 'Git owns nothing here yet: push a manifest.'
                  : 'What was last applied, what git holds, what the database holds and what the nodes run is the same.'}
              </p>
              {toggle}
            </EmptyState>
          );
        }
        const found = objects.filter(({ kind, name, path }) => {
          const text = `${kind} ${name} ${path}`.toLowerCase();
          return words.every((word) => text.includes(word));
        });
        return (
          <Section
            title={plural(objects.length, 'object')}
            beside={
              <span className="toolbar">
                <TextFilter param="q" label="Filter objects" />
                {toggle}
              </span>
            }
          >
            <p className="section-body muted drift-policy">
              {selfHeal
                ? 'What was changed past git is put back by the next pass (selfHeal is on).'
                : 'What was changed past git is reported and left so (selfHeal is off): commit what is here, or change the policy in Settings.'}
            </p>
            <ul className="drift" aria-label="Drift">
              {found.slice(0, MAX_SHOWN).map((object) => (
                <DriftRow
                  key={`${object.kind}/${object.name}`}
                  drift={object}
                  status={status}
                  selfHeal={selfHeal}
                  focused={focus === object.path || focus === `${object.kind}/${object.name}`}
                />
              ))}
              {found.length > MAX_SHOWN && (
                <li className="item muted">{found.length - MAX_SHOWN} more: narrow the filter.</li>
              )}
              {found.length === 0 && <li className="item muted">No object matches the filter.</li>}
            </ul>
          </Section>
        );
      }}
    </Loaded>
  );
};
