import { Component, type ReactNode } from 'react';
import { useLocation } from 'react-router';
import { CodeIsGone } from '../api/lazy-part.ts';
import { ErrorState } from '../ui/feedback/page-states.tsx';
import { reloadOnce } from './reload-once.ts';

interface Props {
  path: string;
  children: ReactNode;
}

interface State {
  error: unknown;
  /** Where it broke. */
  path: string;
}

class PageBoundary extends Component<Props, State> {
  override state: State = { error: null, path: this.props.path };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error };
  }

  /** Another page has not failed. */
  static getDerivedStateFromProps({ path }: Props, state: State): State | null {
    return path === state.path ? null : { error: null, path };
  }

  override componentDidCatch(error: unknown): void {
    if (error instanceof CodeIsGone) reloadOnce();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <ErrorState error={error} retry={() => this.retry(error)} what="This page" level={1} />;
  }

  private retry(error: unknown): void {
    if (error instanceof CodeIsGone) window.location.reload();
    else this.setState({ error: null });
  }
}

/** A page that breaks must leave the rail and the top bar standing. */
export const Boundary = ({ children }: { children: ReactNode }) => (
  <PageBoundary path={useLocation().pathname}>{children}</PageBoundary>
);
