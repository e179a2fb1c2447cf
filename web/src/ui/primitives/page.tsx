import { type ReactNode, useEffect } from 'react';
import { Link } from 'react-router';

interface Props {
  title: string;
  /** The list that the subject belongs to. */
  back?: { to: string; word: string };
  /** Beside the title: badges, ids. */
  beside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page with its heading; the heading names the browser's tab too. */
export const Page = ({ title, back, beside, actions, children }: Props) => {
  useEffect(() => {
    document.title = `${title} · Headgate`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          {back && (
            <Link to={back.to} className="page-back">
              {back.word}
              <span aria-hidden="true"> /</span>
            </Link>
          )}
          <h1>{title}</h1>
          {beside}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
};

/** A titled part of a page. */
export const Section = ({
  title,
  beside,
  children,
}: {
  title: string;
  beside?: ReactNode;
  children: ReactNode;
}) => (
  <section className="section" aria-label={title}>
    <header className="section-head">
      <h2>{title}</h2>
      {beside}
    </header>
    {children}
  </section>
);
