/**
 * Markdown that people and Headgate write in pull requests. It comes from forges, so it is not trusted: HTML stays text,
 * pictures become links, and only web addresses are links. No JSX, so that tests read it without a build.
 */
import { compiler } from 'markdown-to-jsx/react';
import { createElement, type ReactElement, type ReactNode } from 'react';

/** Marks by which Headgate finds its own comments. */
const COMMENT = /<!--[\s\S]*?-->/g;

const isWeb = (href: string | undefined): href is string =>
  href !== undefined && URL.canParse(href) && ['https:', 'http:'].includes(new URL(href).protocol);

interface LinkProps {
  href?: string;
  children?: ReactNode;
}

const Link = ({ href, children }: LinkProps): ReactNode =>
  isWeb(href) ? createElement('a', { href, target: '_blank', rel: 'noreferrer' }, children) : children;

const Picture = ({ src, alt }: { src?: string; alt?: string }): ReactNode =>
  createElement(Link, { href: src }, alt || src);

/** The address stays in sight, and a click leads nowhere. */
const PlainLink = ({ href, children }: LinkProps): ReactNode =>
  createElement('span', null, children, href ? ` (${href})` : '');

const PlainPicture = ({ src, alt }: { src?: string; alt?: string }): ReactNode =>
  createElement('span', null, [alt, src && `(${src})`].filter(Boolean).join(' '));

/** Headings are none of the page's. */
const Heading = ({ children }: { children?: ReactNode }): ReactNode =>
  createElement('p', { className: 'markdown-heading' }, children);

/** They scroll sideways, so the keyboard must reach them. */
const Table = ({ children }: { children?: ReactNode }): ReactNode =>
  createElement('div', { className: 'markdown-table', tabIndex: 0 }, createElement('table', null, children));
const Code = ({ children }: { children?: ReactNode }): ReactNode =>
  createElement('pre', { className: 'mono', tabIndex: 0 }, children);

const headings = Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, Heading]));

interface Props {
  text: string;
  /** For what a model wrote: links and pictures stay text, so that no address carries away what it has read. */
  plainLinks?: boolean;
}

export const Markdown = ({ text, plainLinks = false }: Props): ReactElement =>
  createElement(
    'div',
    { className: 'markdown' },
    compiler(text.replace(COMMENT, ''), {
      disableParsingRawHTML: true,
      forceBlock: true,
      wrapper: null,
      overrides: {
        ...headings,
        ...(plainLinks ? { a: PlainLink, img: PlainPicture } : { a: Link, img: Picture }),
        ...{ table: Table, pre: Code },
      },
    }),
  );
