import type { ReactNode } from 'react';
import { type Block, blocksOf, type Inline, inlinesOf } from './markdown.ts';

/** What somebody wrote in Markdown. Its headings are none of the page's. */
export const MarkdownText = ({ text }: { text: string }) => (
  <div className="markdown">
    {blocksOf(text).map((block, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks of one text have no identity but their place.
      <BlockText key={index} block={block} />
    ))}
  </div>
);

const Words = ({ text }: { text: string }): ReactNode =>
  inlinesOf(text).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no identity but their place.
    <InlineText key={index} part={part} />
  ));

const InlineText = ({ part }: { part: Inline }) => {
  if (part.kind === 'code') return <code>{part.text}</code>;
  if (part.kind === 'strong') return <strong>{part.text}</strong>;
  if (part.kind === 'emphasis') return <em>{part.text}</em>;
  if (part.kind !== 'link') return part.text;
  return (
    <a href={part.href} target="_blank" rel="noreferrer">
      {part.text}
    </a>
  );
};

const BlockText = ({ block }: { block: Block }) => {
  if (block.kind === 'code') {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard must reach it.
      <pre className="mono" tabIndex={0}>
        {block.text}
      </pre>
    );
  }
  if (block.kind === 'list') {
    const items = block.items.map((item, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: entries of one list have no identity but their place.
      <li key={index}>
        <Words text={item} />
      </li>
    ));
    return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
  }
  if (block.kind === 'table') return <TableText {...block} />;
  if (block.kind === 'quote') {
    return (
      <blockquote>
        <Words text={block.text} />
      </blockquote>
    );
  }
  return (
    <p className={block.kind === 'heading' ? 'markdown-heading' : undefined}>
      <Words text={block.text} />
    </p>
  );
};

const TableText = ({ head, rows }: Extract<Block, { kind: 'table' }>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard must reach it.
  <div className="markdown-table" tabIndex={0}>
    <table>
      <thead>
        <tr>
          {head.map((cell, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity but their place.
            <th key={index} scope="col">
              <Words text={cell} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, line) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
          <tr key={line}>
            {head.map((_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity but their place.
              <td key={index}>
                <Words text={row[index] ?? ''} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
