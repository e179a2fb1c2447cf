/** What is looked for in the audit log, as it stands in the address. */
import type { ActorType, AuditFilter } from '../../../../schemas/api/insight/audit.ts';
import { putParam, useAddress } from '../../app/search-params.ts';

export interface Filters {
  q: string;
  /** The id of a person or a service account; of others `type:` and what they are. */
  who: string;
  action: string;
  what: string;
  /** `team`, the id of an environment, or empty for all that one sees. */
  in: string;
  from: string;
  to: string;
}
export const NO_FILTERS: Filters = { q: '', who: '', action: '', what: '', in: '', from: '', to: '' };
const KEYS = Object.keys(NO_FILTERS) as (keyof Filters)[];

export const TYPE = 'type:';
/** Those that have no id. */
export const OTHER_ACTORS: readonly { type: ActorType; word: string }[] = [
  { type: 'git', word: 'Git' },
  { type: 'scim', word: 'SCIM' },
  { type: 'system', word: 'Headgate itself' },
];

export function useFilters(): [
  filters: Filters,
  change: (change: Partial<Filters>) => void,
  clear: () => void,
] {
  const [params, changeAddress] = useAddress();
  const filters = { ...NO_FILTERS };
  for (const key of KEYS) filters[key] = params.get(key) ?? '';
  const change = (some: Partial<Filters>): void =>
    changeAddress(
      (next) => {
        for (const [key, value] of Object.entries(some)) putParam(next, key, value);
        // An event that was pointed at need not be among those that are found now.
        next.delete('at');
      },
      { replace: true },
    );
  return [filters, change, () => change(NO_FILTERS)];
}

export const isFiltered = (filters: Filters): boolean => KEYS.some((key) => filters[key] !== '');

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** As the server takes it. */
export function filterOf(filters: Filters, teamId: string): AuditFilter {
  const { q, who, action, what, from, to } = filters;
  const actorType = OTHER_ACTORS.find(({ type }) => who === TYPE + type)?.type;
  return {
    ...(q.trim() ? { search: q.trim() } : {}),
    ...(actorType ? { actorType } : who && !who.startsWith(TYPE) ? { userId: who } : {}),
    ...(action ? { action } : {}),
    ...(what ? { entityType: what } : {}),
    ...(filters.in === 'team' ? { teamId } : filters.in ? { environmentId: filters.in } : {}),
    ...(DAY.test(from) ? { startDate: from } : {}),
    ...(DAY.test(to) ? { endDate: to } : {}),
  };
}

export function exportHref(filter: AuditFilter, format: 'csv' | 'ndjson'): string {
  const query = new URLSearchParams({ format });
  for (const [key, value] of Object.entries(filter)) query.set(key, String(value));
  return `/api/audit/export?${query}`;
}
