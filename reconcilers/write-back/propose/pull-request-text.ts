/** Title and text of a pull request, by the templates of the binding. */
import { type Binding, pullRequestSettings, VARIABLE } from '../../../controller/delivery/bindings/index.ts';
import { escaped } from '../../../controller/platform/text/markdown.ts';

export interface PullRequestTexts {
  title: string;
  /** Markdown. */
  body: string;
  subject: Record<string, unknown>;
  author: string;
}

const LONGEST_TITLE = 200;

/** Names are escaped in the text, which is Markdown, and not in the title. */
export function renderPullRequest(
  binding: Pick<Binding, 'pullRequestSettings' | 'environmentName'>,
  { title, body, subject, author }: PullRequestTexts,
): { title: string; body: string } {
  const settings = pullRequestSettings(binding);
  const plain: Record<string, string> = {
    ...{ kind: textOf(subject.kind), name: textOf(subject.name) },
    ...{ environment: binding.environmentName, author, title },
  };
  const fill = (template: string, values: Record<string, string>): string =>
    template.replaceAll(VARIABLE, (whole, name: string) => values[name] ?? whole);
  const safe = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, escaped(value)]));
  const filled = settings.title === null ? '' : fill(settings.title, plain).replace(/\s+/g, ' ').trim();
  return {
    title: filled.slice(0, LONGEST_TITLE).toWellFormed() || title,
    body: settings.body === null ? body : fill(settings.body, { ...safe, body }),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
