/** A file that is named by hand. */
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { DraftField } from '../../../ui/form/draft-fields.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { plural } from '../../../ui/text/format.ts';
import { systemOf } from './agent-release.ts';

export interface OwnFile {
  targetVersion: string;
  downloadUrl: string;
  checksum: string;
  /** Empty for none. */
  signature: string;
  /** `linux/x64`: nodes of others are left out. Empty where all are of one. */
  system: string;
}

export const NO_FILE: OwnFile = {
  targetVersion: '',
  downloadUrl: '',
  checksum: '',
  signature: '',
  system: '',
};

/** As it is sent: what is pasted often has a space at its end. */
export const trimmed = ({ targetVersion, downloadUrl, checksum, signature, system }: OwnFile): OwnFile => ({
  system,
  targetVersion: targetVersion.trim(),
  downloadUrl: downloadUrl.trim(),
  checksum: checksum.trim(),
  signature: signature.trim(),
});

/** The systems of nodes, the most frequent first. */
export function systemsOf(nodes: readonly NodeSummary[]): { system: string; count: number }[] {
  const bySystem = Map.groupBy(nodes, systemOf);
  return [...bySystem]
    .map(([system, { length }]) => ({ system, count: length }))
    .sort((a, b) => b.count - a.count || a.system.localeCompare(b.system));
}

interface Props {
  value: OwnFile;
  onChange: (value: OwnFile) => void;
  /** Those that could be updated at all. */
  nodes: readonly NodeSummary[];
}

export const OwnFields = ({ value, onChange, nodes }: Props) => {
  const set = (change: Partial<OwnFile>): void => onChange({ ...value, ...change });
  const of = { draft: value, set };
  const systems = systemsOf(nodes);
  const isSum = /^(sha256:)?[0-9a-f]{64}$/i.test(value.checksum.trim());
  return (
    <>
      {systems.length > 1 && (
        <SelectField
          label="System that the file is for"
          value={value.system}
          onChange={(system) => set({ system })}
          options={systems.map(({ system, count }) => ({
            value: system,
            word: `${system}: ${plural(count, 'node')}`,
          }))}
          hint="One file runs on one system. The other nodes are left out: update them after, by a file of their own."
        />
      )}
      <DraftField
        of={of}
        name="targetVersion"
        label="Version"
        required
        maxLength={64}
        placeholder="v1.2.3"
        hint="What the file’s own --version says: v1.2.3, or dev- and a short hash. An agent refuses a lower version unless SVC_ALLOW_DOWNGRADE is set on its machine."
      />
      <DraftField
        of={of}
        name="downloadUrl"
        label="Address of the file"
        required
        maxLength={2_048}
        placeholder="https://example.com/headgate-agent"
        hint="By https, or of this controller. No user or password in it: it is shown as it is."
      />
      <DraftField
        of={of}
        name="checksum"
        label="SHA-256 of the file"
        required
        maxLength={71}
        problem={value.checksum && !isSum ? '64 hexadecimal digits, as sha256sum prints them.' : ''}
        hint="sha256sum headgate-agent prints it."
      />
      <DraftField
        of={of}
        name="signature"
        label="Signature"
        maxLength={88}
        hint="In base64, for agents that have a public key pinned. Others need none."
      />
    </>
  );
};
