import { NativeSelect } from '@mantine/core';
import type { Role } from '../../../../../schemas/api/common.ts';

export const ROLE_LABELS: Record<Role, string> = { VIEWER: 'Viewer', EDITOR: 'Editor', ADMIN: 'Admin' };

/** What each may do in a team, the least first. */
export const ROLES: readonly { value: Role; word: string; means: string }[] = [
  { value: 'VIEWER', word: ROLE_LABELS.VIEWER, means: 'Sees everything of the team, and changes nothing.' },
  {
    value: 'EDITOR',
    word: ROLE_LABELS.EDITOR,
    means: 'Makes and deploys pipelines, and sets secrets, alert rules and labels.',
  },
  {
    value: 'ADMIN',
    word: ROLE_LABELS.ADMIN,
    means: 'Does everything: members, git, tokens, service accounts, environments.',
  },
];

export const roleMeans = (role: Role): string => ROLES.find(({ value }) => value === role)?.means ?? '';

/** Roles in the order of what they allow. */
export const roleRank = (role: Role): number => ROLES.findIndex(({ value }) => value === role);

/** `a viewer`, `an editor`. */
export const aRole = (role: Role): string =>
  `${role === 'VIEWER' ? 'a' : 'an'} ${ROLE_LABELS[role].toLowerCase()}`;

interface Props {
  /** With the name of who has it: it is read out alone. */
  label: string;
  value: Role;
  onChange: (role: Role) => void;
}

/** In a row, which names who it is of. */
export const RoleSelect = ({ label, value, onChange }: Props) => (
  <span className="bar-select role-select">
    <NativeSelect
      aria-label={label}
      value={value}
      onChange={(event) => {
        const chosen = ROLES.find((role) => role.value === event.target.value);
        if (chosen && chosen.value !== value) onChange(chosen.value);
      }}
    >
      {ROLES.map((role) => (
        <option key={role.value} value={role.value}>
          {role.word}
        </option>
      ))}
    </NativeSelect>
  </span>
);
