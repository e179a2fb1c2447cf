import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { VersionSummary } from '../../../../../schemas/api/pipelines/versions.ts';
import { queries } from '../../../api/queries/index.ts';
import { Diff, DiffLayout, YamlText } from '../../../ui/code/lazy-code.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { formatExact } from '../../../ui/text/format.ts';

interface Props {
  shown: VersionSummary;
  against: VersionSummary | undefined;
  versions: VersionSummary[];
  choose: (key: 'version' | 'against', value: string) => void;
}

/** One version, or what differs between any two. */
export const VersionText = ({ shown, against, versions, choose }: Props) => (
  <Section
    title={against ? `v${against.version} → v${shown.version}` : `v${shown.version}`}
    beside={
      <span className="toolbar">
        <NativeSelect
          className="label-beside"
          label="Version"
          value={shown.version}
          onChange={(event) => choose('version', event.target.value)}
        >
          {versions.map((each) => (
            <option key={each.id} value={each.version}>
              v{each.version}, {formatExact(each.createdAt)}
            </option>
          ))}
        </NativeSelect>
        <NativeSelect
          className="label-beside"
          label="Compare with"
          value={against?.version ?? 'none'}
          onChange={(event) => choose('against', event.target.value)}
        >
          <option value="none">nothing</option>
          {versions
            .filter(({ id }) => id !== shown.id)
            .map((each) => (
              <option key={each.id} value={each.version}>
                v{each.version}
              </option>
            ))}
        </NativeSelect>
        {against && <DiffLayout />}
      </span>
    }
  >
    {against ? (
      <VersionDiff fromId={against.id} toId={shown.id} />
    ) : (
      <OneVersion id={shown.id} version={shown.version} />
    )}
  </Section>
);

const skeleton = <SkeletonBlock height={240} label="Loading the version" />;

const OneVersion = ({ id, version }: { id: string; version: number }) => {
  const text = useQuery(queries.version(id));
  return (
    <Loaded query={text} what="The version" skeleton={skeleton}>
      {({ configYaml }) => <YamlText text={configYaml} label={`Configuration of version ${version}`} />}
    </Loaded>
  );
};

const SETTINGS: Record<string, string> = {
  logLevel: 'Log level',
  drainSeconds: 'Drain time',
  nodeSelector: 'Nodes',
};

/** The configs, and what else a version carries. */
export const VersionDiff = ({ fromId, toId }: { fromId: string; toId: string }) => {
  const diff = useQuery(queries.compareVersions(fromId, toId));
  return (
    <Loaded query={diff} what="The comparison" skeleton={skeleton}>
      {({ from, to, settings }) => (
        <>
          {settings.length > 0 && (
            <ul className="setting-changes" aria-label="Settings that differ">
              {settings.map((setting) => (
                <li key={setting.name}>
                  {SETTINGS[setting.name] ?? setting.name}: <del className="mono">{setting.from}</del>
                  {' → '}
                  <ins className="mono">{setting.to}</ins>
                </li>
              ))}
            </ul>
          )}
          {from.configYaml === to.configYaml ? (
            <p className="section-body muted">
              The configs of v{from.version} and v{to.version} are equal.
            </p>
          ) : (
            <Diff
              before={from.configYaml}
              after={to.configYaml}
              beforeLabel={`Version ${from.version}`}
              afterLabel={`Version ${to.version}`}
            />
          )}
        </>
      )}
    </Loaded>
  );
};
