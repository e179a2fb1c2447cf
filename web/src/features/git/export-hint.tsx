import { usePlace } from '../../app/scope.tsx';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { folderOf } from './binding/binding-draft.ts';

/** How what the environment holds becomes manifests, before git is to decide. */
export const ExportHint = () => {
  const { environment } = usePlace();
  return (
    <Section title="Take along what is here">
      <div className="section-body stack">
        <p>
          Pipelines, alert rules, node groups, silences and webhook endpoints that {environment.name} holds
          already can be written as manifests. Commit them before you bind: git then takes over the very
          objects, with their versions and history.
        </p>
        <CommandBlock
          label="commands that export the environment"
          lines={[
            `export HEADGATE_URL=${window.location.origin} HEADGATE_API_KEY=svc_…`,
            `headgate export --env '${environment.name}' --out ${folderOf(environment.name)}`,
          ]}
        />
        <p className="muted">
          The key is that of a service account with <code>gitops.read</code>, made in Settings under Access.
        </p>
      </div>
    </Section>
  );
};
