import { Input, NativeSelect } from '@mantine/core';
import { useRef } from 'react';
import type { Role } from '../../../../../schemas/api/common.ts';
import type { TeamOverview } from '../../../../../schemas/api/identity/people.ts';
import { MONO_INPUT } from '../../../ui/form/field.tsx';
import { Button, IconButton } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { ROLES } from '../accounts/roles.tsx';
import { type MappingRow, nextKey, problemOfRow } from './groups-draft.ts';

interface Props {
  rows: readonly MappingRow[];
  teams: readonly TeamOverview[];
  onChange: (rows: readonly MappingRow[]) => void;
}

const MOST = 1_000;

/** A row for each group and team. Their order means nothing: of several matches the highest role wins wherever it stands. */
export const MappingRows = ({ rows, teams, onChange }: Props) => {
  const list = useRef<HTMLFieldSetElement>(null);
  const change = (key: number, to: Partial<MappingRow>): void =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...to } : row)));
  const add = (): void => {
    onChange([...rows, { key: nextKey(rows), group: '', teamId: teams[0]?.id ?? '', role: 'VIEWER' }]);
    // The new row comes with the next drawing.
    requestAnimationFrame(() =>
      Array.from(list.current?.querySelectorAll<HTMLInputElement>('.mapping input') ?? [])
        .at(-1)
        ?.focus(),
    );
  };
  const remove = (key: number): void => {
    onChange(rows.filter((row) => row.key !== key));
    list.current?.querySelector<HTMLButtonElement>('.mapping-add')?.focus();
  };
  return (
    <fieldset className="choices mappings" ref={list}>
      <legend>Mappings</legend>
      {rows.length === 0 && (
        <p className="muted">
          None yet: groups are known and lead nowhere. Add one for each team that a group works in.
        </p>
      )}
      {rows.map((row, place) => (
        <Mapping
          key={row.key}
          row={row}
          number={place + 1}
          problem={problemOfRow(row, rows)}
          teams={teams}
          change={(to) => change(row.key, to)}
          remove={() => remove(row.key)}
        />
      ))}
      <div>
        <Button
          icon="plus"
          className="mapping-add"
          size="small"
          disabled={teams.length === 0 || rows.length >= MOST}
          onClick={add}
        >
          Add a mapping
        </Button>
      </div>
    </fieldset>
  );
};

interface MappingProps {
  row: MappingRow;
  /** From 1. */
  number: number;
  problem: string;
  teams: readonly TeamOverview[];
  change: (to: Partial<MappingRow>) => void;
  remove: () => void;
}

const Mapping = ({ row, number, problem, teams, change, remove }: MappingProps) => (
  <div className="mapping">
    <Input
      classNames={MONO_INPUT}
      aria-label={`Group of mapping ${number}`}
      error={problem !== '' && row.group !== ''}
      placeholder="platform-admins"
      maxLength={256}
      value={row.group}
      onChange={(event) => change({ group: event.target.value })}
    />
    <span className="mapping-to" aria-hidden="true">
      <Icon name="moving" size={14} />
    </span>
    <NativeSelect
      aria-label={`Team of mapping ${number}`}
      value={row.teamId}
      onChange={(event) => change({ teamId: event.target.value })}
    >
      {!teams.some(({ id }) => id === row.teamId) && <option value={row.teamId}>Choose a team</option>}
      {teams.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </NativeSelect>
    <NativeSelect
      aria-label={`Role of mapping ${number}`}
      value={row.role}
      onChange={(event) => change({ role: event.target.value as Role })}
    >
      {ROLES.map(({ value, word }) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </NativeSelect>
    <IconButton icon="trash" size={14} label={`Remove mapping ${number}`} onClick={remove} />
    {problem && row.group !== '' && <span className="field-problem mapping-problem">{problem}</span>}
  </div>
);
